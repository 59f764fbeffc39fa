-- Acceptance in time that grows with the events and not with their square: what belongs to an
-- event comes beside its delivery, so that nothing is looked up in an array (an element of a text array is
-- found by walking over all before it), and a commit in which nothing repeats ends after its insert.

DROP FUNCTION wonce.accept(bigint[], text[], text[], text[], bytea[], text[], integer[], text[], text[], text[], text[],
    text[], timestamptz[], text[], text[], text[], text[], integer[], integer[], bytea[]);
DROP FUNCTION wonce.keep_repeats(bigint[], text[], text[], text[], bytea[], text[], integer[], text[], timestamptz[],
    text[], text[], text[], text[], text[], timestamptz[], text[], text[], text[], text[], integer[], integer[], bytea[]);

-- Inserts deliveries, one a (handler, key), and counts them. Answers only of those that are not
-- `accepted`: `duplicate` or `key_conflict`, or `gone` where the original vanished while it was looked for;
-- `delivery` is the place in the arrays.
CREATE FUNCTION wonce.accept(
    handler_ids bigint[], keys text[], key_rules text[], ordering_keys text[],
    digests bytea[], hash_rules text[],
    vias text[], event_ids text[], sources text[], event_types text[], subjects text[],
    event_times timestamptz[], content_types text[], data_schemas text[], traceparents text[],
    extensions_flat text[], extensions_from integer[], extensions_to integer[], datas bytea[]
) RETURNS TABLE (delivery integer, verdict text)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    ids       bigint[];
    landed    bigint;
    verdicts  text[];
    originals timestamptz[];
    arrived   timestamptz := clock_timestamp();
BEGIN
    IF array_remove(ordering_keys, NULL) <> '{}' THEN
        PERFORM wonce.enter_lanes(handler_ids, ordering_keys);
    END IF;

    ids := ARRAY(SELECT nextval('wonce.inbox_id_seq') FROM generate_series(1, cardinality(keys)));

    -- Sorted by (handler, key), so that two shared commits with the same keys cannot deadlock.
    INSERT INTO wonce.inbox (
        id, handler_id, key, key_rule, ordering_key, lane, due_at, accepted_at,
        payload_digest, hash_rule, via, event_id, source, event_type, subject, event_time,
        content_type, data_schema, traceparent, extensions, data)
    SELECT d.id, d.handler_id, d.key, d.key_rule, d.ordering_key, wonce.lane_of(d.ordering_key),
           arrived, arrived, d.digest, d.hash_rule, d.via, d.event_id, d.source,
           d.event_type, d.subject, d.event_time, d.content_type, d.data_schema, d.traceparent,
           CASE WHEN d.extensions_from <= d.extensions_to
                THEN extensions_flat[d.extensions_from:d.extensions_to] ELSE '{}' END,
           d.data
    FROM unnest(ids, handler_ids, keys, key_rules, ordering_keys, digests, hash_rules, vias, event_ids, sources,
                event_types, subjects, event_times, content_types, data_schemas, traceparents,
                extensions_from, extensions_to, datas)
             AS d (id, handler_id, key, key_rule, ordering_key, digest, hash_rule, via, event_id, source,
                   event_type, subject, event_time, content_type, data_schema, traceparent,
                   extensions_from, extensions_to, data)
    WHERE (SELECT true FROM wonce.processed_events p
           WHERE p.handler_id = d.handler_id AND p.key = d.key LIMIT 1) IS NULL
    ORDER BY d.handler_id, d.key COLLATE "C"
    ON CONFLICT (handler_id, key) DO NOTHING;
    GET DIAGNOSTICS landed = ROW_COUNT;

    IF landed = cardinality(keys) THEN
        INSERT INTO wonce.tally (handler_id, accepted)
        SELECT h, count(*) FROM unnest(handler_ids) AS h GROUP BY h;
        RETURN;
    END IF;

    -- A statement of its own: its snapshot sees what the insert waited for.
    SELECT array_agg(r.verdict ORDER BY r.n), array_agg(r.at ORDER BY r.n) INTO verdicts, originals
    FROM (
        SELECT u.n, o.at,
               CASE WHEN mine.id IS NOT NULL THEN 'accepted'
                    WHEN o.rule IS NULL THEN 'gone'
                    ELSE wonce.repeat_of(u.hash_rule, u.digest, o.rule, o.digest) END AS verdict
        FROM unnest(ids, handler_ids, keys, digests, hash_rules)
                 WITH ORDINALITY AS u (id, handler_id, key, digest, hash_rule, n)
        LEFT JOIN LATERAL (SELECT i.id FROM wonce.inbox i WHERE i.id = u.id LIMIT 1) AS mine ON true
        LEFT JOIN LATERAL (
            SELECT i.hash_rule AS rule, i.payload_digest AS digest, i.accepted_at AS at
            FROM wonce.inbox i
            WHERE i.handler_id = u.handler_id AND i.key = u.key AND mine.id IS NULL
            UNION ALL
            SELECT p.hash_rule, p.payload_digest, p.accepted_at
            FROM wonce.processed_events p
            WHERE p.handler_id = u.handler_id AND p.key = u.key AND mine.id IS NULL
            LIMIT 1
        ) AS o ON true
    ) AS r;

    INSERT INTO wonce.tally (handler_id, accepted, duplicate_early, key_conflict)
    SELECT u.handler_id, count(*) FILTER (WHERE u.verdict = 'accepted'),
           count(*) FILTER (WHERE u.verdict = 'duplicate'),
           count(*) FILTER (WHERE u.verdict = 'key_conflict')
    FROM unnest(handler_ids, verdicts) AS u (handler_id, verdict)
    WHERE u.verdict <> 'gone'
    GROUP BY u.handler_id;

    INSERT INTO wonce.duplicate (handler_id, slot, key, via, original_at)
    SELECT DISTINCT ON (u.handler_id) u.handler_id, floor(random() * 1000)::integer, u.key, u.via, u.at
    FROM unnest(handler_ids, keys, vias, verdicts, originals) AS u (handler_id, key, via, verdict, at)
    WHERE u.verdict = 'duplicate'
    ORDER BY u.handler_id
    ON CONFLICT DO NOTHING;

    INSERT INTO wonce.dead_letter (
        kind, reason, handler_id, key, key_rule, ordering_key, code, message, fingerprint, owner,
        accepted_at, first_failed_at, last_failed_at, payload_digest, hash_rule,
        via, event_id, source, event_type, subject, event_time, content_type, data_schema,
        traceparent, extensions, data)
    SELECT 'key_conflict', 'key_conflict', d.handler_id, d.key, d.key_rule, d.ordering_key,
           'key-conflict', format('another payload was accepted under this key at %s', d.at),
           wonce.conflict_fingerprint(d.handler_id), h.owner,
           clock_timestamp(), clock_timestamp(), clock_timestamp(), d.digest, d.hash_rule,
           d.via, d.event_id, d.source, d.event_type, d.subject, d.event_time,
           d.content_type, d.data_schema, d.traceparent,
           extensions_flat[d.extensions_from:d.extensions_to], d.data
    FROM unnest(handler_ids, keys, key_rules, ordering_keys, digests, hash_rules, vias, event_ids, sources,
                event_types, subjects, event_times, content_types, data_schemas, traceparents,
                extensions_from, extensions_to, datas, verdicts, originals)
             AS d (handler_id, key, key_rule, ordering_key, digest, hash_rule, via, event_id, source,
                   event_type, subject, event_time, content_type, data_schema, traceparent,
                   extensions_from, extensions_to, data, verdict, at)
    JOIN wonce.handler h ON h.id = d.handler_id
    WHERE d.verdict = 'key_conflict';

    RETURN QUERY SELECT u.n::integer, u.verdict
    FROM unnest(verdicts) WITH ORDINALITY AS u (verdict, n) WHERE u.verdict <> 'accepted' ORDER BY u.n;
END
$$;

-- Locks the ordering keys of a commit, and makes their lanes. Intake order is commit order within an
-- ordering key: the lock is taken, in one sorted order for everyone, before an id is drawn, and held until
-- the transaction ends.
CREATE FUNCTION wonce.enter_lanes(handler_ids bigint[], ordering_keys text[]) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(k.lock_key)
    FROM (SELECT DISTINCT hashtextextended(o.ordering_key, o.handler_id) AS lock_key
          FROM unnest(handler_ids, ordering_keys) AS o (handler_id, ordering_key)
          WHERE o.ordering_key IS NOT NULL
          ORDER BY 1) AS k;

    INSERT INTO wonce.lane (handler_id, lane)
    SELECT DISTINCT o.handler_id, wonce.lane_of(o.ordering_key)
    FROM unnest(handler_ids, ordering_keys) AS o (handler_id, ordering_key)
    WHERE o.ordering_key IS NOT NULL
      AND NOT EXISTS (SELECT FROM wonce.lane l
                      WHERE l.handler_id = o.handler_id AND l.lane = wonce.lane_of(o.ordering_key))
    ORDER BY 1, 2
    ON CONFLICT DO NOTHING;
END
$$;

-- Intake's own: no handler's role calls them.
REVOKE ALL ON FUNCTION wonce.enter_lanes(bigint[], text[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION wonce.accept(bigint[], text[], text[], text[], bytea[], text[], text[], text[], text[], text[],
    text[], timestamptz[], text[], text[], text[], text[], integer[], integer[], bytea[]) FROM PUBLIC;
