// Keeps one audit row for every event: a handler in C. It knows no WASI: no file, clock or stream is linked, only malloc.

#include "../sdk-c/wonce.h"

WONCE_MANIFEST("handler.toml")

static const char INSERT[] =
    "insert into audit.entry (event_key, event_id, source, type, subject, attempt, bytes, received_at) "
    "values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (event_key) do nothing";

bool wonce_handle(const wonce_event *event, const wonce_delivery *delivery, wonce_outcome *outcome, wonce_failure *failure) {
    wonce_value params[] = {
        wonce_text(delivery->key),
        wonce_text(event->id),
        wonce_text(event->source),
        wonce_text(event->type),
        wonce_text_or_null(event->subject),
        wonce_int8(delivery->attempt),
        wonce_int8((int64_t)event->data.len),
        wonce_timestamptz(delivery->received),
    };
    uint64_t written;
    if (!wonce_execute(INSERT, params, sizeof params / sizeof *params, &written, failure)) {
        return false;
    }
    return written ? wonce_done(outcome) : wonce_ignored(outcome, "the event has its audit row already");
}
