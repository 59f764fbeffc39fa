// The guest SDK for C: one header over the generated bindings of the contract. It needs malloc and mem* of a libc and no
// WASI. A handler is one function, `wonce_handle`, in a file that includes this header once:
//
//     #include "wonce.h"
//     WONCE_MANIFEST("handler.toml")
//
//     bool wonce_handle(const wonce_event *event, const wonce_delivery *delivery, wonce_outcome *outcome, wonce_failure *failure) {
//         wonce_value params[] = {wonce_text(delivery->key)};
//         uint64_t rows;
//         if (!wonce_execute("insert into app.seen (key) values ($1)", params, 1, &rows, failure)) return false;
//         return wonce_done(outcome);
//     }
//
// Ownership: what a handler gets is freed for it after it has returned; what it returns is copied; strings in values and
// effects are only looked at during the call. Answers of the host are its own to free, or not to: the memory is new for
// every event, and gone after it.

#ifndef WONCE_H
#define WONCE_H

#include <stdlib.h>
#include <string.h>

#include "gen/handler.h"

typedef handler_string_t wonce_string;
typedef exports_wonce_handler_events_event_t wonce_event;
typedef exports_wonce_handler_events_delivery_t wonce_delivery;
typedef exports_wonce_handler_events_outcome_t wonce_outcome;
typedef exports_wonce_handler_events_failure_t wonce_failure;
typedef wonce_handler_types_fault_t wonce_fault;
typedef wonce_handler_types_attribute_t wonce_attribute;
typedef wonce_handler_sql_value_t wonce_value;
typedef wonce_handler_sql_error_t wonce_sql_error;
typedef wonce_handler_sql_row_set_t wonce_rows;
typedef wonce_handler_outbox_effect_t wonce_effect;
typedef wonce_handler_outbox_error_t wonce_outbox_error;

// The handler. True ends well, with `*outcome`; false fails, with `*failure`. Return what the endings below return.
bool wonce_handle(const wonce_event *event, const wonce_delivery *delivery, wonce_outcome *outcome, wonce_failure *failure);

// The author's manifest travels inside the component. Natively, in a test, there is no component.
#ifdef __wasm__
#define WONCE_MANIFEST(file) \
    __asm__(".section \".custom_section.wonce:handler-manifest\",\"\",@\n.incbin \"" file "\"\n.text\n");
#else
#define WONCE_MANIFEST(file)
#endif

// --- text

// A string that looks at `text` and does not own it.
static inline wonce_string wonce_str(const char *text) {
    return (wonce_string){(uint8_t *)text, strlen(text)};
}

static inline bool wonce_is(wonce_string string, const char *text) {
    return string.len == strlen(text) && memcmp(string.ptr, text, string.len) == 0;
}

#define WONCE_DIGITS 24

// The number in decimal, in the caller's room of WONCE_DIGITS bytes. (printf would pull in WASI.)
static inline const char *wonce_decimal(char room[WONCE_DIGITS], int64_t number) {
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    char *at = room + WONCE_DIGITS - 1;
    *at = 0;
    do {
        *--at = (char)('0' + left % 10);
        left /= 10;
    } while (left);
    if (number < 0) {
        *--at = '-';
    }
    return at;
}

// --- parameters; every other case of the contract is written as `(wonce_value){.tag = WONCE_HANDLER_SQL_VALUE_…, …}`

static inline wonce_value wonce_null(void) {
    return (wonce_value){.tag = WONCE_HANDLER_SQL_VALUE_NULL};
}

static inline wonce_value wonce_text(wonce_string string) {
    return (wonce_value){.tag = WONCE_HANDLER_SQL_VALUE_TEXT, .val.text = string};
}

static inline wonce_value wonce_text_or_null(handler_option_string_t string) {
    return string.is_some ? wonce_text(string.val) : wonce_null();
}

static inline wonce_value wonce_bool(bool truth) {
    return (wonce_value){.tag = WONCE_HANDLER_SQL_VALUE_BOOLEAN, .val.boolean = truth};
}

static inline wonce_value wonce_int8(int64_t number) {
    return (wonce_value){.tag = WONCE_HANDLER_SQL_VALUE_INT8, .val.int8 = number};
}

static inline wonce_value wonce_bytea(handler_list_u8_t bytes) {
    return (wonce_value){.tag = WONCE_HANDLER_SQL_VALUE_BYTEA, .val.bytea = bytes};
}

static inline wonce_value wonce_timestamptz(int64_t micros) {
    return (wonce_value){.tag = WONCE_HANDLER_SQL_VALUE_TIMESTAMPTZ, .val.timestamptz = micros};
}

// --- endings

static inline bool wonce_done(wonce_outcome *outcome) {
    *outcome = (wonce_outcome){.tag = WONCE_HANDLER_TYPES_OUTCOME_DONE};
    return true;
}

static inline bool wonce_ignored(wonce_outcome *outcome, const char *reason) {
    outcome->tag = WONCE_HANDLER_TYPES_OUTCOME_IGNORED;
    handler_string_dup(&outcome->val.ignored, reason);
    return true;
}

static inline wonce_fault wonce_fault_of(const char *code, wonce_string message) {
    wonce_fault fault = {0};
    handler_string_dup(&fault.code, code);
    handler_string_dup_n(&fault.message, (const char *)message.ptr, message.len);
    return fault;
}

// May work later.
static inline bool wonce_retry(wonce_failure *failure, const char *code, wonce_string message) {
    *failure = (wonce_failure){.tag = WONCE_HANDLER_TYPES_FAILURE_RETRY, .val.retry.fault = wonce_fault_of(code, message)};
    return false;
}

// May work later, and not before so many milliseconds.
static inline bool wonce_retry_after(wonce_failure *failure, const char *code, wonce_string message, uint64_t wait_ms) {
    wonce_retry(failure, code, message);
    failure->val.retry.after_ms = (handler_option_u64_t){true, wait_ms};
    return false;
}

// Never works for this event: a person must look.
static inline bool wonce_permanent(wonce_failure *failure, const char *code, wonce_string message) {
    *failure = (wonce_failure){.tag = WONCE_HANDLER_TYPES_FAILURE_PERMANENT, .val.permanent = wonce_fault_of(code, message)};
    return false;
}

// The payload is not acceptable: the producer's mistake.
static inline bool wonce_rejected(wonce_failure *failure, const char *code, wonce_string message) {
    *failure = (wonce_failure){.tag = WONCE_HANDLER_TYPES_FAILURE_REJECTED, .val.rejected = wonce_fault_of(code, message)};
    return false;
}

// What the database says may be otherwise tomorrow; what only a new version of the handler can mend is permanent.
static inline bool wonce_sql_failed(wonce_failure *failure, const wonce_sql_error *error) {
    switch (error->tag) {
    case WONCE_HANDLER_SQL_ERROR_DATABASE:
        return wonce_retry(failure, "database", error->val.database.message);
    case WONCE_HANDLER_SQL_ERROR_PARAMETER:
        return wonce_permanent(failure, "sql-parameter", error->val.parameter.f1);
    case WONCE_HANDLER_SQL_ERROR_DENIED:
        return wonce_permanent(failure, "sql-denied", error->val.denied);
    case WONCE_HANDLER_SQL_ERROR_LIMIT_EXCEEDED:
        return wonce_retry(failure, "sql-limit", wonce_str("the call has used up a limit of its statements"));
    case WONCE_HANDLER_SQL_ERROR_CONNECTION_LOST:
        return wonce_retry(failure, "connection-lost", error->val.connection_lost);
    default:
        return wonce_retry(failure, "transaction-aborted", wonce_str("an earlier statement failed"));
    }
}

// --- statements: `return false` when one of these does, or use the bindings and look at the error

// `*affected` becomes the count of affected rows.
static inline bool wonce_execute(const char *sql, wonce_value *params, size_t count, uint64_t *affected, wonce_failure *failure) {
    wonce_string statement = wonce_str(sql);
    wonce_handler_sql_list_value_t list = {params, count};
    wonce_sql_error error;
    return wonce_handler_sql_execute(&statement, &list, affected, &error) || wonce_sql_failed(failure, &error);
}

// `*rows` becomes the answer: `rows->rows.ptr[row].ptr[column]`.
static inline bool wonce_query(const char *sql, wonce_value *params, size_t count, wonce_rows *rows, wonce_failure *failure) {
    wonce_string statement = wonce_str(sql);
    wonce_handler_sql_list_value_t list = {params, count};
    wonce_sql_error error;
    return wonce_handler_sql_query(&statement, &list, rows, &error) || wonce_sql_failed(failure, &error);
}

// Runs it later in this transaction, without a round trip of its own.
static inline bool wonce_queue(const char *sql, wonce_value *params, size_t count, wonce_failure *failure) {
    wonce_string statement = wonce_str(sql);
    wonce_handler_sql_list_value_t list = {params, count};
    wonce_sql_error error;
    return wonce_handler_sql_queue(&statement, &list, &error) || wonce_sql_failed(failure, &error);
}

// --- effects and the log

// Writes the effect in this transaction; `*key` becomes its idempotency key.
static inline bool wonce_emit(wonce_effect *effect, wonce_string *key, wonce_failure *failure) {
    wonce_outbox_error error;
    if (wonce_handler_outbox_emit(effect, key, &error)) {
        return true;
    }
    switch (error.tag) {
    case WONCE_HANDLER_OUTBOX_ERROR_UNKNOWN_SINK:
        return wonce_permanent(failure, "unknown-sink", error.val.unknown_sink);
    case WONCE_HANDLER_OUTBOX_ERROR_REFUSED:
        return wonce_permanent(failure, "effect-refused", error.val.refused);
    default:
        return wonce_retry(failure, "transaction-aborted", wonce_str("an earlier statement failed"));
    }
}

static inline void wonce_log(wonce_handler_log_level_t level, const char *message, wonce_attribute *fields, size_t count) {
    wonce_string text = wonce_str(message);
    wonce_handler_log_list_attribute_t list = {fields, count};
    wonce_handler_log_write(level, &text, &list);
}

// --- the export

bool exports_wonce_handler_events_handle(wonce_event *event, wonce_delivery *delivery, wonce_outcome *outcome, wonce_failure *failure) {
    bool ok = wonce_handle(event, delivery, outcome, failure);
    exports_wonce_handler_events_event_free(event);
    exports_wonce_handler_events_delivery_free(delivery);
    return ok;
}

// The bindings want to be linked with an object that carries the contract's types. `wasm-tools component embed` writes
// them from the WIT instead, so that no binary has to be kept; this stands in for that object.
void __component_type_object_force_link_handler(void);
void __component_type_object_force_link_handler(void) {}

#endif
