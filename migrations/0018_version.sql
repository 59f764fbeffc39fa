-- Versions that people deploy while hosts run.

-- `removed`: no host routes to it, claims nothing of it and shows it; its books stay.
ALTER TABLE wonce.handler DROP CONSTRAINT handler_state_check;
ALTER TABLE wonce.handler ADD CONSTRAINT handler_state_check CHECK (state IN ('active', 'paused', 'removed'));

-- Who chose the active version: a host's file at its start, or a person by hand. What was chosen by
-- hand stays until a hand changes it, so hosts with other files do not take it back.
ALTER TABLE wonce.handler
    ADD COLUMN chosen_by text NOT NULL DEFAULT 'file' CHECK (chosen_by IN ('file', 'hand'));

-- What was set with the deploy: part of the version's digest.
ALTER TABLE wonce.handler_version ADD COLUMN settings jsonb NOT NULL DEFAULT '{}';
-- Detached Ed25519 over component and manifest, as it came.
ALTER TABLE wonce.handler_version ADD COLUMN signature text;

-- A host of a build that follows says so; nobody waits for an older one.
ALTER TABLE wonce.host ADD COLUMN follows_versions boolean NOT NULL DEFAULT false;

-- Which version each boot of a host runs, or why it does not run the active one.
CREATE TABLE wonce.host_version (
    boot_id    uuid        NOT NULL REFERENCES wonce.host (boot_id) ON DELETE CASCADE,
    handler_id bigint      NOT NULL REFERENCES wonce.handler (id),
    -- NULL when it runs none.
    digest     bytea       CHECK (length(digest) = 32),
    -- The active one when this was written.
    wanted     bytea       NOT NULL CHECK (length(wanted) = 32),
    problem    text,
    since      timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (boot_id, handler_id)
);

ALTER TABLE wonce.action DROP CONSTRAINT action_verb_check;
ALTER TABLE wonce.action ADD CONSTRAINT action_verb_check
    CHECK (verb IN ('deploy', 'rollback', 'remove', 'pause', 'resume', 'replay', 'discard', 'restore', 'edit',
                    'abort', 'pace'));

-- Pauses or resumes a handler: claims look at the state. Answers `changed`, `unchanged` (then
-- nothing is recorded), `removed` or `unknown`.
CREATE OR REPLACE FUNCTION wonce.set_handler_state(
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
    ELSIF found_state = 'removed' THEN
        RETURN 'removed';
    ELSIF found_state = p_state THEN
        RETURN 'unchanged';
    END IF;
    UPDATE wonce.handler h SET state = p_state WHERE h.name = p_name;
    INSERT INTO wonce.action (actor, verb, target, reason)
    VALUES (p_actor, p_verb, 'handler/' || p_name, p_reason);
    RETURN 'changed';
END
$$;
