-- Acceptance: many deliveries in one commit.

-- What a second arrival of a known key is. Under different rules nothing can be said of the
-- payloads, so the key decides.
CREATE FUNCTION wonce.repeat_of(new_rule text, new_digest bytea, old_rule text, old_digest bytea)
RETURNS text
LANGUAGE sql IMMUTABLE
AS $$
    SELECT CASE WHEN new_rule = old_rule AND new_digest <> old_digest
                THEN 'key_conflict' ELSE 'duplicate' END
$$;

-- The lane of an ordering key.
CREATE FUNCTION wonce.lane_of(ordering_key text) RETURNS smallint
LANGUAGE sql IMMUTABLE
AS $$ SELECT (hashtextextended(ordering_key, 0) & 1023)::smallint $$;

-- Deliveries of one shared commit as parallel arrays, in arrival order. `event_of` gives each
-- delivery the 1-based index of its event. Answers per delivery `accepted`, `duplicate`,
-- `key_conflict`, or `gone` when the original vanished while this ran (ask again).
-- The caller keeps equal (handler, key) pairs out of one call.
CREATE FUNCTION wonce.accept(
    handler_ids bigint[], keys text[], key_rules text[], ordering_keys text[],
    digests bytea[], hash_rules text[], event_of integer[],
    vias text[], event_ids text[], sources text[], event_types text[], subjects text[],
    event_times timestamptz[], content_types text[], data_schemas text[], traceparents text[],
    extensions_flat text[], extensions_from integer[], extensions_to integer[], datas bytea[]
) RETURNS TABLE (delivery integer, verdict text, original_at timestamptz)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    ids       bigint[];
    inserted  bigint[];
    verdicts  text[];
    originals timestamptz[];
    arrived   timestamptz := clock_timestamp();
BEGIN
    -- Intake order is commit order within an ordering key: the lock is taken, in one sorted
    -- order for everyone, before an id is drawn, and held until this transaction ends.
    PERFORM pg_advisory_xact_lock(k.lock_key)
    FROM (SELECT DISTINCT hashtextextended(o.ordering_key, o.handler_id) AS lock_key
          FROM unnest(handler_ids, ordering_keys) AS o (handler_id, ordering_key)
          WHERE o.ordering_key IS NOT NULL
          ORDER BY 1) AS k;

    ids := ARRAY(SELECT nextval('wonce.inbox_id_seq') FROM generate_series(1, cardinality(keys)));

    INSERT INTO wonce.lane (handler_id, lane)
    SELECT DISTINCT o.handler_id, wonce.lane_of(o.ordering_key)
    FROM unnest(handler_ids, ordering_keys) AS o (handler_id, ordering_key)
    WHERE o.ordering_key IS NOT NULL
      AND NOT EXISTS (SELECT FROM wonce.lane l
                      WHERE l.handler_id = o.handler_id AND l.lane = wonce.lane_of(o.ordering_key))
    ORDER BY 1, 2
    ON CONFLICT DO NOTHING;

    -- Sorted by (handler, key), so that two shared commits with the same keys cannot deadlock.
    WITH d AS (
        SELECT * FROM unnest(ids, handler_ids, keys, key_rules, ordering_keys, digests, hash_rules, event_of)
            WITH ORDINALITY AS u (id, handler_id, key, key_rule, ordering_key, digest, hash_rule, e, n)
    ), landed AS (
        INSERT INTO wonce.inbox (
            id, handler_id, key, key_rule, ordering_key, lane, due_at, accepted_at,
            payload_digest, hash_rule, via, event_id, source, event_type, subject, event_time,
            content_type, data_schema, traceparent, extensions, data)
        SELECT d.id, d.handler_id, d.key, d.key_rule, d.ordering_key, wonce.lane_of(d.ordering_key),
               arrived, arrived, d.digest, d.hash_rule, vias[d.e], event_ids[d.e], sources[d.e],
               event_types[d.e], subjects[d.e], event_times[d.e], content_types[d.e],
               data_schemas[d.e], traceparents[d.e],
               extensions_flat[extensions_from[d.e]:extensions_to[d.e]], datas[d.e]
        FROM d
        WHERE NOT EXISTS (SELECT FROM wonce.processed_events p
                          WHERE p.handler_id = d.handler_id AND p.key = d.key)
        ORDER BY d.handler_id, d.key
        ON CONFLICT (handler_id, key) DO NOTHING
        RETURNING id
    )
    SELECT coalesce(array_agg(d.n), '{}') INTO inserted FROM d JOIN landed USING (id);

    -- A statement of its own: its snapshot sees what the insert waited for.
    SELECT array_agg(r.verdict ORDER BY r.n), array_agg(r.at ORDER BY r.n) INTO verdicts, originals
    FROM (
        SELECT u.n, o.at,
               CASE WHEN u.n = ANY (inserted) THEN 'accepted'
                    WHEN o.rule IS NULL THEN 'gone'
                    ELSE wonce.repeat_of(u.hash_rule, u.digest, o.rule, o.digest) END AS verdict
        FROM unnest(handler_ids, keys, digests, hash_rules)
                 WITH ORDINALITY AS u (handler_id, key, digest, hash_rule, n)
        LEFT JOIN LATERAL (
            SELECT i.hash_rule AS rule, i.payload_digest AS digest, i.accepted_at AS at
            FROM wonce.inbox i
            WHERE i.handler_id = u.handler_id AND i.key = u.key AND NOT u.n = ANY (inserted)
            UNION ALL
            SELECT p.hash_rule, p.payload_digest, p.accepted_at
            FROM wonce.processed_events p
            WHERE p.handler_id = u.handler_id AND p.key = u.key AND NOT u.n = ANY (inserted)
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

    IF cardinality(inserted) < cardinality(keys) THEN
        PERFORM wonce.keep_repeats(
            handler_ids, keys, key_rules, ordering_keys, digests, hash_rules, event_of, verdicts, originals,
            vias, event_ids, sources, event_types, subjects, event_times, content_types, data_schemas,
            traceparents, extensions_flat, extensions_from, extensions_to, datas);
    END IF;

    RETURN QUERY SELECT u.n::integer, u.verdict, u.at
    FROM unnest(verdicts, originals) WITH ORDINALITY AS u (verdict, at, n) ORDER BY u.n;
END
$$;

-- Keeps what is not inserted: a sample of the duplicates (at most one a handler and commit, so
-- that two commits cannot wait for each other's slots), every key conflict whole.
CREATE FUNCTION wonce.keep_repeats(
    handler_ids bigint[], keys text[], key_rules text[], ordering_keys text[],
    digests bytea[], hash_rules text[], event_of integer[], verdicts text[], originals timestamptz[],
    vias text[], event_ids text[], sources text[], event_types text[], subjects text[],
    event_times timestamptz[], content_types text[], data_schemas text[], traceparents text[],
    extensions_flat text[], extensions_from integer[], extensions_to integer[], datas bytea[]
) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO wonce.duplicate (handler_id, slot, key, via, original_at)
    SELECT DISTINCT ON (u.handler_id) u.handler_id, floor(random() * 1000)::integer, u.key, vias[u.e], u.at
    FROM unnest(handler_ids, keys, event_of, verdicts, originals) AS u (handler_id, key, e, verdict, at)
    WHERE u.verdict = 'duplicate'
    ORDER BY u.handler_id
    ON CONFLICT DO NOTHING;

    INSERT INTO wonce.dead_letter (
        kind, reason, handler_id, key, key_rule, ordering_key, code, message, fingerprint, owner,
        accepted_at, first_failed_at, last_failed_at, payload_digest, hash_rule,
        via, event_id, source, event_type, subject, event_time, content_type, data_schema,
        traceparent, extensions, data)
    SELECT 'key_conflict', 'key_conflict', u.handler_id, u.key, u.key_rule, u.ordering_key,
           'key-conflict', format('another payload was accepted under this key at %s', u.at),
           wonce.conflict_fingerprint(u.handler_id), h.owner,
           clock_timestamp(), clock_timestamp(), clock_timestamp(), u.digest, u.hash_rule,
           vias[u.e], event_ids[u.e], sources[u.e], event_types[u.e], subjects[u.e], event_times[u.e],
           content_types[u.e], data_schemas[u.e], traceparents[u.e],
           extensions_flat[extensions_from[u.e]:extensions_to[u.e]], datas[u.e]
    FROM unnest(handler_ids, keys, key_rules, ordering_keys, digests, hash_rules, event_of, verdicts, originals)
             AS u (handler_id, key, key_rule, ordering_key, digest, hash_rule, e, verdict, at)
    JOIN wonce.handler h ON h.id = u.handler_id
    WHERE u.verdict = 'key_conflict';
END
$$;

-- All key conflicts of a handler are one group.
CREATE FUNCTION wonce.conflict_fingerprint(handler_id bigint) RETURNS text
LANGUAGE sql IMMUTABLE
AS $$ SELECT left(encode(sha256(convert_to('key_conflict ' || handler_id, 'UTF8')), 'hex'), 16) $$;
