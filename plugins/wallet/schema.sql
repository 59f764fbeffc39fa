-- Wallets and the journal of what changed them. Safe to run again.
-- The handler's role needs: usage on schema wallet; select, update on wallet.wallets; select, insert on wallet.journal.
create schema if not exists wallet;

create table if not exists wallet.wallets (
    id            text primary key,
    currency      text not null check (currency ~ '^[A-Z]{3}$'),
    balance_cents bigint not null default 0 check (balance_cents >= 0)
);

create table if not exists wallet.journal (
    credit_id     text primary key,
    wallet_id     text not null references wallet.wallets,
    amount_cents  bigint not null check (amount_cents > 0),
    balance_cents bigint not null,
    reason        text,
    booked_at     timestamptz not null default now()
);

create index if not exists journal_by_wallet on wallet.journal (wallet_id, booked_at);
