//! The house rules that a compiler does not know: who may use whom, how long a file may be, where SQL
//! is, and that the documents say what the code says. Reads the repository's text; runs none of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use wonce_core::decide::DeadReason;
use wonce_core::fault::FaultClass;
use wonce_core::route::ParkReason;

/// The longest source file, in lines.
const MAX_LINES: usize = 500;

/// Which top modules of the host may use which. What is not said here is forbidden, and what is said
/// here and not done is taken out.
const MAY_USE: &[(&str, &[&str])] = &[
    // `pipeline` for one seam only: a parked event is routed again.
    ("admin", &["live", "pipeline", "store", "telemetry"]),
    // `admin` and `store` for `wonce verify --database-url`, which needs no host.
    ("cli", &["admin", "config", "plugin", "runtime", "send", "store", "telemetry"]),
    ("config", &[]),
    ("crash", &[]),
    ("live", &["store", "telemetry"]),
    ("pipeline", &["crash", "sink", "source", "store", "telemetry"]),
    ("plugin", &["config"]),
    (
        "runtime",
        &["admin", "config", "live", "pipeline", "plugin", "service", "sink", "source", "store", "telemetry"],
    ),
    ("send", &[]),
    ("service", &[]),
    ("sink", &[]),
    ("source", &["telemetry"]),
    ("store", &["crash"]),
    ("telemetry", &[]),
];

/// Where in the host a crate may be named: prefixes of paths under `host/src`.
const CRATE_HOMES: &[(&str, &[&str])] = &[
    ("anyhow", &["cli", "runtime", "send"]),
    ("axum", &["admin", "config/sink.rs", "runtime/doors.rs", "source"]),
    ("clap", &["cli", "main.rs"]),
    ("deadpool_postgres", &["store"]),
    ("opentelemetry_proto", &["telemetry/otlp"]),
    ("prost", &["telemetry/otlp"]),
    ("reqwest", &["cli", "send", "sink", "telemetry/otlp"]),
    // The configuration says early whether a database URL can be read.
    ("tokio_postgres", &["config/database.rs", "store"]),
    ("wonce_embedded", &["runtime"]),
    // The configuration says early whether a key can be one.
    ("wonce_tui", &["cli", "config/console.rs"]),
    // The configuration reads the sandbox's own limits.
    ("wonce_wasm", &["config/policy.rs", "pipeline", "plugin", "runtime"]),
];

fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Every file below `directory` with this extension, apart from what builds leave behind.
fn files(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).expect("the directory is there") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && !name.starts_with('.') && name != "target" {
                directories.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    assert!(!found.is_empty(), "no .{extension} in {}", directory.display());
    found.sort();
    found
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// As people write it: from the root, with slashes.
fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).to_string_lossy().into_owned()
}

fn is_source(path: &Path) -> bool {
    Path::new(&shown(path)).components().any(|part| part.as_os_str() == "src")
}

/// The lines that are no comments, with their numbers from 1.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines()).filter(|(_, line)| !line.trim_start().starts_with("//"))
}

fn assert_none(problems: Vec<String>, advice: &str) {
    assert!(problems.is_empty(), "{advice}:\n  {}", problems.join("\n  "));
}

#[test]
fn no_source_file_is_long() {
    let sources = files(&root(), "rs").into_iter().filter(|path| is_source(path));
    let long = sources.filter_map(|path| {
        let lines = read(&path).lines().count();
        (lines > MAX_LINES).then(|| format!("{} has {lines} lines", shown(&path)))
    });
    assert_none(long.collect(), "split these by what they do");
}

#[test]
fn every_module_begins_by_saying_what_it_is() {
    let sources = files(&root(), "rs").into_iter().filter(|path| is_source(path));
    // A `tests.rs` is told by the module that it tests.
    let modules = sources.filter(|path| path.file_name().is_some_and(|name| name != "tests.rs"));
    let silent = modules.filter(|path| !read(path).starts_with("//!"));
    assert_none(silent.map(|path| shown(&path)).collect(), "begin with a `//!` paragraph");
}

#[test]
fn nothing_is_left_unfinished() {
    // Put together here, so that this file does not find itself.
    let marks =
        [["to", "do!("], ["unimple", "mented!("], ["#[ig", "nore"], ["#[al", "low("], ["#![al", "low("]]
            .map(|parts| parts.concat());
    let words = [["FIX", "ME"], ["XX", "X"], ["HA", "CK"]].map(|parts| parts.concat());
    let mut problems = Vec::new();
    for path in files(&root(), "rs") {
        for (number, line) in (1..).zip(read(&path).lines()) {
            let has_word = line.split(|c: char| !c.is_alphanumeric()).any(|w| words.iter().any(|x| x == w));
            if has_word || marks.iter().any(|mark| line.contains(mark)) {
                problems.push(format!("{}:{number}: {}", shown(&path), line.trim()));
            }
        }
        if path.file_name().is_some_and(|name| name == "mod.rs") {
            problems.push(format!("{}: name it after its directory", shown(&path)));
        }
    }
    assert_none(problems, "finish these, or say why with #[expect(…, reason = …)]");
}

/// The top module that a file of the host belongs to; none for `lib.rs` and `main.rs`.
fn top_module(path: &Path) -> Option<String> {
    let inside = path.strip_prefix(root().join("host/src")).expect("below host/src");
    let first = inside.components().next().expect("a name").as_os_str().to_string_lossy().into_owned();
    let module = first.trim_end_matches(".rs").to_owned();
    (module != "lib" && module != "main").then_some(module)
}

/// The top modules that a text names as `crate::<module>`.
fn used_modules(text: &str) -> BTreeSet<String> {
    let names = code(text).flat_map(|(_, line)| line.split("crate::").skip(1));
    let end = |name: &str| name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
    names.map(|name| name[..end(name)].to_owned()).filter(|name| !name.is_empty()).collect()
}

#[test]
fn modules_of_the_host_use_only_those_they_may_know() {
    let allowed: BTreeMap<&str, BTreeSet<&str>> =
        MAY_USE.iter().map(|(module, uses)| (*module, uses.iter().copied().collect())).collect();
    let mut unused: BTreeSet<(&str, &str)> =
        MAY_USE.iter().flat_map(|(module, uses)| uses.iter().map(|used| (*module, *used))).collect();
    let mut problems = Vec::new();
    for path in files(&root().join("host/src"), "rs") {
        let Some(module) = top_module(&path) else { continue };
        let text = read(&path);
        if code(&text).any(|(_, line)| line.contains("crate::{")) {
            problems.push(format!("{}: write one `use crate::<module>` a line", shown(&path)));
        }
        let Some(may_use) = allowed.get(module.as_str()) else {
            problems.push(format!("{}: module `{module}` is not in the table", shown(&path)));
            continue;
        };
        for used in used_modules(&text) {
            unused.retain(|edge| *edge != (module.as_str(), used.as_str()));
            if used != module && !may_use.contains(used.as_str()) {
                problems.push(format!("{}: `{module}` must not know `{used}`", shown(&path)));
            }
        }
    }
    problems.extend(unused.iter().map(|(module, used)| format!("`{module}` does not use `{used}` any more")));
    assert_none(problems, "mend the dependency, or the table in tests/tests/tidy.rs and ARCHITECTURE.md");
}

#[test]
fn crates_of_the_edge_are_named_only_where_they_belong() {
    let mut problems = Vec::new();
    let sources = root().join("host/src");
    for path in files(&sources, "rs") {
        let text = read(&path);
        let inside = path.strip_prefix(&sources).expect("below host/src").to_string_lossy().into_owned();
        for (name, homes) in CRATE_HOMES {
            let at_home = homes.iter().any(|home| {
                let rest = inside.strip_prefix(home);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '.']))
            });
            let named = code(&text).any(|(_, line)| line.contains(&format!("{name}::")));
            if named && !at_home {
                problems.push(format!("{}: names `{name}`", shown(&path)));
            }
        }
    }
    assert_none(problems, "these crates have a home elsewhere in the host");
}

#[test]
fn sql_is_in_the_store_only() {
    let keywords = ["SELECT ", "INSERT INTO ", "UPDATE ", "DELETE FROM "];
    let store = root().join("host/src/store");
    let mut problems = Vec::new();
    for path in files(&root().join("host/src"), "rs").iter().filter(|path| !path.starts_with(&store)) {
        for (number, line) in code(&read(path)) {
            if keywords.iter().any(|keyword| line.contains(keyword)) {
                problems.push(format!("{}:{number}: {}", shown(path), line.trim()));
            }
        }
    }
    assert_none(problems, "move these statements to host/src/store");
}

/// The words that a page explains: its level-3 headings in code, by their level-2 heading.
fn explained(page: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut words: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut section = "";
    for line in page.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            section = title;
        } else if let Some(word) = line.strip_prefix("### ") {
            words.entry(section).or_default().push(word.trim_matches('`'));
        }
    }
    words
}

#[test]
fn the_page_of_faults_explains_every_word_and_no_other() {
    let page = read(&root().join("docs/faults.md"));
    let known = BTreeMap::from([
        ("Fault classes", FaultClass::ALL.map(FaultClass::as_str).to_vec()),
        ("Dead reasons", DeadReason::ALL.map(DeadReason::as_str).to_vec()),
        ("Park reasons", ParkReason::ALL.map(ParkReason::as_str).to_vec()),
    ]);
    assert_eq!(explained(&page), known);
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut problems = Vec::new();
    for path in files(&root(), "md") {
        let text = read(&path);
        let directory = path.parent().expect("a file has a directory");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap_or_default();
            let is_local = !target.is_empty() && !target.contains("://");
            if is_local && !directory.join(target).exists() {
                problems.push(format!("{}: {link}", shown(&path)));
            }
        }
    }
    assert_none(problems, "these links lead nowhere");
}
