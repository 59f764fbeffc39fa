-- What people do to many dead letters at once: an object that outlives the request. Its list is
-- frozen when it is asked for, its pace is in its row, and the host that does the next item holds
-- that row's lock for so long: when the host dies, any other goes on.

CREATE TABLE wonce.operation (
    id              bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- The caller's name for its request: the same one again is the same operation.
    idempotency_key text        NOT NULL UNIQUE CHECK (octet_length(idempotency_key) BETWEEN 1 AND 200),
    verb            text        NOT NULL CHECK (verb IN ('replay', 'discard')),
    state           text        NOT NULL DEFAULT 'running'
                    CHECK (state IN ('running', 'paused', 'aborted', 'finished')),
    -- As it was asked for, for people and to compare with a repeat of the request.
    request         jsonb       NOT NULL,
    actor           text        NOT NULL,
    reason          text        NOT NULL,
    -- Items a second, at most.
    rate            float8      NOT NULL CHECK (rate > 0),
    total           bigint      NOT NULL DEFAULT 0,
    succeeded       bigint      NOT NULL DEFAULT 0,
    refused         bigint      NOT NULL DEFAULT 0,
    -- The last item that was done; items are done in the order of their ids.
    last_item       bigint      NOT NULL DEFAULT 0,
    next_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at        timestamptz,
    CHECK ((state IN ('aborted', 'finished')) = (ended_at IS NOT NULL))
) WITH (fillfactor = 50);
CREATE INDEX operation_running ON wonce.operation (id) WHERE state = 'running';

CREATE TABLE wonce.operation_item (
    operation_id   bigint      NOT NULL REFERENCES wonce.operation (id),
    dead_letter_id bigint      NOT NULL,
    state          text        NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'succeeded', 'refused')),
    -- What the verb answered; empty while it waits.
    result         text        NOT NULL DEFAULT '',
    acted_at       timestamptz,
    PRIMARY KEY (operation_id, dead_letter_id)
) WITH (fillfactor = 80);

-- Groups, and the entries of one.
CREATE INDEX dead_letter_group ON wonce.dead_letter (fingerprint, id) WHERE state = 'dead';

ALTER TABLE wonce.action DROP CONSTRAINT action_verb_check;
ALTER TABLE wonce.action ADD CONSTRAINT action_verb_check
    CHECK (verb IN ('deploy', 'pause', 'resume', 'replay', 'discard', 'abort', 'pace'));

-- Does the next due item of any running operation. Answers how long to wait when none is due (NULL:
-- nothing runs), else what became of the item. The result `parked` with the state `waiting` is the
-- caller's to finish in this transaction: the event must be routed anew, which SQL cannot.
CREATE FUNCTION wonce.advance_operation()
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
        item_state := CASE WHEN item_result IN ('accepted', 'discarded') THEN 'succeeded' ELSE 'refused' END;
        PERFORM wonce.note_item(op.id, dead_letter_id, item_state, item_result);
    END IF;
    RETURN NEXT;
END
$$;

-- One item under the rule of every verb: a verdict other than its own success leaves nothing behind.
CREATE FUNCTION wonce.do_item(p_verb text, p_id bigint, p_actor text, p_reason text) RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    verdict text;
BEGIN
    verdict := CASE p_verb
        WHEN 'replay' THEN (SELECT r.verdict FROM wonce.replay(p_id, NULL, p_actor, p_reason) AS r)
        ELSE wonce.discard(p_id, p_actor, p_reason)
    END;
    IF verdict NOT IN ('accepted', 'discarded') THEN
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

-- Records an item of a locked operation, and when the next may follow. What was missed by up to a
-- tenth of a second is made up for, so that slow looks do not lower the pace.
CREATE FUNCTION wonce.note_item(p_operation bigint, p_id bigint, p_state text, p_result text) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    is_last boolean := NOT EXISTS (SELECT FROM wonce.operation_item i
                                   WHERE i.operation_id = p_operation AND i.dead_letter_id > p_id);
BEGIN
    UPDATE wonce.operation_item i
    SET state = p_state, result = p_result, acted_at = clock_timestamp()
    WHERE i.operation_id = p_operation AND i.dead_letter_id = p_id;
    UPDATE wonce.operation o
    SET succeeded = o.succeeded + (p_state = 'succeeded')::integer,
        refused = o.refused + (p_state = 'refused')::integer,
        last_item = coalesce(p_id, o.last_item),
        next_at = greatest(o.next_at, clock_timestamp() - interval '100 milliseconds') + interval '1 second' / o.rate,
        state = CASE WHEN is_last THEN 'finished' ELSE o.state END,
        ended_at = CASE WHEN is_last THEN clock_timestamp() END
    WHERE o.id = p_operation;
    RETURN is_last;
END
$$;

REVOKE ALL ON FUNCTION
    wonce.advance_operation(),
    wonce.do_item(text, bigint, text, text),
    wonce.note_item(bigint, bigint, text, text)
FROM PUBLIC;
