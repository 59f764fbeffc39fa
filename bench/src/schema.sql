-- The database that every measured run starts from: the business's table, and what a hand-written
-- consumer keeps. wonce brings its own schema into its clone.
CREATE SCHEMA bench;
CREATE TABLE bench.orders (
    id     bigint  PRIMARY KEY,
    status text    NOT NULL DEFAULT 'open',
    amount bigint  NOT NULL DEFAULT 0,
    hits   integer NOT NULL DEFAULT 0,
    note   text    NOT NULL
);
INSERT INTO bench.orders (id, note) SELECT n, 'order number ' || n FROM generate_series(1, 100000) AS n;

CREATE SCHEMA hand;
CREATE TABLE hand.queue (
    id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id    text        NOT NULL,
    body        jsonb       NOT NULL,
    accepted_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE TABLE hand.processed (
    event_id     text        PRIMARY KEY,
    accepted_at  timestamptz NOT NULL,
    processed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE TABLE hand.outbox (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id   text        NOT NULL,
    sink       text        NOT NULL,
    kind       text        NOT NULL,
    body       jsonb       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE FUNCTION hand.ring() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('hand_queue', '');
    RETURN NULL;
END
$$;
CREATE TRIGGER ring AFTER INSERT ON hand.queue FOR EACH STATEMENT EXECUTE FUNCTION hand.ring();
