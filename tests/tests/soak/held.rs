//! A transaction whose snapshot keeps every row that dies after it began.

use tokio_postgres::Client;
use wonce_tests::child::database::Database;

#[derive(Debug)]
pub(crate) struct Held(Client);

impl Held {
    pub(crate) async fn begin(database: &Database) -> Self {
        let client = database.client().await;
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM wonce.handler";
        client.batch_execute(begin).await.expect("a snapshot");
        Self(client)
    }

    pub(crate) async fn end(self) {
        self.0.batch_execute("COMMIT").await.expect("it was open all the time");
    }
}
