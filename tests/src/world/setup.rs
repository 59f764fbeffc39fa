//! What a test's hosts are configured with, written as the `wonce.toml` that an operator would write.

use std::fmt::Write as _;
use std::path::Path;

use super::receiver::Receiver;
use crate::target;

/// What the probe may touch: a schema of its own with a table for each kind of trouble.
const LAB: &str = include_str!("lab.sql");
const ALL: &str = r#"["select", "insert", "update", "delete"]"#;
/// The sinks that every test has.
const SINKS: [&str; 2] = ["out", "email"];

/// One test's configuration.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    handlers: Vec<Handler>,
    http: String,
    tables: String,
}

/// One deployed handler.
#[derive(Debug, Clone)]
pub struct Handler {
    name: &'static str,
    /// The component's file name, without `.wasm`.
    component: &'static str,
    tables: Vec<(&'static str, &'static str)>,
    setup: Script,
    manifest: Option<String>,
    start: Start,
    concurrency: u32,
    max_attempts: u32,
    ceiling: &'static str,
    limits: Vec<(&'static str, &'static str)>,
}

#[derive(Debug, Clone, Copy)]
enum Start {
    Active,
    Paused,
}

#[derive(Debug, Clone)]
enum Script {
    Text(&'static str),
    OfPlugin,
}

impl Setup {
    /// The scripted handler alone.
    #[must_use]
    pub fn probe() -> Self {
        Self::default().with(Handler::probe())
    }

    #[must_use]
    pub fn with(mut self, handler: Handler) -> Self {
        self.handlers.push(handler);
        self
    }

    /// A line of the table `[http]`.
    #[must_use]
    pub fn http(mut self, line: &str) -> Self {
        self.http.push_str(line);
        self.http.push('\n');
        self
    }

    /// Whole tables, such as `[sources.shop]`.
    #[must_use]
    pub fn tables(mut self, text: &str) -> Self {
        self.tables.push_str(text);
        self.tables.push('\n');
        self
    }

    /// Writes `wonce.toml` and what belongs to it into a folder.
    pub(super) fn write(&self, folder: &Path, database: &str, receiver: &Receiver) {
        let mut text = format!(
            "data_dir = \"data\"\n[database]\nurl = \"{database}\"\nmax_connections = 4\n\
             [http]\nlisten = \"127.0.0.1:0\"\n{}\n[admin]\nlisten = \"127.0.0.1:0\"\n\
             [dispatch]\ninvocations = 4\npoll_interval = \"20ms\"\n[relay]\npoll_interval = \"20ms\"\n{}\n",
            self.http, self.tables
        );
        for sink in SINKS {
            let url = receiver.url(sink);
            let _ = writeln!(
                text,
                "[sinks.{sink}]\nkind = \"http\"\nurl = \"{url}\"\n[sinks.{sink}.retry]\nfirst = \"10ms\"\nceiling = \"50ms\"\njitter = \"1ms\""
            );
        }
        for handler in &self.handlers {
            handler.write(&mut text, folder);
        }
        std::fs::write(folder.join("wonce.toml"), text).expect("the folder can be written");
    }
}

impl Handler {
    /// The scripted handler with its tables in the schema `lab`.
    #[must_use]
    pub fn probe() -> Self {
        let tables = ["lab.entry", "lab.once", "lab.parent", "lab.child", "lab.gate"];
        Self {
            tables: tables.map(|table| (table, ALL)).to_vec(),
            setup: Script::Text(LAB),
            ..Self::named("probe")
        }
    }

    /// An example handler, which may do everything to these tables.
    #[must_use]
    pub fn example(name: &'static str, tables: &[&'static str]) -> Self {
        Self { tables: tables.iter().map(|table| (*table, ALL)).collect(), ..Self::named(name) }
    }

    /// The conformance suite's handler in one language, from the component of this name.
    #[must_use]
    pub fn conformance(component: &'static str) -> Self {
        let tables = [
            "conformance.note",
            "conformance.blob",
            "conformance.once",
            "conformance.typed",
            "conformance.arrays",
        ];
        Self { component, tables: tables.map(|table| (table, ALL)).to_vec(), ..Self::named("conformance") }
    }

    fn named(name: &'static str) -> Self {
        Self {
            name,
            component: name,
            tables: Vec::new(),
            setup: Script::OfPlugin,
            manifest: None,
            start: Start::Active,
            concurrency: 4,
            max_attempts: 3,
            ceiling: "50ms",
            limits: vec![("deadline", "\"20s\"")],
        }
    }

    /// Another manifest than the author's.
    #[must_use]
    pub fn manifest(mut self, text: impl Into<String>) -> Self {
        self.manifest = Some(text.into());
        self
    }

    /// It starts paused: deliveries stay where a test can look at them.
    #[must_use]
    pub fn paused(mut self) -> Self {
        self.start = Start::Paused;
        self
    }

    #[must_use]
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.max_attempts = attempts;
        self
    }

    #[must_use]
    pub fn concurrency(mut self, invocations: u32) -> Self {
        self.concurrency = invocations;
        self
    }

    /// The longest wait before a retry.
    #[must_use]
    pub fn ceiling(mut self, wait: &'static str) -> Self {
        self.ceiling = wait;
        self
    }

    /// A limit, its value as TOML writes it.
    #[must_use]
    pub fn limit(mut self, name: &'static str, value: &'static str) -> Self {
        self.limits.retain(|(known, _)| *known != name);
        self.limits.push((name, value));
        self
    }

    fn write(&self, text: &mut String, folder: &Path) {
        let name = self.name;
        let file = |name: String, content: &str| {
            let path = folder.join(name);
            std::fs::write(&path, content).expect("the folder can be written");
            path
        };
        let manifest = match &self.manifest {
            Some(own) => file(format!("{name}.toml"), own),
            None => target::plugin_file(name, "handler.toml"),
        };
        let setup = match self.setup {
            Script::Text(script) => file(format!("{name}.sql"), script),
            Script::OfPlugin => target::plugin_file(name, "schema.sql"),
        };
        let _ = writeln!(
            text,
            "[handlers.{name}]\ncomponent = {:?}\nmanifest = {manifest:?}\nsetup = {setup:?}\npaused = {}\nconcurrency = {}\n\
             [handlers.{name}.retry]\nmax_attempts = {}\nfirst = \"10ms\"\nceiling = \"{}\"\njitter = \"1ms\"\n\
             [handlers.{name}.tables]",
            target::component(self.component),
            matches!(self.start, Start::Paused),
            self.concurrency,
            self.max_attempts,
            self.ceiling,
        );
        for (table, privileges) in &self.tables {
            let _ = writeln!(text, "\"{table}\" = {privileges}");
        }
        let _ = writeln!(text, "[handlers.{name}.limits]");
        for (limit, value) in &self.limits {
            let _ = writeln!(text, "{limit} = {value}");
        }
    }
}
