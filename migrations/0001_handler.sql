-- Who handles events, and with which code.

-- One row: the key from which each handler's password and secret are derived. A host needs
-- nothing but the database URL, and no guest can read this.
CREATE TABLE wonce.cluster (
    only_row    boolean     PRIMARY KEY DEFAULT true CHECK (only_row),
    cluster_key bytea       NOT NULL CHECK (length(cluster_key) = 32),
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);
INSERT INTO wonce.cluster (cluster_key)
VALUES (uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));

CREATE TABLE wonce.handler (
    id               bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name             text        NOT NULL UNIQUE CHECK (octet_length(name) BETWEEN 1 AND 48),
    state            text        NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused')),
    ordering         text        NOT NULL CHECK (ordering IN ('unordered', 'ordered')),
    active_version   bytea       NOT NULL CHECK (length(active_version) = 32),
    previous_version bytea       CHECK (length(previous_version) = 32),
    owner            text,
    -- The effective policy as the deploying host had it, for people; hosts run by their own file.
    policy           jsonb       NOT NULL,
    login_role       text,
    -- sha256 of the secret that every bookkeeping call of this handler's connections must bind.
    secret_hash      bytea       NOT NULL CHECK (length(secret_hash) = 32),
    deployed_by      text        NOT NULL,
    deployed_at      timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE wonce.handler_version (
    handler_id  bigint      NOT NULL REFERENCES wonce.handler (id),
    -- SHA-256 over component and manifest: the version's one name.
    digest      bytea       NOT NULL CHECK (length(digest) = 32),
    label       text        NOT NULL,
    component   bytea       NOT NULL,
    manifest    text        NOT NULL,
    deployed_by text        NOT NULL,
    deployed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (handler_id, digest)
);
-- Components are compressed badly and read whole.
ALTER TABLE wonce.handler_version ALTER COLUMN component SET STORAGE EXTERNAL;
