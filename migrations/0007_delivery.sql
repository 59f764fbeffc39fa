-- The life of a claimed delivery. These functions run on the handler's own connection, as the
-- schema's owner; each asks for the secret of the handler it acts for, as a bound parameter.

-- Fails unless the secret is the handler's own.
CREATE FUNCTION wonce.authorize(p_handler bigint, p_secret bytea) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM wonce.handler h
                   WHERE h.id = p_handler AND h.secret_hash = sha256(p_secret)) THEN
        RAISE EXCEPTION 'wonce: this call is for the host of handler % only', p_handler
            USING ERRCODE = 'insufficient_privilege';
    END IF;
END
$$;

-- Claims up to `p_limit` due deliveries and locks them: the open transaction is the lease.
-- Every statement below sees a fresh snapshot (VOLATILE, READ COMMITTED), which the dedup look
-- and the second look inside a lane depend on. An ordered handler gets the heads of one lane.
CREATE FUNCTION wonce.claim(p_handler bigint, p_secret bytea, p_limit integer, p_first_lane smallint)
RETURNS TABLE (
    inbox_id bigint, key text, key_rule text, ordering_key text, round integer, attempt integer,
    accepted_at timestamptz, via text, event_id text, source text, event_type text, subject text,
    event_time timestamptz, content_type text, data_schema text, traceparent text,
    extensions text[], data bytea,
    marks integer, repeat text, xact text, started_at timestamptz
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    ids bigint[] := '{}';
    due timestamptz := clock_timestamp();
    candidate smallint;
BEGIN
    PERFORM wonce.authorize(p_handler, p_secret);
    IF NOT EXISTS (SELECT FROM wonce.handler h WHERE h.id = p_handler AND h.state = 'active') THEN
        RETURN;
    END IF;

    FOR candidate IN
        -- From a place of the caller's choice and around, so that no lane starves; each half in
        -- index order, so that the look stops at the first lane with work.
        (SELECT l.lane FROM wonce.lane l
         WHERE l.handler_id = p_handler AND l.lane >= p_first_lane AND wonce.has_due_lanes(p_handler, due)
           AND wonce.due_heads(p_handler, l.lane, due, 1) <> '{}'
         ORDER BY l.lane)
        UNION ALL
        (SELECT l.lane FROM wonce.lane l
         WHERE l.handler_id = p_handler AND l.lane < p_first_lane AND wonce.has_due_lanes(p_handler, due)
           AND wonce.due_heads(p_handler, l.lane, due, 1) <> '{}'
         ORDER BY l.lane)
    LOOP
        PERFORM FROM wonce.lane l
        WHERE l.handler_id = p_handler AND l.lane = candidate
        FOR UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        -- Again, now that the lane is ours: before the lock a rescheduled head could be passed.
        ids := wonce.due_heads(p_handler, candidate, due, p_limit);
        EXIT WHEN ids <> '{}';
    END LOOP;

    IF ids = '{}' THEN
        ids := ARRAY(SELECT i.id FROM wonce.inbox i
                     WHERE i.handler_id = p_handler AND i.lane IS NULL AND i.due_at <= due
                     ORDER BY i.due_at, i.id LIMIT p_limit
                     FOR UPDATE SKIP LOCKED);
    ELSE
        PERFORM FROM wonce.inbox i WHERE i.id = ANY (ids) ORDER BY i.id FOR UPDATE;
    END IF;

    RETURN QUERY
    SELECT i.id, i.key, i.key_rule, i.ordering_key, i.round, i.attempt + 1,
           i.accepted_at, i.via, i.event_id, i.source, i.event_type, i.subject,
           i.event_time, i.content_type, i.data_schema, i.traceparent, i.extensions, i.data,
           coalesce(m.marks, 0),
           CASE WHEN p.key IS NOT NULL
                THEN wonce.repeat_of(i.hash_rule, i.payload_digest, p.hash_rule, p.payload_digest) END,
           pg_current_xact_id()::text, now()
    FROM unnest(ids) WITH ORDINALITY AS c (id, n)
    JOIN wonce.inbox i ON i.id = c.id
    LEFT JOIN wonce.processed_events p ON p.handler_id = i.handler_id AND p.key = i.key
    LEFT JOIN wonce.crash_mark m ON m.handler_id = i.handler_id AND m.key = i.key
    ORDER BY c.n;
END
$$;

-- The due heads of a lane's ordering keys, oldest first: a loose index scan that touches one
-- row a key, however many wait behind it.
CREATE FUNCTION wonce.due_heads(p_handler bigint, p_lane smallint, p_due timestamptz, p_limit integer)
RETURNS bigint[]
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
    WITH RECURSIVE head AS (
        (SELECT i.ordering_key, i.id, i.due_at FROM wonce.inbox i
         WHERE i.handler_id = p_handler AND i.lane = p_lane
         ORDER BY i.ordering_key, i.id LIMIT 1)
        UNION ALL
        SELECT n.ordering_key, n.id, n.due_at
        FROM head h
        CROSS JOIN LATERAL (
            SELECT i.ordering_key, i.id, i.due_at FROM wonce.inbox i
            WHERE i.handler_id = p_handler AND i.lane = p_lane AND i.ordering_key > h.ordering_key
            ORDER BY i.ordering_key, i.id LIMIT 1) AS n
    )
    SELECT ARRAY(SELECT head.id FROM head WHERE head.due_at <= p_due ORDER BY head.id LIMIT p_limit)
$$;

-- Whether any ordered delivery is due at all: spares an idle handler the walk over its lanes.
CREATE FUNCTION wonce.has_due_lanes(p_handler bigint, p_due timestamptz) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM wonce.inbox i
                   WHERE i.handler_id = p_handler AND i.lane IS NOT NULL AND i.due_at <= p_due)
$$;

-- Locks the row that a settlement is about, and refuses when it is not as claimed: another
-- transaction (the guest ended ours), another round or attempt (somebody overtook us), or gone.
CREATE FUNCTION wonce.settling(
    p_handler bigint, p_secret bytea, p_inbox_id bigint, p_round integer, p_attempt integer, p_xact text
) RETURNS wonce.inbox
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
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
    WHERE i.id = p_inbox_id AND i.handler_id = p_handler
      AND i.round = p_round AND i.attempt + 1 = p_attempt
    FOR UPDATE SKIP LOCKED;
    RETURN delivery;
END
$$;

-- Settles a delivery as handled. The host sends COMMIT in the same trip, so a delivery that is not
-- ours any more, or whose key is settled already, must abort the transaction: SQLSTATE WN001.
CREATE FUNCTION wonce.settle_done(
    p_handler bigint, p_secret bytea, p_inbox_id bigint, p_round integer, p_attempt integer, p_xact text,
    p_ignored_reason text, p_version bytea, p_marks integer
) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    d wonce.inbox := wonce.settling(p_handler, p_secret, p_inbox_id, p_round, p_attempt, p_xact);
BEGIN
    IF d.id IS NULL THEN
        RAISE EXCEPTION 'wonce: delivery % is not as it was claimed', p_inbox_id USING ERRCODE = 'WN001';
    END IF;
    INSERT INTO wonce.processed_events (
        handler_id, key, outcome, ignored_reason, payload_digest, hash_rule, key_rule, ordering_key,
        via, source, event_id, event_type, traceparent, round, attempts, version, accepted_at)
    VALUES (
        d.handler_id, d.key, CASE WHEN p_ignored_reason IS NULL THEN 'done' ELSE 'ignored' END,
        p_ignored_reason, d.payload_digest, d.hash_rule, d.key_rule, d.ordering_key,
        d.via, d.source, d.event_id, d.event_type, d.traceparent, d.round, p_attempt, p_version, d.accepted_at)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'wonce: key "%" is settled already', d.key USING ERRCODE = 'WN001';
    END IF;
    DELETE FROM wonce.inbox WHERE id = d.id;
    IF p_marks > 0 THEN
        DELETE FROM wonce.crash_mark m WHERE m.handler_id = d.handler_id AND m.key = d.key;
    END IF;
    RETURN true;
END
$$;

-- Counts a failed attempt and puts the delivery off. `p_class` and the rest describe the fault.
CREATE FUNCTION wonce.settle_retry(
    p_handler bigint, p_secret bytea, p_inbox_id bigint, p_round integer, p_attempt integer, p_xact text,
    p_after interval, p_class text, p_code text, p_message text, p_duration_us bigint,
    p_version bytea, p_host uuid, p_log_tail text, p_marks integer
) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    d wonce.inbox := wonce.settling(p_handler, p_secret, p_inbox_id, p_round, p_attempt, p_xact);
BEGIN
    IF d.id IS NULL THEN
        RETURN false;
    END IF;
    UPDATE wonce.inbox SET attempt = p_attempt, due_at = clock_timestamp() + p_after WHERE id = d.id;
    INSERT INTO wonce.attempt (handler_id, key, round, attempt, decision, class, code, message,
                               duration_us, version, host, log_tail)
    VALUES (d.handler_id, d.key, d.round, p_attempt, 'retry', p_class, p_code, p_message,
            p_duration_us, p_version, p_host, p_log_tail);
    IF p_marks > 0 THEN
        DELETE FROM wonce.crash_mark m WHERE m.handler_id = d.handler_id AND m.key = d.key;
    END IF;
    RETURN true;
END
$$;

-- Ends a delivery as dead: attempt, ledger row and dead letter in one go.
CREATE FUNCTION wonce.settle_dead(
    p_handler bigint, p_secret bytea, p_inbox_id bigint, p_round integer, p_attempt integer, p_xact text,
    p_reason text, p_class text, p_code text, p_message text, p_duration_us bigint,
    p_version bytea, p_host uuid, p_log_tail text, p_marks integer, p_fingerprint text, p_owner text
) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    d wonce.inbox := wonce.settling(p_handler, p_secret, p_inbox_id, p_round, p_attempt, p_xact);
BEGIN
    IF d.id IS NULL THEN
        RETURN false;
    END IF;
    INSERT INTO wonce.processed_events (
        handler_id, key, outcome, payload_digest, hash_rule, key_rule, ordering_key,
        via, source, event_id, event_type, traceparent, round, attempts, version, accepted_at)
    VALUES (
        d.handler_id, d.key, 'dead', d.payload_digest, d.hash_rule, d.key_rule, d.ordering_key,
        d.via, d.source, d.event_id, d.event_type, d.traceparent, d.round, p_attempt, p_version, d.accepted_at)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'wonce: key "%" is settled already', d.key USING ERRCODE = 'WN001';
    END IF;
    INSERT INTO wonce.attempt (handler_id, key, round, attempt, decision, class, code, message,
                               duration_us, version, host, log_tail)
    VALUES (d.handler_id, d.key, d.round, p_attempt, 'dead', p_class, p_code, p_message,
            p_duration_us, p_version, p_host, p_log_tail);
    INSERT INTO wonce.dead_letter (
        kind, reason, handler_id, key, key_rule, ordering_key, class, code, message, fingerprint,
        round, attempts, version, owner, accepted_at, first_failed_at, last_failed_at,
        payload_digest, hash_rule, via, event_id, source, event_type, subject, event_time,
        content_type, data_schema, traceparent, extensions, data)
    SELECT 'delivery', p_reason, d.handler_id, d.key, d.key_rule, d.ordering_key, p_class, p_code,
           p_message, p_fingerprint, d.round, p_attempt, p_version, p_owner, d.accepted_at,
           coalesce(min(a.failed_at), clock_timestamp()), clock_timestamp(),
           d.payload_digest, d.hash_rule, d.via, d.event_id, d.source, d.event_type, d.subject,
           d.event_time, d.content_type, d.data_schema, d.traceparent, d.extensions, d.data
    FROM wonce.attempt a
    WHERE a.handler_id = d.handler_id AND a.key = d.key AND a.round = d.round;
    DELETE FROM wonce.inbox WHERE id = d.id;
    IF p_marks > 0 THEN
        DELETE FROM wonce.crash_mark m WHERE m.handler_id = d.handler_id AND m.key = d.key;
    END IF;
    RETURN true;
END
$$;

-- Ends a delivery whose key turned out to be settled: a late duplicate is counted, a late key
-- conflict is kept as a dead letter of its own as well.
CREATE FUNCTION wonce.settle_repeat(
    p_handler bigint, p_secret bytea, p_inbox_id bigint, p_round integer, p_attempt integer, p_xact text,
    p_repeat text
) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    d wonce.inbox := wonce.settling(p_handler, p_secret, p_inbox_id, p_round, p_attempt, p_xact);
BEGIN
    IF d.id IS NULL THEN
        RETURN false;
    END IF;
    IF p_repeat = 'key_conflict' THEN
        INSERT INTO wonce.dead_letter (
            kind, reason, handler_id, key, key_rule, ordering_key, code, message, fingerprint,
            owner, accepted_at, first_failed_at, last_failed_at, payload_digest, hash_rule,
            via, event_id, source, event_type, subject, event_time, content_type, data_schema,
            traceparent, extensions, data)
        VALUES (
            'key_conflict', 'key_conflict', d.handler_id, d.key, d.key_rule, d.ordering_key,
            'key-conflict', 'another payload was handled under this key',
            wonce.conflict_fingerprint(d.handler_id),
            (SELECT h.owner FROM wonce.handler h WHERE h.id = d.handler_id), d.accepted_at, clock_timestamp(), clock_timestamp(), d.payload_digest, d.hash_rule,
            d.via, d.event_id, d.source, d.event_type, d.subject, d.event_time, d.content_type,
            d.data_schema, d.traceparent, d.extensions, d.data);
    END IF;
    INSERT INTO wonce.tally (handler_id, duplicate_late, key_conflict)
    VALUES (d.handler_id, 1, CASE WHEN p_repeat = 'key_conflict' THEN 1 ELSE 0 END);
    DELETE FROM wonce.inbox WHERE id = d.id;
    RETURN true;
END
$$;

-- Plans one effect in the handler's transaction. An effect whose dedup key is known already is
-- not planned again.
CREATE FUNCTION wonce.emit(
    p_handler bigint, p_secret bytea, p_key text, p_sink text, p_dedup_key text, p_effect_type text,
    p_content_type text, p_ordering_key text, p_attributes text[], p_data bytea, p_traceparent text,
    p_delay interval
) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM wonce.authorize(p_handler, p_secret);
    INSERT INTO wonce.outbox (handler_id, key, sink, dedup_key, effect_type, content_type,
                              ordering_key, attributes, data, traceparent, due_at)
    VALUES (p_handler, p_key, p_sink, p_dedup_key, p_effect_type, p_content_type,
            p_ordering_key, p_attributes, p_data, p_traceparent,
            clock_timestamp() + coalesce(p_delay, interval '0'))
    ON CONFLICT (handler_id, sink, dedup_key) DO NOTHING;
    RETURN FOUND;
END
$$;

-- Closed to everyone; `wonce` opens claim, settle_* and emit to each handler's role on deploy.
REVOKE ALL ON SCHEMA wonce FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA wonce FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA wonce FROM PUBLIC;
