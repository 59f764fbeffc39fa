-- Effects: planned in the handler's transaction, carried out by the relay.

CREATE TABLE wonce.outbox (
    id               bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    handler_id       bigint      NOT NULL,
    key              text        NOT NULL,
    sink             text        NOT NULL,
    dedup_key        text        NOT NULL CHECK (octet_length(dedup_key) BETWEEN 1 AND 512),
    effect_type      text        NOT NULL,
    content_type     text,
    ordering_key     text        CHECK (octet_length(ordering_key) BETWEEN 1 AND 512),
    attributes       text[]      NOT NULL DEFAULT '{}',
    data             bytea       NOT NULL,
    traceparent      text,
    state            text        NOT NULL DEFAULT 'planned'
                     CHECK (state IN ('planned', 'sending', 'confirmed', 'refused', 'unknown')),
    attempt          integer     NOT NULL DEFAULT 0,
    due_at           timestamptz NOT NULL,
    planned_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- The host boot that sends it, and when that boot must have answered.
    sending_host     uuid,
    sending_deadline timestamptz,
    settled_at       timestamptz,
    last_error       text,
    -- An earlier attempt may have arrived: from then on the effect is never called refused.
    in_doubt         boolean     NOT NULL DEFAULT false,
    xact             xid8        NOT NULL DEFAULT pg_current_xact_id(),
    UNIQUE (handler_id, sink, dedup_key),
    CHECK ((state = 'sending') = (sending_deadline IS NOT NULL))
) WITH (
    fillfactor = 80,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 2000
);
-- The relay's claim of unordered effects: the earliest due first.
CREATE INDEX outbox_due ON wonce.outbox (sink, due_at, id) WHERE state = 'planned' AND ordering_key IS NULL;
-- Effects whose host may have died.
CREATE INDEX outbox_sending ON wonce.outbox (sending_deadline) WHERE state = 'sending';
-- The head of an ordering key.
CREATE INDEX outbox_ordering ON wonce.outbox (sink, ordering_key, id)
    WHERE ordering_key IS NOT NULL AND state IN ('planned', 'sending');
-- Whatever hosts do, a sink never gets two effects of one ordering key at once.
CREATE UNIQUE INDEX outbox_one_sending ON wonce.outbox (sink, ordering_key)
    WHERE ordering_key IS NOT NULL AND state = 'sending';
-- What is not confirmed, for counts and lists that never walk the history.
CREATE INDEX outbox_open ON wonce.outbox (sink, state, id) WHERE state <> 'confirmed';
-- A delivery's effects.
CREATE INDEX outbox_delivery ON wonce.outbox (handler_id, key);
