//! One database and the questions that the bench asks it. Every figure of time comes from its clock.
//! It never knows who works in it.

use anyhow::Context;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Row};

/// An open connection to one database.
#[derive(Debug)]
pub(crate) struct Database {
    name: String,
    url: String,
    client: Client,
}

impl Database {
    pub(crate) async fn connect(name: &str, url: &str) -> anyhow::Result<Self> {
        Ok(Self { name: name.to_owned(), url: url.to_owned(), client: connect(url).await? })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Runs statements that answer nothing.
    pub(crate) async fn script(&self, sql: &str) -> anyhow::Result<()> {
        self.client.batch_execute(sql).await.with_context(|| format!("run \"{}\"", beginning(sql)))
    }

    pub(crate) async fn row(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> anyhow::Result<Row> {
        self.client.query_one(sql, values).await.with_context(|| format!("ask \"{}\"", beginning(sql)))
    }

    pub(crate) async fn rows(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> anyhow::Result<Vec<Row>> {
        self.client.query(sql, values).await.with_context(|| format!("ask \"{}\"", beginning(sql)))
    }

    pub(crate) async fn number(&self, sql: &str) -> anyhow::Result<i64> {
        Ok(self.row(sql, &[]).await?.try_get(0)?)
    }

    pub(crate) async fn float(&self, sql: &str) -> anyhow::Result<f64> {
        Ok(self.row(sql, &[]).await?.try_get(0)?)
    }

    pub(crate) async fn text(&self, sql: &str) -> anyhow::Result<String> {
        Ok(self.row(sql, &[]).await?.try_get(0)?)
    }

    pub(crate) async fn holds(&self, sql: &str) -> anyhow::Result<bool> {
        Ok(self.row(sql, &[]).await?.try_get(0)?)
    }

    /// Seconds on the server's clock.
    pub(crate) async fn clock(&self) -> anyhow::Result<f64> {
        self.float("SELECT extract(epoch FROM clock_timestamp())::float8").await
    }

    /// Bytes of write-ahead log that the cluster has ever written.
    pub(crate) async fn wal(&self) -> anyhow::Result<f64> {
        self.float("SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8").await
    }

    /// Rows that died in this database's tables since its creation, whether vacuumed or not: every
    /// deleted row and the old version of every updated one.
    pub(crate) async fn rows_died(&self) -> anyhow::Result<f64> {
        self.script("SELECT pg_stat_force_next_flush(), pg_stat_clear_snapshot()").await?;
        self.float("SELECT coalesce(sum(n_tup_upd + n_tup_del), 0)::float8 FROM pg_stat_user_tables").await
    }

    pub(crate) async fn wonce_roles(&self) -> anyhow::Result<Vec<String>> {
        if !self.holds("SELECT to_regclass('wonce.handler') IS NOT NULL").await? {
            return Ok(Vec::new());
        }
        let rows =
            self.rows("SELECT login_role FROM wonce.handler WHERE login_role IS NOT NULL", &[]).await?;
        rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
    }
}

/// Connects and leaves the connection to a task that ends with the client.
pub(crate) async fn connect(url: &str) -> anyhow::Result<Client> {
    let (client, connection) =
        tokio_postgres::connect(url, NoTls).await.context("connect to the bench's Postgres")?;
    tokio::spawn(connection);
    Ok(client)
}

fn beginning(sql: &str) -> String {
    sql.split_whitespace().take(12).collect::<Vec<_>>().join(" ")
}
