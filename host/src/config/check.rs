//! What no single table can see: whether the tables agree with each other. Knows values
//! that are each fine by themselves.

use super::Config;
use super::document::KeyPath;
use super::handler::HandlerConfig;
use super::report::Complaint;
use super::server::AdminListen;
use super::suggest;
use super::units::show_size;
use super::walk::Walk;

pub(crate) fn all(config: &Config, walk: &mut Walk<'_>) {
    two_doors(config, walk);
    config.handlers.values().for_each(|handler| one(handler, config, walk));
}

/// Whether one handler agrees with the rest.
pub(crate) fn one(handler: &HandlerConfig, config: &Config, walk: &mut Walk<'_>) {
    let at = KeyPath::of(&["handlers", handler.name.as_str()]);
    emits(handler, config, &at, walk);
    concurrency(handler, config, &at, walk);
    memory(handler, config, &at, walk);
}

fn two_doors(config: &Config, walk: &mut Walk<'_>) {
    let AdminListen::Tcp(admin) = &config.admin.listen else { return };
    if admin.port() != 0 && *admin == config.http.listen {
        let complaint = Complaint::new(
            format!("http.listen is {admin} too, and the two doors need an address each"),
            "choose another port for one of them",
        );
        walk.complain(&KeyPath::of(&["admin", "listen"]), complaint);
    }
}

fn emits(handler: &HandlerConfig, config: &Config, at: &KeyPath, walk: &mut Walk<'_>) {
    // A sink that is declared wrongly is complained of where it stands.
    let missing = handler.emits.iter().filter(|sink| !walk.has(&["sinks", sink.as_str()]));
    for sink in missing.collect::<Vec<_>>() {
        let remedy = match suggest::nearest(sink.as_str(), config.sinks.keys().map(|sink| sink.as_str())) {
            Some(near) => {
                format!("did you mean \"{near}\"? Otherwise declare [sinks.{sink}] with kind and url")
            }
            None => {
                format!("declare [sinks.{sink}] with kind and url, or remove it from emits in the manifest")
            }
        };
        let reason = format!("its manifest says that it emits to the sink \"{sink}\", which is not declared");
        walk.complain(at, Complaint::new(reason, remedy));
    }
}

fn concurrency(handler: &HandlerConfig, config: &Config, at: &KeyPath, walk: &mut Walk<'_>) {
    let permits = config.dispatch.invocations;
    if handler.concurrency > permits {
        let reason = format!("{} invocations at once are more than the whole host runs", handler.concurrency);
        let remedy = format!("lower it to {permits}, or raise dispatch.invocations");
        walk.complain(&at.name("concurrency"), Complaint::new(reason, remedy));
    }
}

fn memory(handler: &HandlerConfig, config: &Config, at: &KeyPath, walk: &mut Walk<'_>) {
    let (memory, event) = (handler.limits.memory_bytes, config.http.max_event_bytes);
    if memory <= event {
        let reason = format!(
            "{} of memory cannot hold an event of http.max_event_bytes, {}",
            show_size(memory),
            show_size(event)
        );
        let remedy = "raise limits.memory, or lower http.max_event_bytes";
        walk.complain(&at.name("limits").name("memory"), Complaint::new(reason, remedy));
    }
}
