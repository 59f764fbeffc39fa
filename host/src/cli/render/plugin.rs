//! `wonce plugin …`.

use wonce_api::plugin::Inspection;

use super::text::{facts, visible, visible_lines};
use super::{Paint, Tone};

#[must_use]
pub fn inspection(file: &str, inspection: &Inspection, paint: Paint) -> String {
    let title = match (&inspection.name, &inspection.version) {
        (Some(name), Some(version)) => format!("{} {}", visible(name), visible(version)),
        _ => visible(file),
    };
    let mut page = paint.heading(&title);
    page.push_str(&facts(
        2,
        &[
            ("file", Some(format!("{}, {}, {} bytes", visible(file), inspection.kind, inspection.bytes))),
            ("sha256", Some(inspection.sha256.clone())),
            ("version", inspection.version_digest.clone()),
            ("built with", listed(&inspection.built_with)),
        ],
    ));
    let imports = inspection.imports.iter().map(|import| {
        let name = visible(&import.name);
        if import.provided { name } else { paint.tone(Tone::Bad, &format!("{name}  (not provided)")) }
    });
    page.push_str(&lines("imports", imports.collect(), paint));
    page.push_str(&lines("exports", inspection.exports.iter().map(|name| visible(name)).collect(), paint));
    match inspection.refused.as_slice() {
        [] => page.push_str(&format!(
            "\n{} on this version of wonce ({})\n",
            paint.tone(Tone::Good, "runs"),
            inspection.contract
        )),
        reasons => {
            page.push_str(&format!(
                "\n{} on this version of wonce ({}):\n",
                paint.tone(Tone::Bad, "does not run"),
                inspection.contract
            ));
            for reason in reasons {
                page.push_str(&format!("  - {}\n", visible_lines(reason)));
            }
        }
    }
    page
}

fn listed(names: &[String]) -> Option<String> {
    (!names.is_empty()).then(|| names.iter().map(|name| visible(name)).collect::<Vec<_>>().join(", "))
}

fn lines(title: &str, lines: Vec<String>, paint: Paint) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{}", paint.heading(title));
    for line in lines {
        text.push_str(&format!("  {line}\n"));
    }
    text
}
