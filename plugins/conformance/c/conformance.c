// The conformance suite's behaviours, on the SDK for C: ../README.md says what each does. The event's type names one; the
// host's tests see what comes of it.

#include "../../sdk-c/wonce.h"

WONCE_MANIFEST("../handler.toml")

#define COUNT(array) (sizeof(array) / sizeof *(array))

// What a call is about, so that a behaviour takes one argument.
typedef struct {
    const char *behaviour;
    const wonce_event *event;
    const wonce_delivery *delivery;
    wonce_outcome *outcome;
    wonce_failure *failure;
} call_t;

static bool done(call_t *call) { return wonce_done(call->outcome); }

// --- notes

static const char INSERT[] = "insert into conformance.note (behaviour, name, value) values ($1, $2, $3)";

static bool note(call_t *call, const char *name, wonce_string value) {
    wonce_value params[] = {wonce_text(wonce_str(call->behaviour)), wonce_text(wonce_str(name)), wonce_text(value)};
    uint64_t affected;
    return wonce_execute(INSERT, params, COUNT(params), &affected, call->failure);
}

static bool note_number(call_t *call, const char *name, int64_t value) {
    char room[WONCE_DIGITS];
    return note(call, name, wonce_str(wonce_decimal(room, value)));
}

static bool note_or_none(call_t *call, const char *name, handler_option_string_t value) {
    return note(call, name, value.is_some ? value.val : wonce_str("none"));
}

// --- text that grows

typedef struct {
    char text[4096];
    size_t len;
} text_t;

static void add_n(text_t *text, const void *part, size_t len) {
    if (text->len + len > sizeof text->text) {
        __builtin_trap();
    }
    memcpy(text->text + text->len, part, len);
    text->len += len;
}

static void add(text_t *text, const char *part) { add_n(text, part, strlen(part)); }
static void add_string(text_t *text, wonce_string part) { add_n(text, part.ptr, part.len); }
static wonce_string whole(const text_t *text) { return (wonce_string){(uint8_t *)text->text, text->len}; }

// --- endings

static bool retried(call_t *call) {
    if (!note_number(call, "attempt", call->delivery->attempt)) return false;
    if (call->delivery->attempt == 1) return wonce_retry(call->failure, "not-yet", wonce_str("wait for it"));
    return done(call);
}

static bool permanent(call_t *call) {
    wonce_permanent(call->failure, "never", wonce_str("look at it"));
    handler_option_string_t *details = &call->failure->val.permanent.details;
    details->is_some = true;
    handler_string_dup(&details->val, "{\"cents\":5}");
    return false;
}

static wonce_effect effect_of(const char *sink, const char *type, const char *content_type, const void *data, size_t len) {
    return (wonce_effect){
        .sink = wonce_str(sink),
        .type = wonce_str(type),
        .datacontenttype = {true, wonce_str(content_type)},
        .data = {(uint8_t *)data, len},
    };
}

static bool rollback(call_t *call) {
    wonce_effect effect = effect_of("out", "conformance.gone", "text/plain", "gone", 4);
    wonce_string key;
    if (!note(call, "gone", wonce_str("gone")) || !wonce_emit(&effect, &key, call->failure)) return false;
    return wonce_permanent(call->failure, "rolled-back", wonce_str("nothing of it is there"));
}

// --- what comes in

static bool note_event(call_t *call) {
    const wonce_event *event = call->event;
    text_t extensions = {0};
    for (size_t i = 0; i < event->extensions.len; i++) {
        if (i) add(&extensions, "\n");
        add_string(&extensions, event->extensions.ptr[i].f0);
        add(&extensions, "=");
        add_string(&extensions, event->extensions.ptr[i].f1);
    }
    wonce_string data = {event->data.ptr, event->data.len};
    return note(call, "id", event->id) && note(call, "source", event->source) && note(call, "type", event->type)
        && note_or_none(call, "subject", event->subject)
        && (event->time.is_some ? note_number(call, "time", event->time.val) : note(call, "time", wonce_str("none")))
        && note_or_none(call, "datacontenttype", event->datacontenttype)
        && note_or_none(call, "dataschema", event->dataschema) && note(call, "extensions", whole(&extensions))
        && note(call, "data", data) && done(call);
}

static bool note_delivery(call_t *call) {
    const wonce_delivery *delivery = call->delivery;
    return note(call, "key", delivery->key) && note_or_none(call, "ordering-key", delivery->ordering_key)
        && note_number(call, "attempt", delivery->attempt) && note_number(call, "max-attempts", delivery->max_attempts)
        && note_number(call, "round", delivery->round) && note_number(call, "received", delivery->received)
        && note_or_none(call, "traceparent", delivery->traceparent) && done(call);
}

static bool blob(call_t *call) {
    wonce_value params[] = {wonce_text(wonce_str(call->behaviour)), wonce_bytea(call->event->data)};
    uint64_t affected;
    const char *sql = "insert into conformance.blob (behaviour, data) values ($1, $2)";
    return wonce_execute(sql, params, COUNT(params), &affected, call->failure) && done(call);
}

// --- values

#define UUID "0190a6c2-8d5e-8abc-9def-00112233445f"
// 2026-02-28, and 12:34:56.789012 of it.
#define DAY 20512
#define INSTANT (DAY * 86400000000LL + 45296789012LL)
#define VALUE(case_, member, ...) (wonce_value){.tag = WONCE_HANDLER_SQL_VALUE_##case_, .val.member = __VA_ARGS__}
#define SOME_TEXT(text) {true, {(uint8_t *)(text), sizeof(text) - 1}}

static const char *const CASES[] = {
    "null", "boolean", "int2", "int4", "int8", "float4", "float8", "numeric", "text", "bytea", "uuid", "date", "time",
    "timestamp", "timestamptz", "interval", "json", "jsonb", "boolean-array", "int4-array", "int8-array", "float8-array",
    "text-array", "uuid-array", "other",
};

// `values[0]` is the row's id.
static bool insert(call_t *call, const char *table, wonce_value *values, size_t width) {
    text_t sql = {0};
    add(&sql, "insert into conformance.");
    add(&sql, table);
    add(&sql, " values (");
    for (size_t i = 1; i <= width; i++) {
        char room[WONCE_DIGITS];
        add(&sql, i == 1 ? "$" : ", $");
        add(&sql, wonce_decimal(room, (int64_t)i));
    }
    add_n(&sql, ")", 2);
    uint64_t affected;
    return wonce_execute(sql.text, values, width, &affected, call->failure);
}

static bool values_in(call_t *call) {
    uint8_t bytes[] = {0x00, 0xff, 0x10};
    wonce_value values[] = {
        wonce_text(wonce_str("in")),
        wonce_bool(true),
        VALUE(INT2, int2, INT16_MIN),
        VALUE(INT4, int4, INT32_MAX),
        wonce_int8(INT64_MAX),
        VALUE(FLOAT4, float4, 1.5f),
        VALUE(FLOAT8, float8, -0.1),
        VALUE(NUMERIC, numeric, wonce_str("12345678901234567890.0123456789")),
        wonce_text(wonce_str("olá, 世界 🌍\n")),
        wonce_bytea((handler_list_u8_t){bytes, sizeof bytes}),
        VALUE(UUID, uuid, wonce_str(UUID)),
        VALUE(DATE, date, DAY),
        VALUE(TIME, time, 86399999999),
        VALUE(TIMESTAMP, timestamp, INSTANT),
        wonce_timestamptz(INSTANT),
        VALUE(INTERVAL, interval, {14, -3, 3723000004}),
        VALUE(JSON, json, wonce_str("{\"b\": 1,  \"a\": [null]}")),
        VALUE(JSONB, jsonb, wonce_str("{\"a\": [1, \"x\"]}")),
        VALUE(OTHER, other, {wonce_str("conformance.colour"), wonce_str("green")}),
    };
    return insert(call, "typed", values, COUNT(values)) && done(call);
}

// Reads a row, notes the cases of its values, and writes the very values again under another id.
static bool copy(call_t *call, const char *table, const char *from, const char *to) {
    text_t sql = {0};
    add(&sql, "select * from conformance.");
    add(&sql, table);
    add_n(&sql, " where id = $1", 15);
    wonce_value id = wonce_text(wonce_str(from));
    wonce_rows answer;
    if (!wonce_query(sql.text, &id, 1, &answer, call->failure)) return false;
    wonce_handler_sql_row_t row = answer.rows.ptr[0];
    text_t cases = {0};
    for (size_t i = 1; i < row.len; i++) {
        if (i > 1) add(&cases, " ");
        add(&cases, CASES[row.ptr[i].tag]);
    }
    row.ptr[0] = wonce_text(wonce_str(to));
    return note(call, from, whole(&cases)) && insert(call, table, row.ptr, row.len);
}

static bool arrays(call_t *call) {
    handler_option_bool_t booleans[] = {{true, true}, {0}, {true, false}};
    handler_option_s32_t int4s[] = {{true, INT32_MIN}, {0}};
    handler_option_s64_t int8s[] = {{true, INT64_MAX}, {0}, {true, 0}};
    handler_option_f64_t float8s[] = {{true, 0.5}, {0}};
    handler_option_string_t texts[] = {SOME_TEXT("a \"quoted\" word"), {0}, SOME_TEXT("")};
    handler_option_string_t uuids[] = {SOME_TEXT(UUID), {0}};
    wonce_value values[] = {
        wonce_text(wonce_str("in")),
        VALUE(BOOLEAN_ARRAY, boolean_array, {booleans, COUNT(booleans)}),
        VALUE(INT4_ARRAY, int4_array, {int4s, COUNT(int4s)}),
        VALUE(INT8_ARRAY, int8_array, {int8s, COUNT(int8s)}),
        VALUE(FLOAT8_ARRAY, float8_array, {float8s, COUNT(float8s)}),
        VALUE(TEXT_ARRAY, text_array, {texts, COUNT(texts)}),
        VALUE(UUID_ARRAY, uuid_array, {uuids, COUNT(uuids)}),
    };
    return insert(call, "arrays", values, COUNT(values)) && copy(call, "arrays", "expected", "out")
        && copy(call, "arrays", "empty", "empty-out") && done(call);
}

// --- statements

static bool rows(call_t *call) {
    wonce_rows answer;
    const char *sql = "select n, n::text || '!' as word from generate_series(1, 3) n order by n";
    if (!wonce_query(sql, NULL, 0, &answer, call->failure)) return false;
    text_t columns = {0}, texts = {0};
    for (size_t i = 0; i < answer.columns.len; i++) {
        if (i) add(&columns, ", ");
        add_string(&columns, answer.columns.ptr[i].name);
        add(&columns, " ");
        add_string(&columns, answer.columns.ptr[i].type_name);
    }
    for (size_t i = 0; i < answer.rows.len; i++) {
        wonce_value *row = answer.rows.ptr[i].ptr;
        char room[WONCE_DIGITS];
        if (i) add(&texts, ", ");
        add(&texts, wonce_decimal(room, row[0].val.int4));
        add(&texts, " ");
        add_string(&texts, row[1].val.text);
    }
    wonce_rows none;
    uint64_t affected;
    return note(call, "columns", whole(&columns)) && note(call, "rows", whole(&texts))
        && wonce_query("select 1 where false", NULL, 0, &none, call->failure)
        && note_number(call, "no-rows", (int64_t)none.rows.len)
        && wonce_execute("update conformance.note set name = name where behaviour = 'rows'", NULL, 0, &affected, call->failure)
        && note_number(call, "affected", (int64_t)affected) && done(call);
}

static bool queue(call_t *call) {
    wonce_value params[] = {wonce_text(wonce_str("queue")), wonce_text(wonce_str("queued")), wonce_text(wonce_str("yes"))};
    wonce_rows seen;
    const char *sql = "select count(*) from conformance.note where behaviour = 'queue'";
    return wonce_queue(INSERT, params, COUNT(params), call->failure) && wonce_query(sql, NULL, 0, &seen, call->failure)
        && note_number(call, "seen", seen.rows.ptr[0].ptr[0].val.int8) && done(call);
}

// Runs a statement that is to fail; its error.
static wonce_sql_error failing(const char *sql, wonce_value *params, size_t count) {
    wonce_string statement = wonce_str(sql);
    wonce_handler_sql_list_value_t list = {params, count};
    wonce_rows rows;
    wonce_sql_error error;
    if (wonce_handler_sql_query(&statement, &list, &rows, &error)) {
        __builtin_trap();
    }
    return error;
}

static bool database_error(call_t *call) {
    wonce_sql_error taken = failing("insert into conformance.once (id) values ('taken')", NULL, 0);
    if (taken.tag != WONCE_HANDLER_SQL_ERROR_DATABASE) __builtin_trap();
    text_t code = {0}, seen = {0};
    add(&code, "sqlstate-");
    add_string(&code, taken.val.database.sqlstate);
    add_n(&code, "", 1);
    add_string(&seen, taken.val.database.constraint.val);
    wonce_sql_error later = failing("select 1", NULL, 0);
    add(&seen, later.tag == WONCE_HANDLER_SQL_ERROR_ABORTED ? ", then aborted" : ", then something else");
    wonce_effect effect = effect_of("out", "conformance.gone", "text/plain", "gone", 4);
    wonce_string key;
    wonce_outbox_error error;
    bool aborted = !wonce_handler_outbox_emit(&effect, &key, &error) && error.tag == WONCE_HANDLER_OUTBOX_ERROR_ABORTED;
    add(&seen, aborted ? ", then aborted" : ", then something else");
    return wonce_permanent(call->failure, code.text, whole(&seen));
}

static bool refused(call_t *call) {
    wonce_value truth = wonce_bool(true);
    wonce_sql_error denied = failing("commit", NULL, 0);
    wonce_sql_error parameter = failing("select $1::int4", &truth, 1);
    // The first two left the transaction as it was.
    wonce_rows rows;
    if (!wonce_query("select 1", NULL, 0, &rows, call->failure)) return false;
    wonce_sql_error limit = failing("select generate_series(1, 1000)", NULL, 0);
    text_t seen = {0};
    add(&seen, denied.tag == WONCE_HANDLER_SQL_ERROR_DENIED ? "denied" : "something else");
    if (parameter.tag == WONCE_HANDLER_SQL_ERROR_PARAMETER) {
        char room[WONCE_DIGITS];
        add(&seen, ", parameter ");
        add(&seen, wonce_decimal(room, parameter.val.parameter.f0));
    }
    if (limit.tag == WONCE_HANDLER_SQL_ERROR_LIMIT_EXCEEDED && limit.val.limit_exceeded == WONCE_HANDLER_SQL_LIMIT_ROWS) {
        add(&seen, ", limit rows");
    }
    return wonce_permanent(call->failure, "refused", whole(&seen));
}

// --- the other imports

static bool outbox(call_t *call) {
    uint8_t bytes[] = {0, 255, 16};
    wonce_attribute attributes[] = {{wonce_str("tenant"), wonce_str("a")}, {wonce_str("region"), wonce_str("eu")}};
    wonce_effect full = effect_of("out", "conformance.whole", "application/octet-stream", bytes, sizeof bytes);
    full.ordering_key = (handler_option_string_t){true, wonce_str("group-1")};
    full.dedup_key = (handler_option_string_t){true, wonce_str("own-key")};
    full.delay_ms = (handler_option_u64_t){true, 1};
    full.attributes = (wonce_handler_outbox_list_attribute_t){attributes, COUNT(attributes)};
    wonce_effect bare = effect_of("out", "conformance.bare", "application/json", "{\"n\":1}", 7);
    wonce_effect lost = effect_of("nowhere", "conformance.gone", "text/plain", "gone", 4);
    wonce_string key;
    wonce_outbox_error error;
    if (!wonce_emit(&full, &key, call->failure) || !note(call, "whole", key)) return false;
    if (!wonce_emit(&bare, &key, call->failure) || !note(call, "bare", key)) return false;
    text_t unknown = {0};
    if (!wonce_handler_outbox_emit(&lost, &key, &error) && error.tag == WONCE_HANDLER_OUTBOX_ERROR_UNKNOWN_SINK) {
        add(&unknown, "unknown ");
        add_string(&unknown, error.val.unknown_sink);
    }
    return note(call, "unknown", whole(&unknown)) && done(call);
}

static bool log_lines(call_t *call) {
    static const char *const LINES[] = {"a trace", "a debug", "an info", "a warn", "an error"};
    for (size_t i = 0; i < COUNT(LINES); i++) {
        char room[WONCE_DIGITS];
        wonce_attribute field = {wonce_str("n"), wonce_str(wonce_decimal(room, (int64_t)i + 1))};
        wonce_log((wonce_handler_log_level_t)i, LINES[i], &field, 1);
    }
    if (call->delivery->attempt == 1) return wonce_retry(call->failure, "logged", wonce_str("look at the log"));
    return done(call);
}

static wonce_string setting(const char *name) {
    wonce_string key = wonce_str(name), value;
    return wonce_handler_config_get(&key, &value) ? value : wonce_str("none");
}

static bool context(call_t *call) {
    wonce_value now = wonce_timestamptz(wonce_handler_context_now());
    wonce_rows same;
    return wonce_query("select $1::timestamptz = now()", &now, 1, &same, call->failure)
        && note(call, "now-is-sqls", wonce_str(same.rows.ptr[0].ptr[0].val.boolean ? "true" : "false"))
        && note_number(call, "remaining", wonce_handler_context_remaining_ms())
        && note(call, "greeting", setting("greeting")) && note(call, "unset", setting("unset")) && done(call);
}

static wonce_string stable_uuid_of(const char *name) {
    wonce_string of = wonce_str(name), id;
    wonce_handler_context_stable_uuid(&of, &id);
    return id;
}

static bool stable_uuid(call_t *call) {
    wonce_string id = stable_uuid_of("one");
    if (call->delivery->attempt == 1) return wonce_retry(call->failure, "id", id);
    return note(call, "one", id) && note(call, "other", stable_uuid_of("other")) && done(call);
}

// --- the list

static bool note_attempt(call_t *call) { return note_number(call, "attempt", call->delivery->attempt) && done(call); }
static bool ignored(call_t *call) { return wonce_ignored(call->outcome, "left alone"); }
static bool retry_after(call_t *call) {
    return wonce_retry_after(call->failure, "later", wonce_str("in an hour"), 3600000);
}
static bool rejected(call_t *call) { return wonce_rejected(call->failure, "bad", wonce_str("not acceptable")); }
static bool trap(call_t *call) {
    (void)call;
    __builtin_trap();
}
static bool values_out(call_t *call) { return copy(call, "typed", "expected", "out") && done(call); }
static bool nulls(call_t *call) { return copy(call, "typed", "nulls", "nulls-out") && done(call); }

static const struct {
    const char *name;
    bool (*act)(call_t *call);
} BEHAVIOURS[] = {
    {"done", note_attempt},       {"ignored", ignored},       {"retry", retried},
    {"retry-after", retry_after}, {"permanent", permanent},   {"rejected", rejected},
    {"trap", trap},               {"rollback", rollback},     {"event", note_event},
    {"delivery", note_delivery},  {"empty-payload", blob},    {"binary-payload", blob},
    {"large-payload", blob},      {"values-in", values_in},   {"values-out", values_out},
    {"nulls", nulls},             {"arrays", arrays},         {"rows", rows},
    {"queue", queue},             {"refused", refused},       {"database-error", database_error},
    {"outbox", outbox},           {"log", log_lines},         {"context", context},
    {"stable-uuid", stable_uuid},
};

bool wonce_handle(const wonce_event *event, const wonce_delivery *delivery, wonce_outcome *outcome, wonce_failure *failure) {
    static const char PREFIX[] = "conformance.";
    wonce_string name = event->type;
    if (name.len >= sizeof PREFIX - 1 && memcmp(name.ptr, PREFIX, sizeof PREFIX - 1) == 0) {
        name.ptr += sizeof PREFIX - 1;
        name.len -= sizeof PREFIX - 1;
    }
    for (size_t i = 0; i < COUNT(BEHAVIOURS); i++) {
        if (wonce_is(name, BEHAVIOURS[i].name)) {
            call_t call = {BEHAVIOURS[i].name, event, delivery, outcome, failure};
            return BEHAVIOURS[i].act(&call);
        }
    }
    return wonce_rejected(failure, "unknown-behaviour", name);
}
