-- What an operator may do: replay, discard, pause, resume. Each verb is one call in one
-- transaction together with its row in `action`. A verdict other than the verb's own success
-- means that nothing may stay: the caller rolls back.

-- What was done to one thing.
CREATE INDEX action_target ON wonce.action (target, id);

-- Puts a dead letter back to work. A dead delivery keeps its key and starts a new round at the
-- tail; a key conflict becomes a delivery of its own under a new key. Verdicts: `accepted`,
-- `unknown`, `was_replayed`, `was_discarded`, `parked`, `keeps_key`, `needs_key`, `key_taken`,
-- `repeat_pending`, `no_ledger_row`.
CREATE FUNCTION wonce.replay(p_id bigint, p_key text, p_actor text, p_reason text)
RETURNS TABLE (verdict text, handler_name text, delivery_key text, delivery_round integer)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    letter wonce.dead_letter;
BEGIN
    -- A second replay of the same letter waits here and then finds it replayed.
    SELECT * INTO letter FROM wonce.dead_letter d WHERE d.id = p_id FOR UPDATE;
    handler_name := (SELECT h.name FROM wonce.handler h WHERE h.id = letter.handler_id);
    delivery_key := CASE WHEN letter.kind = 'key_conflict' THEN p_key ELSE letter.key END;
    delivery_round := CASE WHEN letter.kind = 'delivery' THEN letter.round + 1 ELSE 0 END;
    verdict := CASE
        WHEN letter.id IS NULL THEN 'unknown'
        WHEN letter.state <> 'dead' THEN 'was_' || letter.state
        WHEN letter.kind = 'parked' THEN 'parked'
        WHEN letter.kind = 'delivery' AND p_key IS NOT NULL THEN 'keeps_key'
        WHEN letter.kind = 'key_conflict' AND (p_key IS NULL OR p_key = letter.key) THEN 'needs_key'
        ELSE wonce.requeue(letter, delivery_key, delivery_round)
    END;
    IF verdict = 'accepted' THEN
        UPDATE wonce.dead_letter d SET state = 'replayed', acted_at = clock_timestamp() WHERE d.id = p_id;
        DELETE FROM wonce.crash_mark m WHERE m.handler_id = letter.handler_id AND m.key = delivery_key;
        INSERT INTO wonce.action (actor, verb, target, reason, detail)
        VALUES (p_actor, 'replay', 'dead-letter/' || p_id, p_reason,
                jsonb_build_object('kind', letter.kind, 'handler', handler_name, 'key', delivery_key,
                                   'round', delivery_round));
    END IF;
    RETURN NEXT;
END
$$;

-- Moves a locked dead letter's event to the inbox, at the tail of its ordering key.
CREATE FUNCTION wonce.requeue(letter wonce.dead_letter, p_key text, p_round integer) RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    is_delivery boolean := letter.kind = 'delivery';
BEGIN
    -- As in `accept`: the ordering key's lock before the id is drawn.
    IF letter.ordering_key IS NOT NULL THEN
        PERFORM pg_advisory_xact_lock(hashtextextended(letter.ordering_key, letter.handler_id));
        INSERT INTO wonce.lane (handler_id, lane)
        VALUES (letter.handler_id, wonce.lane_of(letter.ordering_key)) ON CONFLICT DO NOTHING;
    END IF;

    IF is_delivery THEN
        DELETE FROM wonce.processed_events p
        WHERE p.handler_id = letter.handler_id AND p.key = letter.key AND p.outcome = 'dead';
        IF NOT FOUND THEN
            RETURN 'no_ledger_row';
        END IF;
    END IF;

    INSERT INTO wonce.inbox (
        handler_id, key, key_rule, ordering_key, lane, round, due_at, accepted_at,
        payload_digest, hash_rule, via, event_id, source, event_type, subject, event_time,
        content_type, data_schema, traceparent, extensions, data)
    VALUES (
        letter.handler_id, p_key,
        CASE WHEN is_delivery THEN coalesce(letter.key_rule, '')
             ELSE format('chosen by an operator (replay of dead letter %s)', letter.id) END,
        letter.ordering_key, wonce.lane_of(letter.ordering_key), p_round, clock_timestamp(),
        CASE WHEN is_delivery THEN letter.accepted_at ELSE clock_timestamp() END,
        letter.payload_digest, letter.hash_rule, letter.via, letter.event_id, letter.source,
        letter.event_type, letter.subject, letter.event_time, letter.content_type,
        letter.data_schema, letter.traceparent, letter.extensions, letter.data)
    ON CONFLICT (handler_id, key) DO NOTHING;
    IF NOT FOUND THEN
        RETURN CASE WHEN is_delivery THEN 'repeat_pending' ELSE 'key_taken' END;
    END IF;

    IF NOT is_delivery THEN
        -- After the insert, with a fresh snapshot: it may have waited for the key's settlement.
        IF EXISTS (SELECT FROM wonce.processed_events p
                   WHERE p.handler_id = letter.handler_id AND p.key = p_key) THEN
            RETURN 'key_taken';
        END IF;
        INSERT INTO wonce.tally (handler_id, accepted) VALUES (letter.handler_id, 1);
    END IF;
    RETURN 'accepted';
END
$$;

-- Notes that a parked event was routed after all; its deliveries are committed already, and
-- their keys make a second routing harmless. Verdicts: `replayed`, `unknown`, `was_…`.
CREATE FUNCTION wonce.parked_replayed(p_id bigint, p_actor text, p_reason text, p_detail jsonb)
RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found_state text := (SELECT d.state FROM wonce.dead_letter d
                         WHERE d.id = p_id AND d.kind = 'parked' FOR UPDATE);
BEGIN
    IF found_state IS NULL THEN
        RETURN 'unknown';
    ELSIF found_state <> 'dead' THEN
        RETURN 'was_' || found_state;
    END IF;
    UPDATE wonce.dead_letter d SET state = 'replayed', acted_at = clock_timestamp() WHERE d.id = p_id;
    INSERT INTO wonce.action (actor, verb, target, reason, detail)
    VALUES (p_actor, 'replay', 'dead-letter/' || p_id, p_reason, p_detail);
    RETURN 'replayed';
END
$$;

-- Gives a dead letter up. The ledger row of a dead delivery stays, so that a late duplicate is
-- still one. Verdicts: `discarded`, `unknown`, `was_replayed`, `was_discarded`, `no_ledger_row`.
CREATE FUNCTION wonce.discard(p_id bigint, p_actor text, p_reason text) RETURNS text
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
    END IF;
    IF letter.kind = 'delivery' THEN
        UPDATE wonce.processed_events p SET outcome = 'discarded'
        WHERE p.handler_id = letter.handler_id AND p.key = letter.key AND p.outcome = 'dead';
        IF NOT FOUND THEN
            RETURN 'no_ledger_row';
        END IF;
    END IF;
    UPDATE wonce.dead_letter d SET state = 'discarded', acted_at = clock_timestamp() WHERE d.id = p_id;
    INSERT INTO wonce.action (actor, verb, target, reason, detail)
    VALUES (p_actor, 'discard', 'dead-letter/' || p_id, p_reason,
            jsonb_build_object('kind', letter.kind, 'key', letter.key,
                               'handler', (SELECT h.name FROM wonce.handler h WHERE h.id = letter.handler_id)));
    RETURN 'discarded';
END
$$;

-- Pauses or resumes a handler: claims look at the state. Answers `changed`, `unchanged` (then
-- nothing is recorded) or `unknown`.
CREATE FUNCTION wonce.set_handler_state(
    p_name text, p_state text, p_verb text, p_actor text, p_reason text
) RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found_state text;
BEGIN
    SELECT h.state INTO found_state FROM wonce.handler h WHERE h.name = p_name FOR UPDATE;
    IF found_state IS NULL THEN
        RETURN 'unknown';
    ELSIF found_state = p_state THEN
        RETURN 'unchanged';
    END IF;
    UPDATE wonce.handler h SET state = p_state WHERE h.name = p_name;
    INSERT INTO wonce.action (actor, verb, target, reason)
    VALUES (p_actor, p_verb, 'handler/' || p_name, p_reason);
    RETURN 'changed';
END
$$;

REVOKE ALL ON FUNCTION
    wonce.replay(bigint, text, text, text),
    wonce.requeue(wonce.dead_letter, text, integer),
    wonce.parked_replayed(bigint, text, text, jsonb),
    wonce.discard(bigint, text, text),
    wonce.set_handler_state(text, text, text, text, text)
FROM PUBLIC;
