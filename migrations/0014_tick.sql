-- What the live stream passes from host to host. Unlogged: after a crash of the database nobody
-- wants the ticks of before, and they must cost next to nothing.

-- The last minutes of every boot, one row a second.
CREATE UNLOGGED TABLE wonce.tick (
    boot_id uuid        NOT NULL,
    seq     bigint      NOT NULL,
    at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- A `HostTick` of the live stream's protocol. Text, because nothing in the database reads it.
    body    text        NOT NULL,
    PRIMARY KEY (boot_id, seq)
) WITH (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 1000);
CREATE INDEX tick_time ON wonce.tick (at);

-- What one host looked up in the name of all: the latest of each kind.
CREATE UNLOGGED TABLE wonce.sample (
    kind    text        PRIMARY KEY CHECK (kind IN ('gauges', 'books', 'alerts')),
    at      timestamptz NOT NULL,
    boot_id uuid        NOT NULL,
    took_ms bigint      NOT NULL,
    body    text        NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 200);

-- The planner's estimate of `SELECT FROM <p_what>`, for what is too much to count. Only statements
-- of ours call it, with literals quoted. Volatile, because a stable function may not explain.
CREATE FUNCTION wonce.estimated_rows(p_what text) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT JSON) SELECT FROM ' || p_what INTO plan;
    RETURN (plan -> 0 -> 'Plan' ->> 'Plan Rows')::numeric::bigint;
END
$$;
REVOKE ALL ON FUNCTION wonce.estimated_rows(text) FROM PUBLIC;
REVOKE ALL ON wonce.tick, wonce.sample FROM PUBLIC;
