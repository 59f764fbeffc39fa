//! Looks at a component's bytes, imports and exports, and lists what is wrong with them.
//! Knows nothing of wording, and runs nothing.

use wasmtime::Engine;
use wasmtime::component::Component;
use wasmtime::component::types::ComponentItem;

use super::Reason;
use crate::outside::{Kind, Outside};
use crate::prepare::MAX_COMPONENT_BYTES;
use crate::surface::{CONTRACT, CONTRACT_MAJOR, EVENTS, Interface};

const PREVIEW1: &str = "wasi_snapshot_preview1";

/// Everything that is wrong with the bytes, as far as can be seen without compiling them.
pub(crate) fn inspect(bytes: &[u8]) -> Vec<Reason> {
    if bytes.len() > MAX_COMPONENT_BYTES {
        return vec![Reason::TooLarge { bytes: bytes.len() }];
    }
    let outside = Outside::of(bytes);
    let reason = match outside.kind {
        Kind::Component => match outside.broken {
            None => return reasons(&outside),
            Some(broken) => Reason::Malformed(broken),
        },
        Kind::Precompiled => Reason::Precompiled,
        Kind::CoreModule => {
            Reason::CoreModule { preview1: outside.imports.iter().any(|module| module == PREVIEW1) }
        }
        Kind::UnknownWasm => Reason::Malformed("its header is of no known version".to_owned()),
        Kind::Text => Reason::Text,
        Kind::Other => Reason::NotWasm,
    };
    vec![reason]
}

fn reasons(outside: &Outside) -> Vec<Reason> {
    let mut reasons: Vec<_> = outside.imports.iter().filter_map(|name| import_reason(name)).collect();
    reasons.extend(export_reason(&outside.exports));
    reasons
}

fn import_reason(name: &str) -> Option<Reason> {
    let Some(interface) = Interface::parse(name) else {
        return Some(Reason::UnknownImport { name: name.to_owned() });
    };
    if interface.package != CONTRACT {
        return (!interface.is_sealed_wasi()).then(|| Reason::UnknownImport { name: name.to_owned() });
    }
    if interface.major() != Some(CONTRACT_MAJOR) {
        return Some(Reason::OtherContract { interface: name.to_owned() });
    }
    interface.contract_functions().is_none().then(|| Reason::NewerInterface { interface: name.to_owned() })
}

fn export_reason(exports: &[String]) -> Option<Reason> {
    let events = exports.iter().filter_map(|name| {
        let interface = Interface::parse(name)?;
        (interface.package == CONTRACT && interface.name == EVENTS).then_some((name, interface))
    });
    let events: Vec<_> = events.collect();
    if events.iter().any(|(_, interface)| interface.major() == Some(CONTRACT_MAJOR)) {
        return None;
    }
    match events.first() {
        Some((name, _)) => Some(Reason::OtherContract { interface: (*name).clone() }),
        None => Some(Reason::MissingExport { exports: exports.to_vec() }),
    }
}

/// Functions of known interfaces that this host does not have: the guest was built against a
/// later 1.x.
pub(crate) fn missing_functions(component: &Component, engine: &Engine) -> Vec<Reason> {
    let mut reasons = Vec::new();
    for (name, import) in component.component_type().imports(engine) {
        let Some(known) = Interface::parse(name).and_then(|interface| interface.contract_functions()) else {
            continue;
        };
        let ComponentItem::ComponentInstance(instance) = import.ty else {
            continue;
        };
        for (function, export) in instance.exports(engine) {
            if matches!(export.ty, ComponentItem::ComponentFunc(_)) && !known.contains(&function) {
                let (interface, function) = (name.to_owned(), function.to_owned());
                reasons.push(Reason::NewerFunction { interface, function });
            }
        }
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_told_apart() {
        assert_eq!(import_reason("wonce:handler/sql@1.0.0"), None);
        assert_eq!(import_reason("wonce:handler/sql@1.7.0"), None);
        assert_eq!(import_reason("wasi:cli/exit@0.2.6"), None);
        let name = |reason: Option<Reason>| match reason {
            Some(Reason::UnknownImport { name }) => name,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            name(import_reason("wasi:http/outgoing-handler@0.2.0")),
            "wasi:http/outgoing-handler@0.2.0"
        );
        assert_eq!(name(import_reason("wasi:cli/exit@0.3.0")), "wasi:cli/exit@0.3.0");
        assert_eq!(name(import_reason("run")), "run");
        assert!(matches!(import_reason("wonce:handler/sql@2.0.0"), Some(Reason::OtherContract { .. })));
        assert!(matches!(import_reason("wonce:handler/metrics@1.1.0"), Some(Reason::NewerInterface { .. })));
    }
}
