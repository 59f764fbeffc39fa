//! Names that a guest's statement may not mention: functions whose effect outlives or leaves
//! the transaction, or that run SQL given as text past this guard. Knows nothing of where in
//! the statement they stand: a mention is enough, so no syntax can hide a call.
//!
//! Revoked EXECUTE is the boundary; this list covers databases where that is not possible.
//! Left open on purpose: `pg_sleep` (the deadline ends it), sequences (privileges), and functions
//! of extensions that an operator installs, apart from those below.

use super::Denied;
use super::scan::Token;

/// How a name on the list is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Match {
    Exact,
    Prefix,
}

/// One entry of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeniedName {
    pub name: &'static str,
    pub matches: Match,
    /// What it would do, and what to use instead.
    pub why: &'static str,
}

const SESSION: &str = "it changes the session, which outlives the transaction: pass the value as a parameter";
const LOCK: &str = "advisory locks are numbers that all sessions share: lock a row with FOR UPDATE";
const PEER: &str = "it reaches other sessions or the server: that is the operator's";
const NOTIFY: &str = "a notification leaves past the outbox: emit an effect";
const TEXT: &str = "it runs SQL given as text, past the check of statements: send that SQL as a statement";
const OBJECT: &str = "large objects belong to no table: use a bytea column";
const FILE: &str = "it reads or writes the server's files: send data in the event";
const NETWORK: &str = "it opens a connection past the transaction: emit an effect";
const SERVER: &str = "it changes the server's state: that is the operator's";

const fn exact(name: &'static str, why: &'static str) -> DeniedName {
    DeniedName { name, matches: Match::Exact, why }
}

const fn prefix(name: &'static str, why: &'static str) -> DeniedName {
    DeniedName { name, matches: Match::Prefix, why }
}

/// The list. Prefixes only where no honest table or column would start so.
pub const DENIED: &[DeniedName] = &[
    exact("set_config", SESSION),
    // A rule on this view turns UPDATE into set_config; reading goes with current_setting.
    exact("pg_settings", "updating it changes the session: read settings with current_setting"),
    // Transaction-level ones too: the host's own locks of ordering keys live in the same numbers.
    prefix("pg_advisory_", LOCK),
    prefix("pg_try_advisory_", LOCK),
    exact("pg_terminate_backend", PEER),
    exact("pg_cancel_backend", PEER),
    exact("pg_log_backend_memory_contexts", PEER),
    exact("pg_notify", NOTIFY),
    prefix("query_to_xml", TEXT),
    prefix("cursor_to_xml", TEXT),
    prefix("table_to_xml", TEXT),
    prefix("schema_to_xml", TEXT),
    prefix("database_to_xml", TEXT),
    exact("ts_stat", TEXT),
    exact("ts_rewrite", TEXT),
    // Extensions tablefunc and xml2.
    prefix("crosstab", TEXT),
    exact("connectby", TEXT),
    exact("xpath_table", TEXT),
    prefix("dblink", NETWORK),
    exact("lo_creat", OBJECT),
    exact("lo_create", OBJECT),
    exact("lo_open", OBJECT),
    exact("lo_close", OBJECT),
    exact("loread", OBJECT),
    exact("lowrite", OBJECT),
    exact("lo_lseek", OBJECT),
    exact("lo_lseek64", OBJECT),
    exact("lo_tell", OBJECT),
    exact("lo_tell64", OBJECT),
    exact("lo_truncate", OBJECT),
    exact("lo_truncate64", OBJECT),
    exact("lo_unlink", OBJECT),
    exact("lo_put", OBJECT),
    exact("lo_get", OBJECT),
    exact("lo_from_bytea", OBJECT),
    exact("lo_import", OBJECT),
    exact("lo_export", OBJECT),
    // Extension lo.
    exact("lo_manage", OBJECT),
    prefix("pg_read_file", FILE),
    prefix("pg_read_binary_file", FILE),
    prefix("pg_stat_file", FILE),
    prefix("pg_ls_", FILE),
    prefix("pg_file_", FILE),
    exact("pg_logdir_ls", FILE),
    exact("pg_reload_conf", SERVER),
    prefix("pg_rotate_logfile", SERVER),
    exact("pg_export_snapshot", SERVER),
    prefix("pg_create_", SERVER),
    prefix("pg_drop_", SERVER),
    prefix("pg_copy_", SERVER),
    prefix("pg_sync_replication_slots", SERVER),
    prefix("pg_switch_", SERVER),
    prefix("pg_logical_", SERVER),
    prefix("pg_replication_", SERVER),
    prefix("pg_wal_replay_", SERVER),
    prefix("pg_xlog_replay_", SERVER),
    exact("pg_promote", SERVER),
    prefix("pg_start_backup", SERVER),
    prefix("pg_stop_backup", SERVER),
    prefix("pg_backup_st", SERVER),
    prefix("pg_stat_reset", SERVER),
    prefix("pg_stat_statements_reset", SERVER),
    exact("pg_import_system_collations", SERVER),
    prefix("binary_upgrade_", SERVER),
];

/// The host's own schema. A column's label is never followed by a dot, so only a table
/// alias of this name is refused beside it.
const HOST_SCHEMA: &str = "wonce";

pub(super) fn check(tokens: &[Token]) -> Result<(), Denied> {
    for (index, token) in tokens.iter().enumerate() {
        let name = match token {
            Token::Word(name) | Token::Quoted(name) => name.as_str(),
            Token::Literal | Token::Open | Token::Close | Token::Semicolon | Token::Dot | Token::Other => {
                continue;
            }
        };
        if let Some(denied) = DENIED.iter().find(|denied| denied.is(name)) {
            return Err(Denied::Name { name: name.to_owned(), why: denied.why });
        }
        if name == HOST_SCHEMA && tokens.get(index + 1) == Some(&Token::Dot) {
            return Err(Denied::Schema);
        }
    }
    Ok(())
}

impl DeniedName {
    fn is(&self, name: &str) -> bool {
        match self.matches {
            Match::Exact => name == self.name,
            Match::Prefix => name.starts_with(self.name),
        }
    }
}
