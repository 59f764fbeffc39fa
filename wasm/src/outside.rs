//! A file of WebAssembly as it looks from outside: what kind it is, what it imports and exports,
//! what built it, and the manifest that it carries. Knows nothing of whether that will do.

use std::collections::BTreeSet;

use wasmparser::{CustomSectionReader, KnownCustom, Parser, Payload};
use wasmtime::Engine;

/// The custom section in which a component carries its `handler.toml`.
pub const MANIFEST_SECTION: &str = "wonce:handler-manifest";

const WASM_MAGIC: &[u8] = b"\0asm";
/// Magic and version.
const HEADER_BYTES: usize = 8;
const CUSTOM: u8 = 0;

/// What a file is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Kind {
    Component,
    /// A module without the component model around it.
    CoreModule,
    /// Compiled code of wasmtime.
    Precompiled,
    /// WebAssembly's text format.
    Text,
    /// Binary WebAssembly of a version that is not known.
    UnknownWasm,
    #[default]
    Other,
}

impl Kind {
    /// As people say it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Component => "component",
            Kind::CoreModule => "core module",
            Kind::Precompiled => "compiled code",
            Kind::Text => "text",
            Kind::UnknownWasm => "unknown WebAssembly",
            Kind::Other => "not WebAssembly",
        }
    }

    fn of(bytes: &[u8]) -> Self {
        if Engine::detect_precompiled(bytes).is_some() {
            Kind::Precompiled
        } else if Parser::is_core_wasm(bytes) {
            Kind::CoreModule
        } else if Parser::is_component(bytes) {
            Kind::Component
        } else if bytes.starts_with(WASM_MAGIC) {
            Kind::UnknownWasm
        } else if bytes.trim_ascii_start().starts_with(b"(") {
            Kind::Text
        } else {
            Kind::Other
        }
    }
}

/// What can be seen of a file without compiling it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outside {
    pub kind: Kind,
    /// A component's interfaces, a core module's modules; in the file's order.
    pub imports: Vec<String>,
    pub exports: Vec<String>,
    /// Tools and languages with their versions, by name.
    pub built_with: BTreeSet<String>,
    /// The `handler.toml` that it carries: the outermost one, and the last of several.
    pub manifest: Option<Vec<u8>>,
    /// Where reading it came to an end too early, in the parser's words.
    pub broken: Option<String>,
}

impl Outside {
    /// Looks at a file.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let mut outside = Self { kind: Kind::of(bytes), ..Self::default() };
        if matches!(outside.kind, Kind::Component | Kind::CoreModule)
            && let Err(error) = outside.read(bytes)
        {
            outside.broken = Some(error.to_string());
        }
        outside
    }

    fn read(&mut self, bytes: &[u8]) -> wasmparser::Result<()> {
        let (mut depth, mut inner) = (0_u32, None);
        for payload in Parser::new(0).parse_all(bytes) {
            match payload? {
                Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
                Payload::End(_) => depth = depth.saturating_sub(1),
                Payload::ComponentImportSection(section) if depth == 0 => {
                    for import in section {
                        self.imports.push(import?.name.0.to_owned());
                    }
                }
                Payload::ComponentExportSection(section) if depth == 0 => {
                    for export in section {
                        self.exports.push(export?.name.0.to_owned());
                    }
                }
                Payload::ImportSection(section) if depth == 0 => {
                    for import in section {
                        let module = import?.module.to_owned();
                        if !self.imports.contains(&module) {
                            self.imports.push(module);
                        }
                    }
                }
                Payload::ExportSection(section) if depth == 0 => {
                    for export in section {
                        self.exports.push(export?.name.to_owned());
                    }
                }
                Payload::CustomSection(section) if section.name() == MANIFEST_SECTION => {
                    let place = if depth == 0 { &mut self.manifest } else { &mut inner };
                    *place = Some(section.data().to_vec());
                }
                Payload::CustomSection(section) => self.producers(&section),
                _ => {}
            }
        }
        self.manifest = self.manifest.take().or(inner);
        Ok(())
    }

    /// A broken section of producers says nothing, and does no harm.
    fn producers(&mut self, section: &CustomSectionReader<'_>) {
        let KnownCustom::Producers(fields) = section.as_known() else { return };
        for value in fields.into_iter().flatten().flat_map(|field| field.values).flatten() {
            let text = format!("{} {}", value.name, value.version);
            self.built_with.insert(text.trim_end().to_owned());
        }
    }
}

/// The component with this `handler.toml` in it, in place of one that was put there before.
#[must_use]
pub fn with_manifest(component: &[u8], manifest: &[u8]) -> Vec<u8> {
    let mut file = without_manifest(component);
    let name = MANIFEST_SECTION.as_bytes();
    let mut content = leb128(name.len());
    content.extend_from_slice(name);
    content.extend_from_slice(manifest);
    file.push(CUSTOM);
    file.extend(leb128(content.len()));
    file.extend(content);
    file
}

/// Drops outermost manifests. What cannot be walked over stays as it is.
fn without_manifest(component: &[u8]) -> Vec<u8> {
    let mut kept = component.get(..HEADER_BYTES).unwrap_or(component).to_vec();
    let mut at = HEADER_BYTES;
    while at < component.len() {
        let end = section_end(component, at).unwrap_or(component.len());
        let section = &component[at..end];
        if !is_manifest(section) {
            kept.extend_from_slice(section);
        }
        at = end;
    }
    kept
}

/// Where the section that begins here ends.
fn section_end(file: &[u8], at: usize) -> Option<usize> {
    let (size, bytes) = read_leb128(file.get(at + 1..)?)?;
    let end = (at + 1 + bytes).checked_add(size)?;
    (end <= file.len()).then_some(end)
}

fn is_manifest(section: &[u8]) -> bool {
    let named = || {
        let (_, size_bytes) = read_leb128(section.get(1..)?)?;
        let content = section.get(1 + size_bytes..)?;
        let (length, bytes) = read_leb128(content)?;
        content.get(bytes..bytes.checked_add(length)?)
    };
    section.first() == Some(&CUSTOM) && named() == Some(MANIFEST_SECTION.as_bytes())
}

fn leb128(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = number.to_le_bytes()[0] & 0x7f;
        number >>= 7;
        if number == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}

/// The number and how many bytes it takes.
fn read_leb128(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut number = 0_usize;
    for (index, byte) in bytes.iter().take(5).enumerate() {
        number |= usize::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((number, index + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &[u8] = b"\0asm\x0d\0\x01\0";

    #[test]
    fn a_manifest_that_was_put_in_is_found_and_replaced() {
        let first = with_manifest(EMPTY, b"name = \"a\"");
        assert_eq!(Outside::of(&first).manifest.as_deref(), Some(&b"name = \"a\""[..]));
        let long = vec![b'#'; 300];
        let second = with_manifest(&first, &long);
        assert_eq!(Outside::of(&second).manifest, Some(long.clone()));
        assert_eq!(second, with_manifest(EMPTY, &long), "nothing of the first one is left");
    }

    #[test]
    fn what_is_no_component_is_told_by_its_kind() {
        for (bytes, kind) in [
            (&b"hello"[..], Kind::Other),
            (b" (component)", Kind::Text),
            (EMPTY, Kind::Component),
            (b"\0asm\x01\0\0\0", Kind::CoreModule),
            (b"\0asm\x07\0\x07\0", Kind::UnknownWasm),
        ] {
            assert_eq!(Outside::of(bytes).kind, kind);
        }
    }
}
