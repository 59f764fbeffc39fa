-- Claims and settlements whose cost depends neither on the backlog nor on the statistics that a plan was made
-- with. A table that is empty most of the time looks to the planner as if any index would do: a claim made with
-- such a plan sorted the whole backlog, a settlement walked over all of it, and the look by key read the handler's
-- whole ledger. So the hot functions leave the planner one way only: sorts and bitmaps are off, a row is
-- looked up by its key in a subquery with a limit, and where it is found by id, `handler_id + 0` hides the
-- column from the other indexes.
--
-- A claim begins where the host's last one ended. From the start it would walk over every row that
-- its neighbours hold and over every row that is settled but not yet vacuumed: with eight claims of 32 at
-- work that was most of what a claim cost.

-- Claims up to `p_limit` due deliveries behind (`p_after_due`, `p_after_id`) and locks them: the open
-- transaction is the lease. Where nothing is due behind that place, it looks from the start (id 0).
-- An ordered handler gets, of as many lanes as it
-- takes, the heads of each ordering key with their followers behind them.
DROP FUNCTION wonce.claim(bigint, bytea, integer, smallint);
CREATE FUNCTION wonce.claim(
    p_handler bigint, p_secret bytea, p_limit integer, p_first_lane smallint,
    p_after_due timestamptz, p_after_id bigint
) RETURNS TABLE (
    inbox_id bigint, due_at timestamptz, key text, ordering_key text, round integer, attempt integer,
    accepted_at timestamptz, via text, event_id text, source text, event_type text, subject text,
    event_time timestamptz, content_type text, data_schema text, traceparent text,
    extensions text[], data bytea,
    marks integer, repeat text, xact text, started_at timestamptz
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET enable_sort = off
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
    after_due timestamptz := p_after_due;
    after_id bigint := p_after_id;
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
        LOOP
            RETURN QUERY
            SELECT d.id, d.due_at, d.key, d.ordering_key, d.round, d.attempt + 1,
                   d.accepted_at, d.via, d.event_id, d.source, d.event_type, d.subject,
                   d.event_time, d.content_type, d.data_schema, d.traceparent, d.extensions, d.data,
                   CASE WHEN has_marks THEN wonce.marks_of(p_handler, d.key) ELSE 0 END,
                   CASE WHEN p.key IS NOT NULL
                        THEN wonce.repeat_of(d.hash_rule, d.payload_digest, p.hash_rule, p.payload_digest) END,
                   pg_current_xact_id()::text, now()
            FROM (SELECT c.*, sum(octet_length(c.data)) OVER w - octet_length(c.data) AS bytes_before
                  FROM (SELECT i.* FROM wonce.inbox i
                        WHERE i.handler_id = p_handler AND i.lane IS NULL AND i.due_at <= due
                          AND (i.due_at, i.id) > (after_due, after_id)
                        ORDER BY i.due_at, i.id LIMIT p_limit
                        FOR UPDATE SKIP LOCKED) AS c
                  WINDOW w AS (ROWS UNBOUNDED PRECEDING)) AS d
            LEFT JOIN LATERAL (SELECT * FROM wonce.processed_events p
                               WHERE p.handler_id = d.handler_id AND p.key = d.key LIMIT 1) AS p ON true
            WHERE d.bytes_before < most_bytes;
            EXIT WHEN FOUND OR after_id = 0;
            after_due := '-infinity';
            after_id := 0;
        END LOOP;
    ELSE
        RETURN QUERY
        SELECT d.id, d.due_at, d.key, d.ordering_key, d.round, d.attempt + 1,
               d.accepted_at, d.via, d.event_id, d.source, d.event_type, d.subject,
               d.event_time, d.content_type, d.data_schema, d.traceparent, d.extensions, d.data,
               CASE WHEN has_marks THEN wonce.marks_of(p_handler, d.key) ELSE 0 END,
               CASE WHEN p.key IS NOT NULL
                    THEN wonce.repeat_of(d.hash_rule, d.payload_digest, p.hash_rule, p.payload_digest) END,
               pg_current_xact_id()::text, now()
        FROM (SELECT c.*, sum(octet_length(c.data)) OVER w - octet_length(c.data) AS bytes_before
              FROM (SELECT i.* FROM wonce.inbox i WHERE i.id = ANY (ids) ORDER BY i.id FOR UPDATE) AS c
              WINDOW w AS (ROWS UNBOUNDED PRECEDING)) AS d
        LEFT JOIN LATERAL (SELECT * FROM wonce.processed_events p
                           WHERE p.handler_id = d.handler_id AND p.key = d.key LIMIT 1) AS p ON true
        WHERE d.bytes_before < most_bytes;
    END IF;
END
$$;

-- Settles deliveries as handled, all of one claim. The host sends COMMIT in the same trip, so one
-- that is not ours any more, or whose key is settled already, must abort the transaction: SQLSTATE
-- WN001. The claim's own transaction settles, so what it locked nobody has moved. `p_marked` are the keys
-- that carry a crash mark.
DROP FUNCTION wonce.settle_done(bigint, bytea, text, bytea, bigint[], integer[], integer[], text[], text[]);
CREATE FUNCTION wonce.settle_done(
    p_handler bigint, p_secret bytea, p_xact text, p_version bytea,
    p_inbox_ids bigint[], p_ignored_ids bigint[], p_ignored_reasons text[], p_marked text[]
) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off
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
        WHERE i.id = ANY (p_inbox_ids) AND i.handler_id + 0 = p_handler
          AND EXISTS (SELECT FROM wonce.handler h WHERE h.id = p_handler AND h.secret_hash = sha256(p_secret))
        RETURNING i.*
    )
    INSERT INTO wonce.processed_events (
        handler_id, key, outcome, ignored_reason, payload_digest, hash_rule, key_rule, ordering_key,
        via, source, event_id, event_type, traceparent, round, attempts, version, accepted_at)
    SELECT d.handler_id, d.key, CASE WHEN d.id = ANY (p_ignored_ids) THEN 'ignored' ELSE 'done' END,
           CASE WHEN d.id = ANY (p_ignored_ids) THEN p_ignored_reasons[array_position(p_ignored_ids, d.id)] END,
           d.payload_digest, d.hash_rule, d.key_rule, d.ordering_key,
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

-- Locks a delivery that is to be settled in another way, if it is still as it was claimed.
CREATE OR REPLACE FUNCTION wonce.settling(
    p_handler bigint, p_secret bytea, p_inbox_id bigint, p_round integer, p_attempt integer, p_xact text
) RETURNS wonce.inbox
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
    delivery wonce.inbox;
BEGIN
    PERFORM wonce.authorize(p_handler, p_secret);
    IF p_xact IS NOT NULL AND p_xact <> pg_current_xact_id()::text THEN
        RAISE EXCEPTION 'wonce: the transaction that claimed delivery % is not the one that settles it', p_inbox_id
            USING ERRCODE = 'invalid_transaction_state';
    END IF;
    SELECT * INTO delivery FROM wonce.inbox i
    WHERE i.id = p_inbox_id AND i.handler_id + 0 = p_handler
      AND i.round = p_round AND i.attempt + 1 = p_attempt
    FOR UPDATE SKIP LOCKED;
    RETURN delivery;
END
$$;

ALTER FUNCTION wonce.settle_retry(bigint, bytea, bigint, integer, integer, text, interval, text, text, text, bigint,
    bytea, uuid, text, integer) SET enable_seqscan = off;
ALTER FUNCTION wonce.settle_dead(bigint, bytea, bigint, integer, integer, text, text, text, text, text, bigint,
    bytea, uuid, text, integer, text, text) SET enable_seqscan = off;
ALTER FUNCTION wonce.settle_repeat(bigint, bytea, bigint, integer, integer, text, text) SET enable_seqscan = off;

-- Closed to everyone; `wonce` opens them to each handler's role on deploy.
REVOKE ALL ON FUNCTION wonce.claim(bigint, bytea, integer, smallint, timestamptz, bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION wonce.settle_done(bigint, bytea, text, bytea, bigint[], bigint[], text[], text[]) FROM PUBLIC;
