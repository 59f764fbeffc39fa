-- What the conformance handlers work on. Safe to run again.
create schema if not exists conformance;

-- What a guest saw, in its own words.
create table if not exists conformance.note (
    behaviour text not null,
    name      text not null,
    value     text not null
);

create table if not exists conformance.blob (behaviour text primary key, data bytea not null);

create table if not exists conformance.once (id text primary key);
insert into conformance.once values ('taken') on conflict do nothing;

do $$ begin
    create type conformance.colour as enum ('red', 'green');
exception when duplicate_object then null;
end $$;

-- A column for each type of the contract. The row `expected` is what a guest must be able to read and to write.
create table if not exists conformance.typed (
    id text primary key,
    a_boolean boolean, an_int2 smallint, an_int4 integer, an_int8 bigint, a_float4 real, a_float8 double precision,
    a_numeric numeric, a_text text, a_bytea bytea, a_uuid uuid, a_date date, a_time time, a_timestamp timestamp,
    a_timestamptz timestamptz, an_interval interval, a_json json, a_jsonb jsonb, a_colour conformance.colour
);
insert into conformance.typed values (
    'expected',
    true, -32768, 2147483647, 9223372036854775807, 1.5, -0.1,
    12345678901234567890.0123456789, E'olá, 世界 🌍\n', '\x00ff10', '0190a6c2-8d5e-8abc-9def-00112233445f',
    '2026-02-28', '23:59:59.999999', '2026-02-28 12:34:56.789012',
    '2026-02-28 12:34:56.789012+00', '14 months -3 days 01:02:03.000004', '{"b": 1,  "a": [null]}', '{"a": [1, "x"]}',
    'green'
) on conflict do nothing;
insert into conformance.typed (id) values ('nulls') on conflict do nothing;

-- A column for each array of the contract.
create table if not exists conformance.arrays (
    id text primary key,
    booleans boolean[], int4s integer[], int8s bigint[], float8s double precision[], texts text[], uuids uuid[]
);
insert into conformance.arrays values (
    'expected',
    '{t,NULL,f}', '{-2147483648,NULL}', '{9223372036854775807,NULL,0}', '{0.5,NULL}', '{"a \"quoted\" word",NULL,""}',
    '{0190a6c2-8d5e-8abc-9def-00112233445f,NULL}'
), ('empty', '{}', '{}', '{}', '{}', '{}', '{}') on conflict do nothing;
