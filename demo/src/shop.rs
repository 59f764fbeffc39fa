//! The business tables of the demo, seen by their owner: stocked before the stream, counted after it.

use std::path::Path;

use anyhow::Context;
use tokio_postgres::{Client, NoTls};

use crate::events::{self, CANCELLED_ORDERS, LATE_ORDERS, ORDERS, WALLETS, WRONG_AMOUNTS};

/// A connection of the database's owner.
#[derive(Debug)]
pub(crate) struct Shop(Client);

impl Shop {
    /// Logs in to the private cluster in the host's data folder.
    pub(crate) async fn open(data: &Path) -> anyhow::Result<Self> {
        let read = |name: &str| {
            let file = data.join("postgres").join(name);
            std::fs::read_to_string(&file).with_context(|| format!("read \"{}\"", file.display()))
        };
        let (port, password) = (read("port")?, read("password")?);
        let url = format!("postgres://wonce:{}@127.0.0.1:{}/wonce", password.trim(), port.trim());
        let (client, connection) = tokio_postgres::connect(&url, NoTls).await?;
        tokio::spawn(connection);
        Ok(Self(client))
    }

    /// Orders that wait for their payment, cancelled ones, and empty wallets.
    pub(crate) async fn stock(&self) -> anyhow::Result<()> {
        self.orders(0..ORDERS, "open").await?;
        self.orders(ORDERS + LATE_ORDERS..ORDERS + LATE_ORDERS + CANCELLED_ORDERS, "cancelled").await?;
        self.orders(1_000..1_000 + WRONG_AMOUNTS, "open").await?;
        for wallet in 0..WALLETS {
            let id = format!("wallet-{wallet}");
            self.0.execute("INSERT INTO wallet.wallets (id, currency) VALUES ($1, 'EUR')", &[&id]).await?;
        }
        Ok(())
    }

    /// The orders that were paid before they were known.
    pub(crate) async fn late_orders(&self) -> anyhow::Result<()> {
        self.orders(ORDERS..ORDERS + LATE_ORDERS, "open").await
    }

    async fn orders(&self, range: std::ops::Range<usize>, status: &str) -> anyhow::Result<()> {
        for order in range {
            let id = format!("order-{order}");
            let amount = i64::try_from(events::amount_cents(order))?;
            let insert = "INSERT INTO shop.orders (id, status, amount_cents, currency, customer_email)
                          VALUES ($1, $2, $3, 'EUR', $1 || '@example.com')";
            self.0.execute(insert, &[&id, &status, &amount]).await?;
        }
        Ok(())
    }

    /// One number out of the tables.
    pub(crate) async fn count(&self, query: &str) -> anyhow::Result<usize> {
        let row = self.0.query_one(query, &[]).await.with_context(|| format!("count with \"{query}\""))?;
        Ok(usize::try_from(row.get::<_, i64>(0))?)
    }

    /// Words and numbers out of the tables.
    pub(crate) async fn counts(&self, query: &str) -> anyhow::Result<Vec<(String, i64)>> {
        let rows = self.0.query(query, &[]).await.with_context(|| format!("count with \"{query}\""))?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    }
}
