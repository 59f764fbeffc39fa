-- A dead letter's payload can be edited before its replay. What was received is kept, every edit says who, when, why
-- and between which hashes, and all payloads that one delivery had are one event: whichever of them arrives again
-- under the key is a duplicate, while the ledger's hash is the one of the payload that was handled.

-- How often the payload was edited: who edits says which revision was read.
ALTER TABLE wonce.dead_letter ADD COLUMN revision integer NOT NULL DEFAULT 0;

CREATE TABLE wonce.edit (
    dead_letter_id bigint      NOT NULL REFERENCES wonce.dead_letter (id),
    -- The one that this edit made; the first is 1.
    revision       integer     NOT NULL CHECK (revision > 0),
    at             timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor          text        NOT NULL,
    reason         text        NOT NULL,
    -- Both digests are made under it.
    hash_rule      text        NOT NULL,
    digest_before  bytea       NOT NULL,
    digest_after   bytea       NOT NULL,
    data_before    bytea       NOT NULL,
    PRIMARY KEY (dead_letter_id, revision)
);
REVOKE ALL ON wonce.edit FROM PUBLIC;

ALTER TABLE wonce.action DROP CONSTRAINT action_verb_check;
ALTER TABLE wonce.action ADD CONSTRAINT action_verb_check
    CHECK (verb IN ('deploy', 'pause', 'resume', 'replay', 'discard', 'restore', 'edit', 'abort', 'pace'));

-- Gives an open dead letter another payload. The ledger row of a dead delivery stays: it says what was handled, and
-- that was the payload before. Verdicts: `edited`, `unknown`, `was_replayed`, `was_discarded`, `edited_since` (it is not
-- at this revision any more), `same`.
CREATE FUNCTION wonce.edit_payload(
    p_id bigint, p_revision integer, p_data bytea, p_hash_rule text, p_digest_before bytea, p_digest_after bytea,
    p_actor text, p_reason text
) RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    letter wonce.dead_letter;
BEGIN
    SELECT * INTO letter FROM wonce.dead_letter d WHERE d.id = p_id FOR UPDATE;
    IF letter.id IS NULL THEN
        RETURN 'unknown';
    ELSIF letter.state <> 'dead' THEN
        RETURN 'was_' || letter.state;
    ELSIF letter.revision <> p_revision THEN
        RETURN 'edited_since';
    ELSIF letter.data = p_data THEN
        RETURN 'same';
    END IF;
    INSERT INTO wonce.edit (dead_letter_id, revision, actor, reason, hash_rule, digest_before, digest_after, data_before)
    VALUES (p_id, letter.revision + 1, p_actor, p_reason, p_hash_rule, p_digest_before, p_digest_after, letter.data);
    UPDATE wonce.dead_letter d
    SET revision = letter.revision + 1, data = p_data,
        -- A parked event has none: the intake hashes it when it is routed.
        payload_digest = CASE WHEN letter.payload_digest IS NOT NULL THEN p_digest_after END
    WHERE d.id = p_id;
    INSERT INTO wonce.action (actor, verb, target, reason, detail)
    VALUES (p_actor, 'edit', 'dead-letter/' || p_id, p_reason,
            jsonb_build_object('kind', letter.kind, 'key', letter.key, 'revision', letter.revision + 1,
                               'hash_rule', p_hash_rule, 'hash_before', encode(p_digest_before, 'hex'),
                               'hash_after', encode(p_digest_after, 'hex')));
    RETURN 'edited';
END
$$;

-- What a second arrival of a known key is. Only where the hashes differ it is asked whether the delivery was edited.
CREATE FUNCTION wonce.repeat_under(
    p_handler bigint, p_key text, new_rule text, new_digest bytea, old_rule text, old_digest bytea
) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF wonce.repeat_of(new_rule, new_digest, old_rule, old_digest) = 'key_conflict'
       AND NOT EXISTS (SELECT FROM wonce.dead_letter d JOIN wonce.edit e ON e.dead_letter_id = d.id
                       WHERE d.handler_id = p_handler AND d.key = p_key AND d.kind = 'delivery'
                         AND e.hash_rule = new_rule AND new_digest IN (e.digest_before, e.digest_after)) THEN
        RETURN 'key_conflict';
    END IF;
    RETURN 'duplicate';
END
$$;

-- As before, with `repeat_under` for `repeat_of`.
CREATE OR REPLACE FUNCTION wonce.claim(
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
                        THEN wonce.repeat_under(p_handler, d.key, d.hash_rule, d.payload_digest,
                                                 p.hash_rule, p.payload_digest) END,
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
                    THEN wonce.repeat_under(p_handler, d.key, d.hash_rule, d.payload_digest,
                                                 p.hash_rule, p.payload_digest) END,
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

-- As before, with `repeat_under` for `repeat_of`.
CREATE OR REPLACE FUNCTION wonce.accept(
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
                    ELSE wonce.repeat_under(u.handler_id, u.key, u.hash_rule, u.digest, o.rule, o.digest) END AS verdict
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

REVOKE ALL ON FUNCTION
    wonce.edit_payload(bigint, integer, bytea, text, bytea, bytea, text, text),
    wonce.repeat_under(bigint, text, text, bytea, text, bytea)
FROM PUBLIC;
