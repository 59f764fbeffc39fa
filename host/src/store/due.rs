//! Which handlers have something due: one cheap look for the whole host, so that idle handlers
//! need no connection of their own.

use tokio_postgres::types::Type;

use super::sql::Sql;
use super::{Error, Store};

const DUE: Sql = Sql {
    name: "look for due deliveries",
    text: "SELECT h.id FROM wonce.handler h, clock_timestamp() AS t (now)
           WHERE h.id = ANY ($1) AND h.state = 'active'
             AND (EXISTS (SELECT FROM wonce.inbox i
                          WHERE i.handler_id = h.id AND i.lane IS NULL AND i.due_at <= t.now)
               OR EXISTS (SELECT FROM wonce.inbox i
                          WHERE i.handler_id = h.id AND i.lane IS NOT NULL AND i.due_at <= t.now))",
    params: &[Type::INT8_ARRAY],
};

pub(super) const STATEMENTS: &[&Sql] = &[&DUE];

impl Store {
    /// Those of `handlers` that are active and have a due delivery.
    ///
    /// # Errors
    /// When the database is out of reach.
    pub async fn due_handlers(&self, handlers: &[i64]) -> Result<Vec<i64>, Error> {
        let client = self.client().await?;
        let rows = DUE.query(&**client, &[&handlers]).await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }
}
