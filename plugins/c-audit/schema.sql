-- One row for every event, and how many there are of each type. Safe to run again.
-- The handler's role needs: usage on schema audit; insert on audit.entry.
create schema if not exists audit;

create table if not exists audit.entry (
    event_key   text primary key,
    event_id    text not null,
    source      text not null,
    type        text not null,
    subject     text,
    attempt     bigint not null,
    bytes       bigint not null,
    received_at timestamptz not null,
    written_at  timestamptz not null default now()
);

-- A counter row per type would make all events of a type wait for each other; counting on demand does not.
create or replace view audit.count_by_type as
    select type, count(*) as events from audit.entry group by type;
