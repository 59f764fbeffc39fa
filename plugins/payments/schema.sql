-- The shop's tables that this handler works on. Safe to run again.
-- The handler's role needs: usage on schema shop; select, update on shop.orders.
create schema if not exists shop;

create table if not exists shop.orders (
    id             text primary key,
    status         text not null default 'open' check (status in ('open', 'paid', 'cancelled')),
    amount_cents   bigint not null check (amount_cents > 0),
    currency       text not null check (currency ~ '^[A-Z]{3}$'),
    customer_email text not null,
    payment_id     text unique,
    paid_at        timestamptz,
    check ((status = 'paid') = (payment_id is not null and paid_at is not null))
);
