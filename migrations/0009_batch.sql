-- Micro-batches: one transaction claims what is due up to a limit, and writes what it did in one
-- statement a kind. A batch of one is the same path.
--
-- The planner settings on the hot functions: one generic plan, because planning anew costs about
-- twice what a call does; and every look by index, because that plan may have been made while a table was
-- still empty.

-- Retention looks for the oldest rows of an append-only table: a block range index does that at
-- almost no cost per insert. The index it replaces began with the handler, and a plan that was made
-- while the table was empty took it for the look by key, which then read the whole ledger.
DROP INDEX wonce.processed_events_time;
CREATE INDEX processed_events_time ON wonce.processed_events USING brin (processed_at) WITH (autosummarize = on);

-- Claims up to `p_limit` due deliveries and locks them: the open transaction is the lease.
-- An ordered handler gets, of as many lanes as it
-- takes, the heads of each ordering key with their followers behind them.
CREATE OR REPLACE FUNCTION wonce.claim(p_handler bigint, p_secret bytea, p_limit integer, p_first_lane smallint)
RETURNS TABLE (
    inbox_id bigint, key text, key_rule text, ordering_key text, round integer, attempt integer,
    accepted_at timestamptz, via text, event_id text, source text, event_type text, subject text,
    event_time timestamptz, content_type text, data_schema text, traceparent text,
    extensions text[], data bytea,
    marks integer, repeat text, xact text, started_at timestamptz
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    -- Payloads of one claim together: what a batch may hold in the host's memory. What is over it
    -- stays locked until the batch ends, and pending.
    most_bytes CONSTANT bigint := 4 << 20;
    ids bigint[] := '{}';
    due timestamptz := clock_timestamp();
    is_active boolean;
    has_lanes boolean;
    has_marks boolean;
BEGIN
    SELECT h.state = 'active', EXISTS (SELECT FROM wonce.lane l WHERE l.handler_id = p_handler),
           EXISTS (SELECT FROM wonce.crash_mark)
    INTO is_active, has_lanes, has_marks
    FROM wonce.handler h WHERE h.id = p_handler AND h.secret_hash = sha256(p_secret);
    IF is_active IS NULL THEN
        PERFORM wonce.authorize(p_handler, p_secret);
    END IF;
    IF NOT is_active THEN
        RETURN;
    END IF;

    IF has_lanes THEN
        ids := wonce.claim_lanes(p_handler, due, p_limit, p_first_lane);
    END IF;

    -- A delivery and the ledger row of its key are there together only when intake took the key again
    -- after it was settled, and then one snapshot shows both. The ledger's key is the last word.
    IF ids = '{}' THEN
        RETURN QUERY
        SELECT d.id, d.key, d.key_rule, d.ordering_key, d.round, d.attempt + 1,
               d.accepted_at, d.via, d.event_id, d.source, d.event_type, d.subject,
               d.event_time, d.content_type, d.data_schema, d.traceparent, d.extensions, d.data,
               CASE WHEN has_marks THEN wonce.marks_of(p_handler, d.key) ELSE 0 END,
               CASE WHEN p.key IS NOT NULL
                    THEN wonce.repeat_of(d.hash_rule, d.payload_digest, p.hash_rule, p.payload_digest) END,
               pg_current_xact_id()::text, now()
        FROM (SELECT c.*, sum(octet_length(c.data)) OVER (ORDER BY c.due_at, c.id) - octet_length(c.data) AS bytes_before
              FROM (SELECT i.* FROM wonce.inbox i
                    WHERE i.handler_id = p_handler AND i.lane IS NULL AND i.due_at <= due
                    ORDER BY i.due_at, i.id LIMIT p_limit
                    FOR UPDATE SKIP LOCKED) AS c) AS d
        LEFT JOIN wonce.processed_events p ON p.handler_id = d.handler_id AND p.key = d.key
        WHERE d.bytes_before < most_bytes;
    ELSE
        RETURN QUERY
        SELECT d.id, d.key, d.key_rule, d.ordering_key, d.round, d.attempt + 1,
               d.accepted_at, d.via, d.event_id, d.source, d.event_type, d.subject,
               d.event_time, d.content_type, d.data_schema, d.traceparent, d.extensions, d.data,
               CASE WHEN has_marks THEN wonce.marks_of(p_handler, d.key) ELSE 0 END,
               CASE WHEN p.key IS NOT NULL
                    THEN wonce.repeat_of(d.hash_rule, d.payload_digest, p.hash_rule, p.payload_digest) END,
               pg_current_xact_id()::text, now()
        FROM (SELECT c.*, sum(octet_length(c.data)) OVER (ORDER BY c.id) - octet_length(c.data) AS bytes_before
              FROM (SELECT i.* FROM wonce.inbox i WHERE i.id = ANY (ids) ORDER BY i.id FOR UPDATE) AS c) AS d
        LEFT JOIN wonce.processed_events p ON p.handler_id = d.handler_id AND p.key = d.key
        WHERE d.bytes_before < most_bytes;
    END IF;
END
$$;

-- How often a host or a backend died under a delivery with no settlement since.
CREATE FUNCTION wonce.marks_of(p_handler bigint, p_key text) RETURNS integer
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce((SELECT m.marks FROM wonce.crash_mark m WHERE m.handler_id = p_handler AND m.key = p_key), 0)
$$;

-- Locks as many lanes as it takes and answers the ids of up to `p_limit` deliveries in them. Looks
-- from a place of the caller's choice and around, so that no lane starves; each half in index
-- order, so that the look stops when the claim is full.
CREATE FUNCTION wonce.claim_lanes(p_handler bigint, p_due timestamptz, p_limit integer, p_first_lane smallint)
RETURNS bigint[]
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    ids bigint[] := '{}';
    candidate smallint;
BEGIN
    IF NOT EXISTS (SELECT FROM wonce.inbox i
                   WHERE i.handler_id = p_handler AND i.lane IS NOT NULL AND i.due_at <= p_due) THEN
        RETURN ids;
    END IF;
    FOR candidate IN
        (SELECT l.lane FROM wonce.lane l
         WHERE l.handler_id = p_handler AND l.lane >= p_first_lane AND wonce.is_lane_due(p_handler, l.lane, p_due)
         ORDER BY l.lane)
        UNION ALL
        (SELECT l.lane FROM wonce.lane l
         WHERE l.handler_id = p_handler AND l.lane < p_first_lane AND wonce.is_lane_due(p_handler, l.lane, p_due)
         ORDER BY l.lane)
    LOOP
        PERFORM FROM wonce.lane l
        WHERE l.handler_id = p_handler AND l.lane = candidate
        FOR UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        -- Again, now that the lane is ours: before the lock a rescheduled head could be passed.
        ids := ids || wonce.due_in_lane(p_handler, candidate, p_due, p_limit - cardinality(ids));
        EXIT WHEN cardinality(ids) >= p_limit;
    END LOOP;
    RETURN ids;
END
$$;

-- Whether the head of any ordering key of this lane is due: stops at the first that is.
CREATE FUNCTION wonce.is_lane_due(p_handler bigint, p_lane smallint, p_due timestamptz) RETURNS boolean
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
    WITH RECURSIVE head AS (
        (SELECT i.ordering_key, i.due_at FROM wonce.inbox i
         WHERE i.handler_id = p_handler AND i.lane = p_lane
         ORDER BY i.ordering_key, i.id LIMIT 1)
        UNION ALL
        SELECT n.ordering_key, n.due_at
        FROM head h
        CROSS JOIN LATERAL (
            SELECT i.ordering_key, i.due_at FROM wonce.inbox i
            WHERE i.handler_id = p_handler AND i.lane = p_lane AND i.ordering_key > h.ordering_key
            ORDER BY i.ordering_key, i.id LIMIT 1) AS n
    )
    SELECT EXISTS (SELECT FROM head WHERE head.due_at <= p_due)
$$;

-- Up to `p_limit` deliveries of a lane in an order that may be handled one after the other: of each
-- ordering key with a due head, the head and what waits behind it. First all heads, then all
-- seconds: no key crowds out another. A loose index scan: one row a key, however many wait.
CREATE FUNCTION wonce.due_in_lane(p_handler bigint, p_lane smallint, p_due timestamptz, p_limit integer)
RETURNS bigint[]
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
    WITH RECURSIVE head AS (
        (SELECT i.ordering_key, i.due_at FROM wonce.inbox i
         WHERE i.handler_id = p_handler AND i.lane = p_lane
         ORDER BY i.ordering_key, i.id LIMIT 1)
        UNION ALL
        SELECT n.ordering_key, n.due_at
        FROM head h
        CROSS JOIN LATERAL (
            SELECT i.ordering_key, i.due_at FROM wonce.inbox i
            WHERE i.handler_id = p_handler AND i.lane = p_lane AND i.ordering_key > h.ordering_key
            ORDER BY i.ordering_key, i.id LIMIT 1) AS n
    ), chosen AS (
        SELECT f.id
        FROM head h
        CROSS JOIN LATERAL (
            SELECT i.id, row_number() OVER w AS place, bool_and(i.due_at <= p_due) OVER w AS open
            FROM (SELECT x.id, x.due_at FROM wonce.inbox x
                  WHERE x.handler_id = p_handler AND x.lane = p_lane AND x.ordering_key = h.ordering_key
                  ORDER BY x.id LIMIT p_limit) AS i
            WINDOW w AS (ORDER BY i.id)) AS f
        WHERE h.due_at <= p_due AND f.open
        ORDER BY f.place, f.id
        LIMIT p_limit
    )
    SELECT ARRAY(SELECT c.id FROM chosen c ORDER BY c.id)
$$;

DROP FUNCTION wonce.due_heads(bigint, smallint, timestamptz, integer);
DROP FUNCTION wonce.has_due_lanes(bigint, timestamptz);

-- Settles deliveries as handled, all of one claim. The host sends COMMIT in the same trip, so one
-- that is not ours any more, or whose key is settled already, must abort the transaction: SQLSTATE
-- WN001. `p_marked` are the keys that carry a crash mark.
DROP FUNCTION wonce.settle_done(bigint, bytea, bigint, integer, integer, text, text, bytea, integer);
CREATE FUNCTION wonce.settle_done(
    p_handler bigint, p_secret bytea, p_xact text, p_version bytea,
    p_inbox_ids bigint[], p_rounds integer[], p_attempts integer[], p_ignored_reasons text[], p_marked text[]
) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    settled bigint;
BEGIN
    IF p_xact <> pg_current_xact_id()::text THEN
        RAISE EXCEPTION 'wonce: the transaction that claimed these deliveries is not the one that settles them'
            USING ERRCODE = 'invalid_transaction_state';
    END IF;
    -- A key that is settled already violates the ledger's primary key, which the host takes for the
    -- same as WN001: ON CONFLICT would cost more than all else of the insert.
    WITH gone AS (
        DELETE FROM wonce.inbox i
        USING wonce.handler h,
              unnest(p_inbox_ids, p_rounds, p_attempts, p_ignored_reasons) AS s (id, round, attempt, ignored_reason)
        WHERE h.id = p_handler AND h.secret_hash = sha256(p_secret)
          AND i.id = s.id AND i.handler_id = h.id AND i.round = s.round AND i.attempt + 1 = s.attempt
        RETURNING i.*, s.ignored_reason
    )
    INSERT INTO wonce.processed_events (
        handler_id, key, outcome, ignored_reason, payload_digest, hash_rule, key_rule, ordering_key,
        via, source, event_id, event_type, traceparent, round, attempts, version, accepted_at)
    SELECT d.handler_id, d.key, CASE WHEN d.ignored_reason IS NULL THEN 'done' ELSE 'ignored' END,
           d.ignored_reason, d.payload_digest, d.hash_rule, d.key_rule, d.ordering_key,
           d.via, d.source, d.event_id, d.event_type, d.traceparent, d.round, d.attempt + 1, p_version, d.accepted_at
    FROM gone d;
    GET DIAGNOSTICS settled = ROW_COUNT;
    IF settled < cardinality(p_inbox_ids) THEN
        PERFORM wonce.authorize(p_handler, p_secret);
        RAISE EXCEPTION 'wonce: % of % deliveries were settled or moved by somebody else',
            cardinality(p_inbox_ids) - settled, cardinality(p_inbox_ids) USING ERRCODE = 'WN001';
    END IF;
    IF cardinality(p_marked) > 0 THEN
        DELETE FROM wonce.crash_mark m WHERE m.handler_id = p_handler AND m.key = ANY (p_marked);
    END IF;
    RETURN true;
END
$$;

-- Plans the effects of a batch in the handlers' transaction, in the order they were emitted. An
-- effect whose dedup key is known already is not planned again. The attributes of an effect are a
-- slice of `p_attributes`: name, value, name, value, ...
DROP FUNCTION wonce.emit(bigint, bytea, text, text, text, text, text, text, text[], bytea, text, interval);
CREATE FUNCTION wonce.emit(
    p_handler bigint, p_secret bytea, p_keys text[], p_sinks text[], p_dedup_keys text[], p_effect_types text[],
    p_content_types text[], p_ordering_keys text[], p_attributes text[], p_attributes_from integer[],
    p_attributes_to integer[], p_datas bytea[], p_traceparents text[], p_delays_us bigint[]
) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
    PERFORM wonce.authorize(p_handler, p_secret);
    INSERT INTO wonce.outbox (handler_id, key, sink, dedup_key, effect_type, content_type,
                              ordering_key, attributes, data, traceparent, due_at)
    SELECT p_handler, e.key, e.sink, e.dedup_key, e.effect_type, e.content_type, e.ordering_key,
           p_attributes[e.attributes_from:e.attributes_to], e.data, e.traceparent,
           clock_timestamp() + e.delay_us * interval '1 microsecond'
    FROM unnest(p_keys, p_sinks, p_dedup_keys, p_effect_types, p_content_types, p_ordering_keys,
                p_attributes_from, p_attributes_to, p_datas, p_traceparents, p_delays_us)
             WITH ORDINALITY AS e (key, sink, dedup_key, effect_type, content_type, ordering_key,
                                   attributes_from, attributes_to, data, traceparent, delay_us, n)
    ORDER BY e.n
    ON CONFLICT (handler_id, sink, dedup_key) DO NOTHING;
    RETURN true;
END
$$;

ALTER FUNCTION wonce.settle_retry(bigint, bytea, bigint, integer, integer, text, interval, text, text, text, bigint,
    bytea, uuid, text, integer) SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION wonce.settle_dead(bigint, bytea, bigint, integer, integer, text, text, text, text, text, bigint,
    bytea, uuid, text, integer, text, text) SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION wonce.accept(bigint[], text[], text[], text[], bytea[], text[], integer[], text[], text[], text[], text[],
    text[], timestamptz[], text[], text[], text[], text[], integer[], integer[], bytea[])
    SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION wonce.accept(bigint[], text[], text[], text[], bytea[], text[], integer[], text[], text[], text[], text[],
    text[], timestamptz[], text[], text[], text[], text[], integer[], integer[], bytea[]) SET enable_seqscan = off;
ALTER FUNCTION wonce.accept(bigint[], text[], text[], text[], bytea[], text[], integer[], text[], text[], text[], text[],
    text[], timestamptz[], text[], text[], text[], text[], integer[], integer[], bytea[]) SET enable_hashjoin = off;
ALTER FUNCTION wonce.accept(bigint[], text[], text[], text[], bytea[], text[], integer[], text[], text[], text[], text[],
    text[], timestamptz[], text[], text[], text[], text[], integer[], integer[], bytea[]) SET enable_mergejoin = off;

-- Closed to everyone; `wonce` opens claim, settle_* and emit to each handler's role on deploy.
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA wonce FROM PUBLIC;
