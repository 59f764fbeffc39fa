-- Hosts, what people did, and events enqueued from SQL.

CREATE TABLE wonce.host (
    boot_id    uuid        PRIMARY KEY,
    name       text        NOT NULL,
    version    text        NOT NULL,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    last_seen  timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- Set by a clean stop only.
    stopped_at timestamptz
);

CREATE TABLE wonce.action (
    id     bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor  text        NOT NULL,
    verb   text        NOT NULL CHECK (verb IN ('deploy', 'pause', 'resume', 'replay', 'discard')),
    target text        NOT NULL,
    reason text        NOT NULL DEFAULT '',
    detail jsonb       NOT NULL DEFAULT '{}'
);

-- Events that SQL callers enqueued in their own transactions; a host routes them and moves
-- them to the inbox in one transaction, in the order of this table.
CREATE TABLE wonce.submitted (
    id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    via          text        NOT NULL DEFAULT 'sql',
    event_id     text,
    source       text        NOT NULL,
    event_type   text        NOT NULL,
    subject      text,
    content_type text        NOT NULL,
    traceparent  text,
    extensions   text[]      NOT NULL DEFAULT '{}',
    data         bytea       NOT NULL,
    submitted_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Enqueues one event inside the caller's transaction: it exists if and only if the caller
-- commits. Grant EXECUTE (and USAGE on schema wonce) to the roles that may call it.
CREATE FUNCTION wonce.enqueue(
    event_type text,
    data bytea,
    event_id text DEFAULT NULL,
    source text DEFAULT 'sql',
    subject text DEFAULT NULL,
    content_type text DEFAULT 'application/json',
    traceparent text DEFAULT NULL
) RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    INSERT INTO wonce.submitted (event_id, source, event_type, subject, content_type, traceparent, data)
    VALUES (event_id, source, event_type, subject, content_type, traceparent, data)
    RETURNING id
$$;

-- The same for a JSON document.
CREATE FUNCTION wonce.enqueue_json(
    event_type text,
    data json,
    event_id text DEFAULT NULL,
    source text DEFAULT 'sql',
    subject text DEFAULT NULL
) RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT wonce.enqueue(event_type, convert_to(data::text, 'UTF8'), event_id, source, subject)
$$;
