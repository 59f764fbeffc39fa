-- The newest known state of each shipment. Safe to run again.
-- The handler's role needs: usage on schema shipping; select, insert, update on shipping.shipments.
create schema if not exists shipping;

create table if not exists shipping.shipments (
    id         text primary key,
    version    bigint not null check (version > 0),
    status     text not null check (status in ('announced', 'in_transit', 'out_for_delivery', 'delivered', 'returned')),
    location   text,
    changed_at timestamptz not null
);
