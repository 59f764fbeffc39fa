-- A discard can be taken back for a while: one dead letter, many, or all that one operation discarded.

-- How long. The host says the same number (`wonce_api::dead_letter::RESTORABLE_DAYS`); a test compares.
CREATE FUNCTION wonce.restorable_for() RETURNS interval
LANGUAGE sql IMMUTABLE
AS $$ SELECT interval '7 days' $$;

-- Makes a discarded dead letter an open one again, as it was. The ledger row of a dead delivery has stayed, so
-- its key was never free. Verdicts: `restored`, `unknown`, `was_replayed`, `is_open`, `too_late`, `no_ledger_row`.
CREATE FUNCTION wonce.restore(p_id bigint, p_actor text, p_reason text) RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    letter wonce.dead_letter;
BEGIN
    SELECT * INTO letter FROM wonce.dead_letter d WHERE d.id = p_id FOR UPDATE;
    IF letter.id IS NULL THEN
        RETURN 'unknown';
    ELSIF letter.state = 'dead' THEN
        RETURN 'is_open';
    ELSIF letter.state <> 'discarded' THEN
        RETURN 'was_' || letter.state;
    ELSIF letter.acted_at < clock_timestamp() - wonce.restorable_for() THEN
        RETURN 'too_late';
    END IF;
    IF letter.kind = 'delivery' THEN
        UPDATE wonce.processed_events p SET outcome = 'dead'
        WHERE p.handler_id = letter.handler_id AND p.key = letter.key AND p.outcome = 'discarded';
        IF NOT FOUND THEN
            RETURN 'no_ledger_row';
        END IF;
    END IF;
    UPDATE wonce.dead_letter d SET state = 'dead', acted_at = NULL WHERE d.id = p_id;
    INSERT INTO wonce.action (actor, verb, target, reason, detail)
    VALUES (p_actor, 'restore', 'dead-letter/' || p_id, p_reason,
            jsonb_build_object('kind', letter.kind, 'key', letter.key, 'discarded_at', letter.acted_at,
                               'handler', (SELECT h.name FROM wonce.handler h WHERE h.id = letter.handler_id)));
    RETURN 'restored';
END
$$;

ALTER TABLE wonce.action DROP CONSTRAINT action_verb_check;
ALTER TABLE wonce.action ADD CONSTRAINT action_verb_check
    CHECK (verb IN ('deploy', 'pause', 'resume', 'replay', 'discard', 'restore', 'abort', 'pace'));
ALTER TABLE wonce.operation DROP CONSTRAINT operation_verb_check;
ALTER TABLE wonce.operation ADD CONSTRAINT operation_verb_check
    CHECK (verb IN ('replay', 'discard', 'restore'));

-- The verdict with which a verb has worked.
CREATE FUNCTION wonce.success_of(p_verb text) RETURNS text
LANGUAGE sql IMMUTABLE
AS $$ SELECT CASE p_verb WHEN 'replay' THEN 'accepted' WHEN 'discard' THEN 'discarded' WHEN 'restore' THEN 'restored' END $$;

-- As before, with the verb `restore`.
CREATE OR REPLACE FUNCTION wonce.do_item(p_verb text, p_id bigint, p_actor text, p_reason text) RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    verdict text;
BEGIN
    verdict := CASE p_verb
        WHEN 'replay' THEN (SELECT r.verdict FROM wonce.replay(p_id, NULL, p_actor, p_reason) AS r)
        WHEN 'discard' THEN wonce.discard(p_id, p_actor, p_reason)
        WHEN 'restore' THEN wonce.restore(p_id, p_actor, p_reason)
    END;
    IF verdict <> wonce.success_of(p_verb) THEN
        RAISE EXCEPTION USING ERRCODE = 'WN002', MESSAGE = verdict;
    END IF;
    RETURN verdict;
EXCEPTION
    WHEN SQLSTATE 'WN002' THEN
        RETURN verdict;
    -- What this row would always do must not hold up the rest. Anything else is the database's
    -- trouble: it ends the transaction, and the item is tried again.
    WHEN integrity_constraint_violation OR data_exception THEN
        RETURN 'failed: ' || SQLERRM;
END
$$;

-- As before, with every verb's own verdict.
CREATE OR REPLACE FUNCTION wonce.advance_operation()
RETURNS TABLE (wait_us bigint, operation_id bigint, operation_verb text, dead_letter_id bigint,
               item_state text, item_result text, handler_id bigint, actor text, reason text)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    op wonce.operation;
BEGIN
    SELECT * INTO op FROM wonce.operation o
    WHERE o.state = 'running' AND o.next_at <= clock_timestamp()
    ORDER BY o.next_at LIMIT 1
    FOR UPDATE SKIP LOCKED;
    IF op.id IS NULL THEN
        wait_us := (SELECT greatest(0, ceil(extract(epoch FROM min(o.next_at) - clock_timestamp()) * 1000000))::bigint
                    FROM wonce.operation o WHERE o.state = 'running' HAVING count(*) > 0);
        RETURN NEXT;
        RETURN;
    END IF;

    wait_us := 0;
    operation_id := op.id;
    operation_verb := op.verb;
    actor := op.actor;
    reason := trim(format('%s (operation %s)', op.reason, op.id));
    dead_letter_id := (SELECT min(i.dead_letter_id) FROM wonce.operation_item i
                       WHERE i.operation_id = op.id AND i.dead_letter_id > op.last_item);
    handler_id := (SELECT d.handler_id FROM wonce.dead_letter d WHERE d.id = advance_operation.dead_letter_id);
    item_state := 'waiting';
    item_result := wonce.do_item(op.verb, dead_letter_id, actor, reason);
    IF item_result <> 'parked' THEN
        item_state := CASE WHEN item_result = wonce.success_of(op.verb) THEN 'succeeded' ELSE 'refused' END;
        PERFORM wonce.note_item(op.id, dead_letter_id, item_state, item_result);
    END IF;
    RETURN NEXT;
END
$$;

REVOKE ALL ON FUNCTION
    wonce.restorable_for(),
    wonce.restore(bigint, text, text),
    wonce.success_of(text)
FROM PUBLIC;
