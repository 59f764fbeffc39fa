//! `wonce plugin …`.

use wonce_api::plugin::{
    Deployment, HostVersion, Inspection, PluginDetail, PluginHistory, PluginList, PluginRemoved,
    PluginSummary,
};

use super::handler::version;
use super::table::{Side, Table, cell, toned};
use super::text::{digest, facts, time, visible, visible_lines};
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

#[must_use]
pub fn list(list: &PluginList, paint: Paint) -> String {
    if list.plugins.is_empty() {
        return "No handler is deployed: use `wonce plugin deploy FILE`, or name one in wonce.toml.\n"
            .to_owned();
    }
    summaries(&list.plugins, paint)
}

fn summaries(plugins: &[PluginSummary], paint: Paint) -> String {
    let columns = [
        ("HANDLER", Side::Left),
        ("STATE", Side::Left),
        ("VERSION", Side::Left),
        ("BEFORE", Side::Left),
        ("CHOSEN BY", Side::Left),
        ("SINCE", Side::Left),
        ("HOSTS", Side::Left),
    ];
    let mut table = Table::new(&columns);
    for plugin in plugins {
        let state = if plugin.state == "active" { Tone::Usual } else { Tone::Warning };
        let following = plugin.hosts.iter().filter(|host| host.is_active).count();
        let hosts = format!("{following} of {}", plugin.hosts.len());
        let tone = if following == plugin.hosts.len() { Tone::Usual } else { Tone::Bad };
        table.row(vec![
            cell(visible(&plugin.name)),
            toned(state, visible(&plugin.state)),
            cell(version(&plugin.version)),
            cell(plugin.previous.as_ref().map_or_else(|| "-".to_owned(), version)),
            cell(visible(&plugin.chosen_by)),
            cell(time(&plugin.deployed_at)),
            toned(tone, hosts),
        ]);
    }
    table.render(paint)
}

#[must_use]
pub fn detail(detail: &PluginDetail, paint: Paint) -> String {
    let mut page = summaries(std::slice::from_ref(&detail.summary), paint);
    page.push_str(&format!("\n{}", hosts(&detail.summary.hosts, paint)));
    let columns = [
        ("VERSION", Side::Left),
        ("BYTES", Side::Right),
        ("SIGNED", Side::Left),
        ("FIRST DEPLOYED", Side::Left),
        ("BY", Side::Left),
        ("SETTINGS", Side::Left),
    ];
    let mut table = Table::new(&columns);
    for stored in &detail.versions {
        let settings: Vec<String> =
            stored.settings.iter().map(|(name, value)| visible(&format!("{name}={value}"))).collect();
        table.row(vec![
            toned(if stored.is_active { Tone::Good } else { Tone::Usual }, version(&stored.version)),
            cell(stored.bytes.to_string()),
            cell(if stored.is_signed { "yes" } else { "no" }),
            cell(time(&stored.deployed_at)),
            cell(visible(&stored.deployed_by)),
            cell(settings.join(" ")),
        ]);
    }
    page.push_str(&format!("\n{}", table.render(paint)));
    page.push_str(&format!(
        "\n{}{}\n",
        paint.heading("handler.toml"),
        visible_lines(detail.manifest.trim_end())
    ));
    page
}

#[must_use]
pub fn history(history: &PluginHistory, paint: Paint) -> String {
    let columns = [
        ("WHEN", Side::Left),
        ("WHO", Side::Left),
        ("DID", Side::Left),
        ("VERSION", Side::Left),
        ("WHY", Side::Left),
    ];
    let mut table = Table::new(&columns);
    for entry in &history.history {
        table.row(vec![
            cell(time(&entry.at)),
            cell(visible(&entry.actor)),
            cell(visible(&entry.verb)),
            cell(entry.version.as_ref().map_or_else(|| "-".to_owned(), version)),
            cell(visible(&entry.reason)),
        ]);
    }
    table.render(paint)
}

#[must_use]
pub fn deployment(deployment: &Deployment, paint: Paint) -> String {
    let (handler, now) = (visible(&deployment.handler), version(&deployment.version));
    let what = match &deployment.replaced {
        Some(replaced) => format!("{handler} is at {now}, was at {}", digest(replaced)),
        None if deployment.changed => format!("{handler} is at {now}"),
        None => format!("{handler} is at {now}, as it was"),
    };
    format!("{what}\n\n{}", hosts(&deployment.hosts, paint))
}

#[must_use]
pub fn removed(removed: &PluginRemoved) -> String {
    let handler = visible(&removed.handler);
    match (removed.changed, removed.pending) {
        (false, _) => format!("handler {handler} was removed already; nothing was recorded\n"),
        (true, 0) => format!("handler {handler} is removed, on every host; its books stay\n"),
        (true, 1) => format!("handler {handler} is removed; 1 pending delivery waits for its return\n"),
        (true, pending) => {
            format!("handler {handler} is removed; {pending} pending deliveries wait for its return\n")
        }
    }
}

fn hosts(hosts: &[HostVersion], paint: Paint) -> String {
    let columns = [("HOST", Side::Left), ("RUNS", Side::Left), ("SINCE", Side::Left), ("", Side::Left)];
    let mut table = Table::new(&columns);
    for host in hosts {
        let tone = if host.is_active { Tone::Good } else { Tone::Bad };
        let runs = host.digest.as_deref().map_or_else(|| "nothing".to_owned(), digest);
        table.row(vec![
            cell(visible(&host.host)),
            toned(tone, runs),
            cell(time(&host.since)),
            cell(host.problem.as_deref().map(visible).unwrap_or_default()),
        ]);
    }
    table.render(paint)
}
