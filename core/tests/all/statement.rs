use proptest::prelude::*;
use wonce_core::statement::{ALLOWED_KEYWORDS, DENIED, Denied, Match, check};

/// Statements that a handler may well send.
const HONEST: &[&str] = &[
    "SELECT 1",
    "select * from payments where id = $1 for update",
    "((SELECT 1) UNION (SELECT 2)) ORDER BY 1;",
    "INSERT INTO payments (id, note) VALUES ($1, 'it''s; COMMIT') ON CONFLICT DO NOTHING RETURNING id",
    "WITH gone AS (DELETE FROM a RETURNING *) INSERT INTO b SELECT * FROM gone",
    "WITH made AS (INSERT INTO a VALUES (1) RETURNING id), m AS (SELECT 2) SELECT id FROM made, m",
    "WITH s AS (SELECT 1 AS x) MERGE INTO t USING s ON t.x = s.x WHEN NOT MATCHED THEN INSERT (x) VALUES (s.x)",
    "UPDATE t SET a = a + 1, note = E'it\\'s' WHERE b LIKE '%\\%' ESCAPE '\\'",
    "VALUES (1), (2)",
    "TABLE payments",
    "SELECT $$it's; COMMIT$$, $tag$ $$ ; $tag$, U&'d\\0061t', B'01', X'1F', N'x'",
    "SELECT 1e10, 1.5, .5, 1., 0x1F, 1_000, a[1:2], $1::text, 5 % 3 - -1, 2*/* c */3",
    "SELECT \"Weird \"\"name\"\"\", \"into\" FROM \"wonce\"",
    "SELECT 'into', 'set_config' -- INTO set_config()\n FROM t",
    "SELECT 'a'\n  'b', E'a\\''\n -- c\n '\\' ; COMMIT; --'",
    "SELECT count(*) AS wonce, lo_price, pg_sleep(1), current_setting('a') FROM t",
    "DELETE FROM t USING u WHERE t.id = u.id",
    "MERGE INTO t USING u ON t.id = u.id WHEN MATCHED THEN DELETE",
    "INSERT INTO insert_log SELECT * FROM t WHERE größe > 1",
];

/// What must never be sent, with a part of the answer.
const ATTACKS: &[(&str, &str)] = &[
    // 15, 18, 21 to 24: role, blocks, session state, savepoints, files, locks.
    ("RESET ROLE", "'RESET'"),
    ("SET ROLE postgres", "'SET'"),
    ("SET LOCAL statement_timeout = 0", "'SET'"),
    ("DO $$ BEGIN COMMIT; END $$", "'DO'"),
    ("CALL p()", "'CALL'"),
    ("LISTEN x", "'LISTEN'"),
    ("NOTIFY x", "'NOTIFY'"),
    ("DECLARE c CURSOR WITH HOLD FOR SELECT 1", "'DECLARE'"),
    ("PREPARE p AS SELECT 1", "'PREPARE'"),
    ("EXECUTE p", "'EXECUTE'"),
    ("DEALLOCATE ALL", "'DEALLOCATE'"),
    ("DISCARD ALL", "'DISCARD'"),
    ("CREATE TEMP TABLE payments ()", "'CREATE'"),
    ("SAVEPOINT s", "'SAVEPOINT'"),
    ("ROLLBACK TO SAVEPOINT s", "'ROLLBACK'"),
    ("RELEASE s", "'RELEASE'"),
    ("COPY t FROM PROGRAM 'id'", "'COPY'"),
    ("COPY t TO '/tmp/x'", "'COPY'"),
    ("LOCK TABLE t IN ACCESS EXCLUSIVE MODE", "'LOCK'"),
    ("EXPLAIN ANALYZE DELETE FROM t", "'EXPLAIN'"),
    // 16, 17: the end of the transaction, hidden.
    ("COMMIT", "'COMMIT'"),
    ("/* /* SELECT */ */ COMMIT AND CHAIN", "'COMMIT'"),
    ("/* SELECT /* */ */COMMIT", "'COMMIT'"),
    ("-- SELECT\rCOMMIT", "'COMMIT'"),
    ("( ( ROLLBACK", "'ROLLBACK'"),
    ("END", "'END'"),
    ("\u{a0}SELECT 1", "may not start"),
    ("\u{feff}SELECT 1", "may not start"),
    ("\"select\" 1", "may not start"),
    ("$1", "may not start"),
    ("; SELECT 1", "may not start"),
    ("SELECT 1; COMMIT", "several"),
    ("SELECT 1;;", "several"),
    ("SELECT 1;/**/COMMIT", "several"),
    ("SELECT 'a' ; COMMIT --'", "several"),
    ("SELECT 'a\\'; COMMIT --'", "several"),
    ("SELECT E'a'\n'\\' , '; COMMIT --'", "several"),
    ("SELECT E'a' -- c\n'\\' , '; COMMIT --'", "several"),
    ("SELECT E'a' '\\'; COMMIT --'", "several"),
    ("SELECT e'\\\\'; COMMIT --'", "several"),
    ("SELECT fooe'\\'; COMMIT --'", "several"),
    ("SELECT U&'\\'; COMMIT --'", "several"),
    ("SELECT $a$ $A$ $a$; COMMIT --$A$", "several"),
    ("SELECT $a $$ $a$ $$; COMMIT", "several"),
    ("SELECT a$b$; COMMIT --$b$", "several"),
    ("SELECT \"a\\\"; COMMIT --\"", "several"),
    ("SELECT 1 */**/; COMMIT", "several"),
    ("SELECT 1 /*/**/*/; COMMIT", "several"),
    ("SELECT 1 +--\n1; COMMIT", "several"),
    ("SELECT 1e'\\'; COMMIT --'", "differently"),
    ("SELECT $1e'\\'; COMMIT --'", "differently"),
    ("SELECT 1_0$a$; COMMIT --$a$", "differently"),
    ("SELECT 0x1F$a$; COMMIT --$a$", "differently"),
    // What does not end.
    ("SELECT 'a", "within a string"),
    ("SELECT E'a\\'", "within a string"),
    ("SELECT E'a\\", "within a string"),
    ("SELECT 'a'\n'", "within a string"),
    ("SELECT $a$ $$", "within a dollar-quoted string"),
    ("SELECT \"a", "within a quoted identifier"),
    ("SELECT /* /* */", "within a comment"),
    ("SELECT (1", "parentheses"),
    ("SELECT 1)", "parentheses"),
    ("SELECT 1) (", "parentheses"),
    ("SELECT '\0'", "NUL"),
    ("", "empty"),
    (" -- nothing\n/* at all */ ", "empty"),
    ("((", "empty"),
    // SELECT INTO in all its dresses.
    ("SELECT 1 INTO t", "INTO"),
    ("SELECT * INTO TEMP t FROM u", "INTO"),
    ("(SELECT 1 into t)", "INTO"),
    ("WITH a AS (SELECT 1) SELECT * INTO t FROM a", "INTO"),
    ("WITH insert AS (SELECT 1) SELECT * INTO t FROM insert", "INTO"),
    ("SELECT 1 insert INTO t", "INTO"),
    ("SELECT (1) merge INTO t", "INTO"),
    ("SELECT 1 AS insert/**/INTO t", "INTO"),
    ("INSERT INTO a SELECT 1 INTO b", "INTO"),
    ("TABLE t UNION SELECT 1 INTO b", "INTO"),
    // 19, 20, 23: functions, however they are written.
    ("SELECT set_config('statement_timeout','0',false)", "'set_config'"),
    ("SELECT SET_CONFIG /* c */ ('a','b',false)", "'set_config'"),
    ("SELECT pg_catalog.\"set_config\"('a','b',false)", "'set_config'"),
    ("SELECT U&\"\\0073et_config\"('a','b',false)", "U&"),
    ("SELECT u&\"set_config\"('a','b',false)", "U&"),
    ("UPDATE pg_settings SET setting = '0' WHERE name = 'statement_timeout'", "'pg_settings'"),
    ("INSERT INTO t SELECT pg_terminate_backend(1)", "'pg_terminate_backend'"),
    ("SELECT pg_cancel_backend(1)", "'pg_cancel_backend'"),
    ("SELECT pg_advisory_lock(1)", "FOR UPDATE"),
    ("SELECT pg_advisory_xact_lock(1)", "FOR UPDATE"),
    ("SELECT pg_try_advisory_lock_shared(1)", "FOR UPDATE"),
    ("SELECT pg_advisory_unlock_all()", "FOR UPDATE"),
    ("SELECT * FROM ROWS FROM (pg_read_file('/etc/passwd'))", "'pg_read_file'"),
    ("SELECT lo_from_bytea(0, 'x')", "bytea column"),
    ("SELECT query_to_xml('SELECT set_config(''a'',''b'',false)', true, true, '')", "'query_to_xml'"),
    ("SELECT * FROM ts_stat('SELECT 1')", "'ts_stat'"),
    ("SELECT pg_notify('wonce', '')", "outbox"),
    ("SELECT * FROM dblink_exec('dbname=x', 'COMMIT')", "'dblink_exec'"),
    ("SELECT * FROM wonce.inbox", "schema 'wonce'"),
    ("SELECT * FROM \"wonce\" . inbox", "schema 'wonce'"),
];

#[test]
fn honest_statements_pass() {
    for text in HONEST {
        assert_eq!(check(text), Ok(()), "{text}");
    }
}

#[test]
fn every_attack_is_refused_for_its_own_reason() {
    for (text, reason) in ATTACKS {
        let denied = check(text).expect_err(text).to_string();
        assert!(denied.contains(reason), "{text:?} was refused because {denied}");
    }
}

#[test]
fn every_name_on_the_list_is_refused_in_any_dress() {
    for denied in DENIED {
        let name = match denied.matches {
            Match::Exact => denied.name.to_owned(),
            Match::Prefix => format!("{}_or_longer", denied.name),
        };
        let upper = name.to_uppercase();
        for text in [
            format!("SELECT {name}()"),
            format!("SELECT {upper}()"),
            format!("SELECT pg_catalog . \"{name}\" ()"),
        ] {
            assert!(matches!(check(&text), Err(Denied::Name { .. })), "{text}");
        }
        assert_eq!(check(&format!("SELECT '{name}', x{name}")), Ok(()));
        assert_eq!(check(&format!("SELECT \"{upper}\"")), Ok(()), "quoted names keep their case");
    }
}

#[test]
fn every_allowed_keyword_is_one_that_something_honest_starts_with() {
    for keyword in ALLOWED_KEYWORDS {
        let starts = |text: &&str| text.trim_start_matches('(').to_lowercase().starts_with(keyword);
        assert!(HONEST.iter().any(starts), "{keyword}");
    }
}

fn comments() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop_oneof![
            "[ \t\n\r]{1,3}",
            "--[^\n\r\\x00]{0,8}\n",
            "[a-z'\";$() ]{0,8}".prop_map(|inner| format!("/*{inner}*/")),
            "[a-z'\";$() ]{0,8}".prop_map(|inner| format!("/* /*{inner}*/ ; */")),
        ],
        0..4,
    )
    .prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn comments_around_a_statement_change_nothing(
        before in comments(),
        after in comments(),
        honest in prop::sample::select(HONEST),
        attack in prop::sample::select(ATTACKS),
    ) {
        let dressed = format!("{before}{honest}\n{after}");
        prop_assert_eq!(check(&dressed), Ok(()), "{}", dressed);
        let dressed = format!("{before}{}", attack.0);
        prop_assert!(check(&dressed).is_err(), "{}", dressed);
    }

    #[test]
    fn a_second_statement_is_refused_behind_any_honest_one(
        honest in prop::sample::select(HONEST),
        between in comments(),
    ) {
        let two = format!("{honest}\n;{between} COMMIT");
        prop_assert!(check(&two).is_err(), "{}", two);
    }

    #[test]
    fn arbitrary_text_never_panics(text in ".{0,64}") {
        let _ = check(&text);
    }

    #[test]
    fn arbitrary_bits_of_sql_never_panic(parts in prop::collection::vec(
        prop::sample::select(vec![
            "SELECT ", "'", "''", "E'", "\\", "\n", "--", "/*", "*/", "$a$", "$$", "$", ";", "\"", "U&\"", "U&'",
            "é", "1", ".", "e", "(", ")", "INTO ", "INSERT ", "wonce", "_", "\r", "0x",
        ]), 0..24,
    )) {
        let _ = check(&parts.concat());
    }
}
