-- What became of deliveries: the dedup ledger, its independent evidence, and the history.

-- One row per settled (handler, key): the arbiter of exactly once.
CREATE TABLE wonce.processed_events (
    handler_id     bigint      NOT NULL,
    key            text        NOT NULL,
    outcome        text        NOT NULL CHECK (outcome IN ('done', 'ignored', 'dead', 'discarded')),
    ignored_reason text,
    payload_digest bytea       NOT NULL,
    hash_rule      text        NOT NULL,
    key_rule       text        NOT NULL,
    ordering_key   text,
    via            text        NOT NULL,
    source         text        NOT NULL,
    event_id       text,
    event_type     text        NOT NULL,
    traceparent    text,
    round          integer     NOT NULL,
    -- Attempts of the last round, the successful one included.
    attempts       integer     NOT NULL,
    version        bytea       NOT NULL,
    accepted_at    timestamptz NOT NULL,
    processed_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- The transaction that committed the handler's effects and this row.
    xact           xid8        NOT NULL DEFAULT pg_current_xact_id(),
    PRIMARY KEY (handler_id, key)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.05);
-- Retention and the verify count.
CREATE INDEX processed_events_time ON wonce.processed_events (handler_id, processed_at);

-- Counts written in the commits that change them: evidence that does not come from the rows
-- that `wonce verify` compares it with. Upkeep folds rows together; sums never change.
CREATE TABLE wonce.tally (
    id              bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    handler_id      bigint  NOT NULL,
    accepted        bigint  NOT NULL DEFAULT 0,
    duplicate_early bigint  NOT NULL DEFAULT 0,
    duplicate_late  bigint  NOT NULL DEFAULT 0,
    key_conflict    bigint  NOT NULL DEFAULT 0,
    expired         bigint  NOT NULL DEFAULT 0
);
CREATE INDEX tally_handler ON wonce.tally (handler_id);

-- One failed attempt.
CREATE TABLE wonce.attempt (
    id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    handler_id  bigint      NOT NULL,
    key         text        NOT NULL,
    round       integer     NOT NULL,
    attempt     integer     NOT NULL,
    decision    text        NOT NULL CHECK (decision IN ('retry', 'dead')),
    class       text        NOT NULL,
    code        text        NOT NULL,
    message     text        NOT NULL,
    duration_us bigint      NOT NULL,
    version     bytea       NOT NULL,
    host        uuid        NOT NULL,
    log_tail    text        NOT NULL DEFAULT '',
    failed_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX attempt_delivery ON wonce.attempt (handler_id, key, id);

-- A bounded sample of ignored duplicates: at most one row a slot. Counts are in `tally`.
CREATE TABLE wonce.duplicate (
    handler_id  bigint      NOT NULL,
    slot        integer     NOT NULL CHECK (slot BETWEEN 0 AND 999),
    key         text        NOT NULL,
    via         text        NOT NULL,
    original_at timestamptz,
    seen_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (handler_id, slot)
);

-- A queue for investigation. Three kinds: a dead delivery (owns a ledger row), a key conflict
-- and a parked event (own none, and are not in the conservation equation).
CREATE TABLE wonce.dead_letter (
    id              bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind            text        NOT NULL CHECK (kind IN ('delivery', 'key_conflict', 'parked')),
    state           text        NOT NULL DEFAULT 'dead' CHECK (state IN ('dead', 'replayed', 'discarded')),
    reason          text        NOT NULL CHECK (reason IN (
                        'invalid_payload', 'permanent', 'attempts_exhausted', 'trap', 'budget',
                        'crash_suspect', 'key_conflict', 'undecodable', 'no_key', 'oversize', 'unroutable')),
    handler_id      bigint,
    key             text,
    key_rule        text,
    ordering_key    text,
    class           text,
    code            text        NOT NULL,
    message         text        NOT NULL,
    fingerprint     text        NOT NULL,
    round           integer     NOT NULL DEFAULT 0,
    attempts        integer     NOT NULL DEFAULT 0,
    version         bytea,
    owner           text,
    accepted_at     timestamptz NOT NULL,
    first_failed_at timestamptz NOT NULL,
    last_failed_at  timestamptz NOT NULL,
    acted_at        timestamptz,
    payload_digest  bytea,
    hash_rule       text,
    via             text        NOT NULL,
    event_id        text,
    source          text        NOT NULL,
    event_type      text        NOT NULL,
    subject         text,
    event_time      timestamptz,
    content_type    text,
    data_schema     text,
    traceparent     text,
    extensions      text[]      NOT NULL DEFAULT '{}',
    data            bytea       NOT NULL,
    CHECK (kind = 'parked' OR (handler_id IS NOT NULL AND key IS NOT NULL AND payload_digest IS NOT NULL))
);
CREATE UNIQUE INDEX dead_letter_delivery ON wonce.dead_letter (handler_id, key)
    WHERE kind = 'delivery' AND state <> 'replayed';
CREATE INDEX dead_letter_open ON wonce.dead_letter (handler_id, id) WHERE state = 'dead';
CREATE INDEX dead_letter_key ON wonce.dead_letter (handler_id, key);
