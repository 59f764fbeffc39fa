// Keeps one audit row for every event: a handler in C, on the generated bindings of the contract and nothing else.
// It knows no WASI: no file, clock or stream is linked, only malloc.
//
// Ownership, as the component model has it: arguments of the export are ours to free; what we return is freed for us
// and must come from malloc; arguments of an import stay ours.

#include <stddef.h>

#include "gen/handler.h"

typedef exports_wonce_handler_events_event_t event_t;
typedef exports_wonce_handler_events_delivery_t delivery_t;
typedef exports_wonce_handler_events_outcome_t outcome_t;
typedef exports_wonce_handler_events_failure_t failure_t;
typedef wonce_handler_sql_value_t value_t;
typedef wonce_handler_sql_error_t sql_error_t;

// The author's manifest travels inside the component.
__asm__(".section \".custom_section.wonce:handler-manifest\",\"\",@\n"
        ".incbin \"handler.toml\"\n"
        ".text\n");

static const char INSERT[] =
    "insert into audit.entry (event_key, event_id, source, type, subject, attempt, bytes, received_at) "
    "values ($1, $2, $3, $4, $5, $6, $7, $8)";

static value_t text(handler_string_t string) {
    return (value_t){.tag = WONCE_HANDLER_SQL_VALUE_TEXT, .val.text = string};
}

static value_t text_or_null(handler_option_string_t string) {
    return string.is_some ? text(string.val) : (value_t){.tag = WONCE_HANDLER_SQL_VALUE_NULL};
}

static value_t bigint(int64_t number) {
    return (value_t){.tag = WONCE_HANDLER_SQL_VALUE_INT8, .val.int8 = number};
}

static value_t time_of(int64_t micros) {
    return (value_t){.tag = WONCE_HANDLER_SQL_VALUE_TIMESTAMPTZ, .val.timestamptz = micros};
}

static bool write_entry(const event_t *event, const delivery_t *delivery, sql_error_t *error) {
    value_t params[] = {
        text(delivery->key),           text(event->id),           text(event->source),
        text(event->type),             text_or_null(event->subject), bigint(delivery->attempt),
        bigint((int64_t)event->data.len), time_of(delivery->received),
    };
    wonce_handler_sql_list_value_t list = {params, sizeof params / sizeof *params};
    handler_string_t statement = {(uint8_t *)INSERT, sizeof INSERT - 1};
    uint64_t rows;
    return wonce_handler_sql_execute(&statement, &list, &rows, error);
}

static wonce_handler_types_fault_t fault(const char *code, const handler_string_t *message) {
    wonce_handler_types_fault_t fault = {0};
    handler_string_dup(&fault.code, code);
    if (message) {
        handler_string_dup_n(&fault.message, (const char *)message->ptr, message->len);
    }
    return fault;
}

static failure_t retry(const char *code, const handler_string_t *message) {
    return (failure_t){.tag = WONCE_HANDLER_TYPES_FAILURE_RETRY, .val.retry.fault = fault(code, message)};
}

static failure_t permanent(const char *code, const handler_string_t *message) {
    return (failure_t){.tag = WONCE_HANDLER_TYPES_FAILURE_PERMANENT, .val.permanent = fault(code, message)};
}

// What the database says may be otherwise tomorrow; what only a new version of this file can mend is permanent.
static failure_t failure_of(const sql_error_t *error) {
    switch (error->tag) {
    case WONCE_HANDLER_SQL_ERROR_DATABASE:
        return retry("database", &error->val.database.message);
    case WONCE_HANDLER_SQL_ERROR_ABORTED:
        return retry("transaction-aborted", NULL);
    case WONCE_HANDLER_SQL_ERROR_PARAMETER:
        return permanent("sql-parameter", &error->val.parameter.f1);
    case WONCE_HANDLER_SQL_ERROR_DENIED:
        return permanent("sql-denied", &error->val.denied);
    case WONCE_HANDLER_SQL_ERROR_LIMIT_EXCEEDED:
        return retry("sql-limit", NULL);
    case WONCE_HANDLER_SQL_ERROR_CONNECTION_LOST:
        return retry("connection-lost", &error->val.connection_lost);
    default:
        __builtin_trap();
    }
}

bool exports_wonce_handler_events_handle(event_t *event, delivery_t *delivery, outcome_t *done, failure_t *failure) {
    sql_error_t error;
    bool written = write_entry(event, delivery, &error);
    if (written) {
        done->tag = WONCE_HANDLER_TYPES_OUTCOME_DONE;
    } else {
        *failure = failure_of(&error);
        wonce_handler_sql_error_free(&error);
    }
    exports_wonce_handler_events_event_free(event);
    exports_wonce_handler_events_delivery_free(delivery);
    return written;
}

// The bindings want to be linked with an object that carries the contract's types. build.sh lets wasm-tools write
// them from wit/ instead, so that no binary is kept in the repository; this stands in for that object.
void __component_type_object_force_link_handler(void) {}
