//! What `wonce.toml` promises: good files load, bad ones give one whole report, and the
//! example file tells the truth. The fixtures are in `config/`; a report is a snapshot
//! beside its file.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use wonce_core::name::{HandlerName, SinkName};
use wonce_host::config::{self, Config, Env, Error, Flags, LogFormat, Server};

const EXAMPLE: &str = include_str!("../../host/wonce.example.toml");

fn load(path: &Path, env: &Env) -> Result<Config, Error> {
    config::load(&Flags { config: Some(path.to_owned()), ..Flags::default() }, env)
}

/// The entries of a fixture directory, in order. Relative, so that reports are the same everywhere.
fn entries(directory: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("the fixtures are in the package's directory");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{directory} has no fixtures");
    paths
}

/// `NAME=value` lines of the fixture's `env` file, if it has one.
fn env_of(directory: &Path) -> Env {
    let text = fs::read_to_string(directory.join("env")).unwrap_or_default();
    text.lines().filter_map(|line| line.split_once('=')).collect()
}

fn payments(config: &Config) -> &config::HandlerConfig {
    &config.handlers[&HandlerName::parse("payments").expect("a name")]
}

#[test]
fn every_valid_file_loads() {
    for path in entries("config/valid") {
        let env = Env::from_iter([("BILLING_AUTHORIZATION", "Bearer abc")]);
        if let Err(error) = load(&path, &env) {
            panic!("{}\n{error}", path.display());
        }
    }
}

#[test]
fn every_invalid_file_gives_its_whole_report() {
    for directory in entries("config/invalid") {
        let report = match load(&directory.join("wonce.toml"), &env_of(&directory)) {
            Ok(_) => panic!("{} has no mistake", directory.display()),
            Err(error) => error.to_string(),
        };
        let snapshots = Path::new("..").join(&directory);
        insta::with_settings!({
            snapshot_path => snapshots, prepend_module_to_snapshot => false, omit_expression => true,
        }, { insta::assert_snapshot!("expected", report) });
    }
}

#[test]
fn the_example_holds_the_defaults() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("wonce.toml");
    fs::write(&path, "").expect("written");
    let defaults = load(&path, &Env::default()).expect("an empty file is valid");
    fs::write(&path, EXAMPLE).expect("written");
    let example = load(&path, &Env::default()).expect("the example is valid");
    assert_eq!(example, defaults);
}

#[test]
fn the_example_with_every_setting_switched_on_is_valid_but_for_alternatives() {
    let directory = tempfile::tempdir().expect("a directory");
    let plugins = directory.path().join("plugins");
    fs::create_dir(&plugins).expect("made");
    fs::write(plugins.join("payments.wasm"), "").expect("written");
    fs::write(plugins.join("payments.sql"), "").expect("written");
    fs::copy("config/files/handler.toml", plugins.join("handler.toml")).expect("copied");
    // `#key` is a setting, `# prose` is not; these two are instead of others.
    let lines = EXAMPLE.lines().filter(|l| !l.starts_with("#socket") && !l.starts_with("#token_file"));
    let switched_on = lines.map(|line| match line.strip_prefix('#') {
        Some(rest) if !rest.starts_with(' ') => rest,
        Some(_) | None => line,
    });
    let path = directory.path().join("wonce.toml");
    fs::write(&path, switched_on.collect::<Vec<_>>().join("\n")).expect("written");

    let env = Env::from_iter([("BILLING_AUTHORIZATION", "Bearer abc"), ("OTLP_AUTHORIZATION", "Bearer def")]);
    let config = load(&path, &env).unwrap_or_else(|error| panic!("{error}"));
    let sink = &config.sinks[&SinkName::parse("billing").expect("a name")];
    assert_eq!(sink.headers["authorization"].expose(), "Bearer abc");
    let otlp = config.telemetry.otlp.as_ref().expect("it has an endpoint");
    assert_eq!(otlp.headers["authorization"].expose(), "Bearer def");
    assert_eq!(otlp.resource["deployment.environment.name"], "production");
    // What the example says of a handler's limits and retries are the defaults, but one.
    let handler = payments(&config);
    assert_eq!(handler.limits, config::Limits::default());
    assert_eq!(handler.retry, wonce_core::retry::RetryPolicy::default());
}

#[test]
fn the_operator_wins_over_the_author_and_the_author_over_the_default() {
    let config = load(Path::new("config/valid/merge.toml"), &Env::default()).expect("valid");
    let handler = payments(&config);
    // The manifest says 2 s and 32 MiB, factor 3 and 5 attempts; the operator 3 s and 4 attempts.
    assert_eq!(handler.limits.deadline, Duration::from_secs(3));
    assert_eq!(handler.limits.memory_bytes, 32 << 20);
    assert_eq!(handler.limits.statements, config::Limits::default().statements);
    assert_eq!(handler.retry.max_attempts, 4);
    assert!((handler.retry.factor - 3.0).abs() < f64::EPSILON);
    assert_eq!(handler.retry.ceiling, Duration::from_secs(32));
    assert_eq!(handler.settings["currency"], "CHF");
    assert_eq!(handler.settings["region"], "eu");
}

#[test]
fn a_handlers_alert_rules_win_over_the_common_ones_key_by_key() {
    let config = load(Path::new("config/valid/alert.toml"), &Env::default()).expect("valid");
    let rules = &payments(&config).alert;
    let limits: Vec<(String, f64)> =
        rules.limits.iter().map(|(rule, limit)| (rule.to_string(), *limit)).collect();
    let expected = [("dead_letters", 1.0), ("class_share.trap", 0.01), ("no_claims", 60.0)];
    assert_eq!(limits, expected.map(|(rule, limit)| (rule.to_owned(), limit)));
    assert_eq!((rules.wait, rules.calm), (Duration::ZERO, Duration::from_secs(120)));
}

#[test]
fn a_flag_wins_over_a_variable_and_a_variable_over_the_file() {
    let env = Env::from_iter([
        ("WONCE_HTTP_LISTEN", "127.0.0.1:1"),
        ("WONCE_ADMIN_LISTEN", "127.0.0.1:2"),
        ("WONCE_LOG", "debug"),
        ("WONCE_LOG_FORMAT", ""),
        ("DATABASE_URL", "postgres://u:p@localhost/by_variable"),
        ("WONCE_HANDLERS_PAYMENTS_LIMITS_DEADLINE", "4s"),
        ("WONCE_DISPATCH_INVOCATIONS", "7"),
    ]);
    let flags = Flags {
        config: Some("config/valid/merge.toml".into()),
        admin_listen: Some("127.0.0.1:3".into()),
        log_format: Some("json".into()),
        ..Flags::default()
    };
    let config = config::load(&flags, &env).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(config.http.listen.port(), 1);
    assert!(matches!(config.admin.listen, config::AdminListen::Tcp(address) if address.port() == 3));
    assert_eq!(config.log.level, "debug");
    assert_eq!(config.log.format, LogFormat::Json);
    assert_eq!(config.dispatch.invocations, 7);
    assert_eq!(payments(&config).limits.deadline, Duration::from_secs(4));
    let Server::External { url, .. } = &config.database.server else { panic!("the URL was given") };
    assert_eq!(url.expose(), "postgres://u:p@localhost/by_variable");
}

#[test]
fn opentelemetrys_own_variables_turn_the_export_on() {
    let env = Env::from_iter([
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://otel.example.com/in"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=hunter2,tenant=a%20b"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "2500"),
        ("OTEL_METRIC_EXPORT_INTERVAL", "60000"),
        ("OTEL_TRACES_EXPORTER", "none"),
        ("OTEL_METRICS_EXPORTER", "otlp"),
        ("OTEL_TRACES_SAMPLER_ARG", "0.25"),
        ("OTEL_SERVICE_NAME", "orders"),
        ("OTEL_RESOURCE_ATTRIBUTES", "team=payments"),
        ("WONCE_TELEMETRY_OTLP_QUEUE", "7"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "9"),
    ]);
    let config = config::load(&Flags::default(), &env).unwrap_or_else(|error| panic!("{error}"));
    assert!(!format!("{config:?}").contains("hunter2"));
    let otlp = config.telemetry.otlp.expect("it has an endpoint");
    assert_eq!(otlp.endpoint.expose(), "https://otel.example.com/in");
    let headers = otlp.headers.iter().map(|(name, value)| format!("{name}: {}", value.expose()));
    assert_eq!(headers.collect::<Vec<_>>(), ["api-key: hunter2", "tenant: a b"]);
    assert_eq!((otlp.timeout, otlp.interval), (Duration::from_millis(2500), Duration::from_secs(60)));
    assert_eq!((otlp.traces, otlp.metrics, otlp.queue), (false, true, 7));
    assert!((otlp.sampling_ratio - 0.25).abs() < f64::EPSILON);
    assert_eq!((otlp.service_name.as_str(), otlp.resource["team"].as_str()), ("orders", "payments"));
    let off = config::load(&Flags::default(), &Env::default()).expect("the defaults are valid");
    assert_eq!(off.telemetry.otlp, None);
}

#[test]
fn the_file_may_be_missing_unless_it_was_named() {
    let config = config::load(&Flags::default(), &Env::default()).expect("no file is fine");
    assert_eq!(config.file, None);
    assert!(matches!(config.database.server, Server::Embedded(_)));

    let by_flag = load(Path::new("nowhere.toml"), &Env::default()).expect_err("it was named");
    let env = Env::from_iter([("WONCE_CONFIG", "nowhere.toml")]);
    let by_variable = config::load(&Flags::default(), &env).expect_err("it was named");
    for error in [by_flag, by_variable] {
        assert!(error.to_string().contains("nowhere.toml"), "{error}");
        assert_eq!(error.problems().len(), 1);
    }
}

#[test]
fn what_is_secret_is_neither_reported_nor_debugged() {
    let env = Env::from_iter([
        ("DATABASE_URL", "postgres://u:hunter2@localhost/db"),
        ("WONCE_ADMIN_TOKEN", "hunter2hunter2hunter2"),
    ]);
    let config = config::load(&Flags::default(), &env).expect("valid");
    assert!(!format!("{config:?}").contains("hunter2"), "{config:?}");
    assert!(!format!("{env:?}").contains("hunter2"));

    let env = Env::from_iter([
        ("DATABASE_URL", "postgres://u:hunter2@localhost:port/db"),
        ("WONCE_ADMIN_TOKEN", "hunter2"),
    ]);
    let error = config::load(&Flags::default(), &env).expect_err("both are wrong");
    assert_eq!(error.problems().len(), 2);
    assert!(!error.to_string().contains("hunter2"), "{error}");
}

#[test]
fn a_manifest_stands_by_itself() {
    let text = fs::read_to_string("config/files/handler.toml").expect("readable");
    let manifest = config::manifest::parse("handler.toml", &text).expect("valid");
    assert_eq!(manifest.name.as_str(), "payments");
    assert_eq!(manifest.subscriptions[0].sources, ["*"]);
    let error = config::manifest::parse("handler.toml", "name = 1\n").expect_err("nearly all is missing");
    insta::assert_snapshot!(error, @r#"
    4 problems in handler.toml

    1. handler.toml: contract
       it is missing
       fix: write contract = "wonce:handler@1.0.0"

    2. handler.toml: version
       it is missing
       fix: write version = "1.0.0"

    3. handler.toml: subscription
       there is none, so no event would ever reach the handler
       fix: add [[subscription]] with types = ["…"]

    4. handler.toml:1: name
       this must be text, and it is the integer 1
       fix: write it in quotes
    "#);
}
