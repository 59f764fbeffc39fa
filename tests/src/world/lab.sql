-- What the scripted handler works on. Safe to run again.
create schema if not exists lab;

-- One row for each effect: the same effect twice is two rows.
create table if not exists lab.entry (name text not null, amount bigint not null default 0);

create table if not exists lab.once (id text primary key);

-- A child without its parent is found out at the end of the transaction only.
create table if not exists lab.parent (id bigint primary key);
create table if not exists lab.child (
    id        bigint primary key,
    parent_id bigint not null references lab.parent deferrable initially deferred
);

-- Rows that a test locks to hold handlers where it wants them.
create table if not exists lab.gate (id text primary key, turns bigint not null default 0);
insert into lab.gate (id) values ('gate'), ('left'), ('right') on conflict do nothing;

-- What a grant too many looks like: it ends the connection that calls it.
create or replace function lab.kill_me() returns boolean
language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$ select pg_terminate_backend(pg_backend_pid()) $$;
