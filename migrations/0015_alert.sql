-- Alerts: which rules of which handlers are broken, and what is still to be told of it. Logged, unlike
-- the samples: an alert that fired must be resolved once and told once, whoever crashed in between.

CREATE TABLE wonce.alert (
    handler_id bigint      NOT NULL REFERENCES wonce.handler (id),
    -- The key of the rule in the configuration. No CHECK: a newer host may know more rules.
    rule       text        NOT NULL,
    standing   text        NOT NULL CHECK (standing IN ('suspected', 'firing', 'calming')),
    -- Since when it stands so.
    since      timestamptz NOT NULL,
    -- Since when it fires; a value that is below its limit for a while does not end that.
    fired_at   timestamptz,
    -- What was measured last, and the limit, in the unit of the rule.
    value      float8      NOT NULL,
    bound      float8      NOT NULL,
    text       text        NOT NULL,
    PRIMARY KEY (handler_id, rule),
    CHECK ((standing = 'suspected') = (fired_at IS NULL))
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 200);

-- What the webhook has not taken yet. A row goes when it has, or when there are too many.
CREATE TABLE wonce.alert_notice (
    id       bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- `<handler>/<rule>`
    alert    text        NOT NULL,
    fired_at timestamptz NOT NULL,
    state    text        NOT NULL CHECK (state IN ('firing', 'resolved')),
    -- The document that is sent.
    body     text        NOT NULL,
    made_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- Attempts that began.
    attempt  integer     NOT NULL DEFAULT 0,
    due_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (alert, fired_at, state)
);

REVOKE ALL ON wonce.alert, wonce.alert_notice FROM PUBLIC;
