//! The names that a component may import and must export. Knows nothing of types: wasmtime
//! compares those.

/// The contract, without a version.
pub(crate) const CONTRACT: &str = "wonce:handler";
/// The contract's version that this host serves.
pub(crate) const CONTRACT_VERSION: &str = "1.0.0";
pub(crate) const CONTRACT_MAJOR: &str = "1";
/// The interface that a handler exports.
pub(crate) const EVENTS: &str = "events";

/// The contract's imported interfaces and their functions.
const CONTRACT_FUNCTIONS: [(&str, &[&str]); 6] = [
    ("types", &[]),
    ("context", &["now", "remaining-ms", "stable-uuid"]),
    ("sql", &["execute", "query", "queue"]),
    ("outbox", &["emit"]),
    ("log", &["write"]),
    ("config", &["get"]),
];

/// WASI 0.2 as it is linked, with nothing behind it.
const WASI: [(&str, &[&str]); 6] = [
    (
        "wasi:cli",
        &[
            "environment",
            "exit",
            "stdin",
            "stdout",
            "stderr",
            "terminal-input",
            "terminal-output",
            "terminal-stdin",
            "terminal-stdout",
            "terminal-stderr",
        ],
    ),
    ("wasi:clocks", &["monotonic-clock", "wall-clock"]),
    ("wasi:filesystem", &["preopens", "types"]),
    ("wasi:io", &["error", "poll", "streams"]),
    ("wasi:random", &["random", "insecure", "insecure-seed"]),
    (
        "wasi:sockets",
        &[
            "tcp",
            "tcp-create-socket",
            "udp",
            "udp-create-socket",
            "instance-network",
            "network",
            "ip-name-lookup",
        ],
    ),
];

/// An interface's name taken apart: `wonce:handler/sql@1.0.0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interface<'a> {
    pub(crate) package: &'a str,
    pub(crate) name: &'a str,
    pub(crate) version: Option<&'a str>,
}

/// Whether handlers get an import of this name, as far as a name tells.
#[must_use]
pub fn provides(import: &str) -> bool {
    Interface::parse(import).is_some_and(|interface| match interface.package {
        CONTRACT => interface.major() == Some(CONTRACT_MAJOR) && interface.contract_functions().is_some(),
        _ => interface.is_sealed_wasi(),
    })
}

impl<'a> Interface<'a> {
    /// `None` for a name that is not an interface's, such as a plain function's.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let (path, version) = match text.split_once('@') {
            Some((path, version)) => (path, Some(version)),
            None => (text, None),
        };
        let (package, name) = path.split_once('/')?;
        Some(Self { package, name, version })
    }

    /// The part of the version that must be equal.
    pub(crate) fn major(&self) -> Option<&'a str> {
        self.version.and_then(|version| version.split('.').next())
    }

    /// Whether this is a sealed WASI interface of 0.2.
    pub(crate) fn is_sealed_wasi(&self) -> bool {
        let known =
            WASI.iter().any(|(package, names)| *package == self.package && names.contains(&self.name));
        known && self.version.is_some_and(|version| version.starts_with("0.2."))
    }

    /// The functions of a contract's interface, if this host has it.
    pub(crate) fn contract_functions(&self) -> Option<&'static [&'static str]> {
        let found =
            CONTRACT_FUNCTIONS.iter().find(|(name, _)| self.package == CONTRACT && *name == self.name);
        found.map(|(_, functions)| *functions)
    }
}
