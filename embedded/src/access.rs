//! How to reach the cluster's server, and the three questions wonce asks it: do you answer, do you keep what you
//! are told, and is this database there. It never knows which process answers.

use std::time::Duration;

use tokio_postgres::error::SqlState;
use tokio_postgres::{NoTls, SimpleQueryMessage};

use crate::cluster::SUPERUSER;
use crate::password::Password;
use crate::settings::Durability;

/// One question, connecting included. A server in recovery refuses at once, so this is about a stuck one.
const QUESTION_LIMIT: Duration = Duration::from_secs(5);
/// Creating a database copies a template of 7 MB.
const CREATE_LIMIT: Duration = Duration::from_secs(60);

/// Why a question was not answered.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server refused or went away.
    #[error("cannot {question} on the database server at 127.0.0.1:{port}")]
    Refused {
        /// What was asked.
        question: String,
        /// The server's port.
        port: u16,
        /// What the server or the connection said.
        source: tokio_postgres::Error,
    },
    /// The server took too long.
    #[error("cannot {question}: the database server at 127.0.0.1:{port} took more than {} s", limit.as_secs())]
    TooSlow {
        /// What was asked.
        question: String,
        /// The server's port.
        port: u16,
        /// The limit.
        limit: Duration,
    },
}

/// Where the server is and the password it takes.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    pub(crate) port: u16,
    pub(crate) password: Password,
}

impl Access {
    /// The connection text for one database.
    pub(crate) fn url(&self, database: &str) -> String {
        let password = self.password.reveal();
        format!("postgres://{SUPERUSER}:{password}@127.0.0.1:{}/{}", self.port, percent_encoded(database))
    }

    /// Connects to `database` and asks how durable the server is: an answer that needs a real query. That the
    /// server knows the random password also proves that it is the server of this cluster.
    pub(crate) async fn ask_durability(&self, database: &str) -> Result<Durability, Error> {
        let question = format!("ask the database \"{database}\" for its settings");
        let asked = self.ask(database, "SELECT current_setting('fsync')");
        match self.within(QUESTION_LIMIT, question, asked).await?.as_deref() {
            Some("off") => Ok(Durability::Throwaway),
            Some(_) | None => Ok(Durability::Durable),
        }
    }

    /// Creates `database` unless it is there.
    pub(crate) async fn ensure_database(&self, database: &str) -> Result<(), Error> {
        let question = format!("create the database \"{database}\"");
        self.within(CREATE_LIMIT, question, self.create_unless_there(database)).await
    }

    async fn create_unless_there(&self, database: &str) -> Result<(), tokio_postgres::Error> {
        let name = database.replace('\'', "''");
        let known =
            self.ask("postgres", &format!("SELECT 1 FROM pg_database WHERE datname = '{name}'")).await?;
        if known.is_some() {
            return Ok(());
        }
        let name = database.replace('"', "\"\"");
        match self.ask("postgres", &format!("CREATE DATABASE \"{name}\"")).await {
            // Somebody else was faster; which of the two errors depends on how much.
            Err(error) if error.code() == Some(&SqlState::DUPLICATE_DATABASE) => Ok(()),
            Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => Ok(()),
            created => created.map(|_| ()),
        }
    }

    /// The first value of the answer. The connection lives only as long as the question.
    async fn ask(&self, database: &str, sql: &str) -> Result<Option<String>, tokio_postgres::Error> {
        let mut config = tokio_postgres::Config::new();
        config.host("127.0.0.1").port(self.port).user(SUPERUSER).password(self.password.reveal());
        config.dbname(database).application_name("wonce-embedded");
        let (client, connection) = config.connect(NoTls).await?;
        tokio::pin!(connection);
        let rows = async { client.simple_query(sql).await };
        tokio::pin!(rows);
        let messages = tokio::select! {
            messages = &mut rows => messages?,
            ended = &mut connection => { ended?; rows.await? }
        };
        Ok(messages.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        }))
    }

    async fn within<T>(
        &self,
        limit: Duration,
        question: String,
        asked: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Error> {
        match tokio::time::timeout(limit, asked).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(source)) => Err(Error::Refused { question, port: self.port, source }),
            Err(_) => Err(Error::TooSlow { question, port: self.port, limit }),
        }
    }
}

fn percent_encoded(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'~' => char::from(byte).to_string(),
        0..=255 => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_database_names_survive_the_url() {
        assert_eq!(percent_encoded("wonce_test-1"), "wonce_test-1");
        assert_eq!(percent_encoded("a/b?c ä"), "a%2Fb%3Fc%20%C3%A4");
    }
}
