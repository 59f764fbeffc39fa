//! Why a component was not taken: every reason at once, each with what to do. Reads the
//! component's outside only; knows nothing of compiling or running it.

mod inspect;

use std::fmt;

use wonce_core::digest::hex;

use crate::prepare::MAX_COMPONENT_BYTES;
use crate::surface::{CONTRACT, CONTRACT_VERSION};

pub(crate) use inspect::{inspect, missing_functions};

/// One thing that is wrong with a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    TooLarge {
        bytes: usize,
    },
    /// Compiled code of wasmtime, which only the host itself may make.
    Precompiled,
    /// A core module; `preview1` when it imports WASI 0.1.
    CoreModule {
        preview1: bool,
    },
    /// WebAssembly's text format.
    Text,
    /// Not WebAssembly at all.
    NotWasm,
    /// Truncated or invalid; the parser's words.
    Malformed(String),
    /// Built for another major version of the contract.
    OtherContract {
        interface: String,
    },
    /// An interface that a later 1.x of the contract has.
    NewerInterface {
        interface: String,
    },
    /// A function that a later 1.x of the contract has.
    NewerFunction {
        interface: String,
        function: String,
    },
    /// An import that no handler gets.
    UnknownImport {
        name: String,
    },
    /// `events` is not exported; what is instead.
    MissingExport {
        exports: Vec<String>,
    },
    /// A type differs from the contract's, or the code is not valid; wasmtime's words.
    Mismatch(String),
    /// It could not be instantiated: the code of the fault, and its text.
    Trial {
        code: String,
        message: String,
    },
}

impl Reason {
    /// Whether it is about an import or export by name, which does not hide what else is wrong.
    pub(crate) fn is_of_names(&self) -> bool {
        match self {
            Reason::OtherContract { .. }
            | Reason::NewerInterface { .. }
            | Reason::NewerFunction { .. }
            | Reason::UnknownImport { .. }
            | Reason::MissingExport { .. } => true,
            Reason::TooLarge { .. }
            | Reason::Precompiled
            | Reason::CoreModule { .. }
            | Reason::Text
            | Reason::NotWasm
            | Reason::Malformed(_)
            | Reason::Mismatch(_)
            | Reason::Trial { .. } => false,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::TooLarge { bytes } => {
                write!(f, "it has {bytes} bytes, and at most {MAX_COMPONENT_BYTES} are allowed: strip it and build with optimisation for size")
            }
            Reason::Precompiled => f.write_str("it is compiled code of wasmtime: give the `.wasm` that it was made from, the host compiles it itself"),
            Reason::CoreModule { preview1: true } => f.write_str("it is a core module for WASI 0.1: build for `wasm32-wasip2`, or run `wasm-tools component new --adapt` with the reactor adapter"),
            Reason::CoreModule { preview1: false } => f.write_str("it is a core module: run `wasm-tools component new` on it, or build for `wasm32-wasip2`"),
            Reason::Text => f.write_str("it is WebAssembly text: run `wasm-tools parse` on it"),
            Reason::NotWasm => f.write_str("it is not WebAssembly: give the component file that the build made"),
            Reason::Malformed(why) => write!(f, "it is cut off or invalid ({why}): copy or build it again"),
            Reason::OtherContract { interface } => {
                write!(f, "it is built for `{interface}` and this host serves {CONTRACT}@{CONTRACT_VERSION}: build it against that version, or use a host that serves the other")
            }
            Reason::NewerInterface { interface } => {
                write!(f, "it imports `{interface}`, which this host ({CONTRACT}@{CONTRACT_VERSION}) does not have: use a newer host, or do without it")
            }
            Reason::NewerFunction { interface, function } => {
                write!(f, "it calls `{function}` of `{interface}`, which this host ({CONTRACT}@{CONTRACT_VERSION}) does not have: use a newer host, or do without it")
            }
            Reason::UnknownImport { name } => write!(f, "it imports `{name}`, which no handler gets: {}", advice(name)),
            Reason::MissingExport { exports } => missing_export(f, exports),
            Reason::Mismatch(why) => write!(f, "it does not fit {CONTRACT}@{CONTRACT_VERSION} ({why}): build it against the `wit/` of this host"),
            Reason::Trial { code, message } => write!(f, "a trial instantiation failed with `{code}` ({message}): do nothing before `handle` is called"),
        }
    }
}

fn missing_export(f: &mut fmt::Formatter<'_>, exports: &[String]) -> fmt::Result {
    write!(f, "it does not export `{CONTRACT}/events@{CONTRACT_VERSION}`")?;
    match exports {
        [] => f.write_str(" but nothing at all")?,
        exports => write!(f, " but {}", exports.join(", "))?,
    }
    write!(f, ": build it for the world `{CONTRACT}/handler`")
}

fn advice(name: &str) -> &'static str {
    if name.starts_with("wasi:http") {
        "handlers have no network; emit an effect to a sink instead"
    } else if name.starts_with("wasi:") && name.contains("@0.3") {
        "this host links WASI 0.2; build for `wasm32-wasip2`"
    } else if name.starts_with("wasi:")
        || name.starts_with("spin:")
        || name.starts_with("fermyon:")
        || name.starts_with("wasmcloud:")
    {
        "use the contract's own interfaces (`sql`, `outbox`, `config`, `log`) instead"
    } else {
        "remove the dependency that needs it, or compose the component that provides it into this one"
    }
}

/// A component that was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// SHA-256 of the bytes.
    pub digest: [u8; 32],
    /// Never empty.
    pub reasons: Vec<Reason>,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "component sha256:{} is refused:", &hex(&self.digest)[..12])?;
        self.reasons.iter().try_for_each(|reason| write!(f, "\n  - {reason}"))
    }
}
