//! The connections that invocations run on. Each handler logs in as its own role, so a connection
//! belongs to one handler; the number of all of them is capped host-wide, and an idle one of
//! another handler makes room. A connection comes back only from a clean end; any other end
//! closes it.
//!
//! Knows nothing of what runs on a connection: that is `claim`, `transaction` and `settle`.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::{join, try_join_all};
use tokio::task::JoinHandle;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Statement};

use super::connect::DatabaseUrl;
use super::guest::queued::{Name, Prepared};
use super::settle::BOOKKEEPING;
use super::sql::Sql;
use super::{Error, error};

/// Prepared guest statements kept per connection; at the limit all are dropped and prepared anew.
const MAX_GUEST_STATEMENTS: usize = 100;
/// A running statement notices within this time that its host is gone.
const CONNECTION_CHECK: &str = "-c client_connection_check_interval=1s";

const WHO_AM_I: Sql =
    Sql { name: "ask whom the database takes a handler for", text: "SELECT session_user::text", params: &[] };

/// The youngest, should a forgotten one of the same text not be closed yet.
const NAME_OF: Sql = Sql {
    name: "ask for the name of a prepared statement",
    text: "SELECT name FROM pg_catalog.pg_prepared_statements \
           WHERE statement OPERATOR(pg_catalog.=) $1 AND NOT from_sql \
           ORDER BY prepare_time DESC LIMIT 1",
    params: &[Type::TEXT],
};

pub(super) const STATEMENTS: &[&Sql] = &[&WHO_AM_I, &NAME_OF];

/// Where a handler logs in, and the secret that its bookkeeping calls bind.
#[derive(Clone)]
pub struct HandlerAccess {
    pub id: i64,
    pub(super) secret: Vec<u8>,
    pub(super) login: DatabaseUrl,
}

impl std::fmt::Debug for HandlerAccess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HandlerAccess").field("id", &self.id).field("login", &self.login).finish()
    }
}

/// All invocation connections of this host. Cheap to clone.
#[derive(Debug, Clone)]
pub struct LeasePool {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    limit: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Oldest first.
    idle: VecDeque<(i64, Instant, Connection)>,
    /// Idle and leased together.
    open: usize,
}

/// One connection on loan. Dropping it closes it; [`give_back`](Lease::give_back) keeps it.
#[derive(Debug)]
pub(super) struct Lease {
    connection: Option<Arc<Connection>>,
    handler: i64,
    shared: Arc<Shared>,
}

/// A logged-in connection with its prepared statements.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) client: Client,
    url: DatabaseUrl,
    driver: JoinHandle<()>,
    bookkeeping: HashMap<&'static str, Statement>,
    guest_statements: Mutex<HashMap<String, Prepared>>,
}

impl LeasePool {
    /// A pool of at most `limit` connections; none is opened before it is needed.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { shared: Arc::new(Shared { limit, state: Mutex::default() }) }
    }

    /// Lends a connection of the handler's. The caller holds one of the host's invocation permits,
    /// of which there are as many as connections, so there is always room.
    pub(super) async fn lease(&self, access: &HandlerAccess) -> Result<Lease, Error> {
        let connection = match self.shared.take_idle(access.id) {
            Some(connection) => connection,
            None => {
                self.shared.reserve();
                Connection::open(&access.login).await.inspect_err(|_| self.shared.forget())?
            }
        };
        Ok(Lease {
            connection: Some(Arc::new(connection)),
            handler: access.id,
            shared: Arc::clone(&self.shared),
        })
    }

    /// Closes connections that nobody used for `longer_than`.
    pub fn close_idle(&self, longer_than: Duration) {
        let mut state = self.shared.lock();
        let before = state.idle.len();
        state.idle.retain(|(_, since, _)| since.elapsed() <= longer_than);
        state.open -= before - state.idle.len();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The handler's most recently used idle connection that is still alive.
    fn take_idle(&self, handler: i64) -> Option<Connection> {
        let mut state = self.lock();
        while let Some(index) = state.idle.iter().rposition(|(owner, _, _)| *owner == handler) {
            let (_, _, connection) = state.idle.remove(index)?;
            if !connection.client.is_closed() {
                return Some(connection);
            }
            state.open -= 1;
        }
        None
    }

    /// Counts one more connection, closing the idle one that waited longest where the cap asks for it.
    fn reserve(&self) {
        let mut state = self.lock();
        if state.open >= self.limit && state.idle.pop_front().is_some() {
            state.open -= 1;
        }
        state.open += 1;
    }

    fn forget(&self) {
        self.lock().open -= 1;
    }
}

impl Lease {
    pub(super) fn connection(&self) -> &Arc<Connection> {
        self.connection.as_ref().expect("a lease holds its connection until it ends")
    }

    /// Keeps the connection for the next invocation. Only for a connection that is outside any
    /// transaction with nothing in flight.
    pub(super) fn give_back(mut self) {
        let only_owner = self.connection.take().and_then(Arc::into_inner);
        match only_owner {
            Some(connection) if !connection.client.is_closed() => {
                self.shared.lock().idle.push_back((self.handler, Instant::now(), connection));
            }
            Some(_) | None => self.shared.forget(),
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            connection.driver.abort();
            self.shared.forget();
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Connection {
    /// Logs in and prepares the bookkeeping: it must be ready when the guest has aborted the transaction.
    async fn open(url: &DatabaseUrl) -> Result<Self, Error> {
        let mut config = url.config().clone();
        config.options(CONNECTION_CHECK);
        let (client, connection) = config
            .connect(url.tls())
            .await
            .map_err(|e| Error::Unreachable { reason: format!("{url}: {}", error::root_cause(&e)) })?;
        let driver = tokio::spawn(async move {
            // A broken connection shows in every pending call; there is nothing to add here.
            let _ = connection.await;
        });
        let (known, prepared) = join(
            require_own_login(&client, url),
            try_join_all(BOOKKEEPING.iter().map(|sql| prepare(&client, sql))),
        )
        .await;
        let mut connection = Self {
            client,
            url: url.clone(),
            driver,
            bookkeeping: HashMap::new(),
            guest_statements: Mutex::default(),
        };
        known?;
        connection.bookkeeping = prepared?.into_iter().collect();
        Ok(connection)
    }

    /// A bookkeeping statement, prepared when the connection was opened.
    pub(super) fn bookkeeping(&self, sql: &Sql) -> &Statement {
        self.bookkeeping.get(sql.name).expect("every bookkeeping statement is in BOOKKEEPING")
    }

    /// A guest's statement, if this connection is ready to queue it.
    pub(super) fn known_to_queue(&self, text: &str) -> Option<Prepared> {
        self.guest_statements().get(text).filter(|known| known.name != Name::Unasked).cloned()
    }

    /// A guest's statement, prepared once a connection.
    pub(super) async fn guest_statement(&self, text: &str) -> Result<Statement, tokio_postgres::Error> {
        let known = self.guest_statements().get(text).map(|known| known.statement.clone());
        match known {
            Some(known) => Ok(known),
            None => {
                let statement = self.client.prepare(text).await?;
                self.remember(text, statement.clone(), Name::Unasked);
                Ok(statement)
            }
        }
    }

    /// Prepares a guest's statement, and asks for the name under which `EXECUTE` finds it.
    pub(super) async fn prepare_to_queue(&self, text: &str) -> Result<(), tokio_postgres::Error> {
        let statement = self.guest_statement(text).await?;
        let name = match statement.columns() {
            [] => self.name_on_server(text).await?,
            [..] => Name::None,
        };
        self.remember(text, statement, name);
        Ok(())
    }

    /// The driver keeps its names to itself; the server tells them.
    async fn name_on_server(&self, text: &str) -> Result<Name, tokio_postgres::Error> {
        let row = self.client.query_typed_opt(NAME_OF.text, &[(&text, Type::TEXT)]).await?;
        let name: Option<String> = row.map(|row| row.get(0));
        Ok(match name {
            Some(name) if name.bytes().all(|byte| byte.is_ascii_alphanumeric()) => Name::Known(name.into()),
            Some(_) | None => Name::None,
        })
    }

    fn remember(&self, text: &str, statement: Statement, name: Name) {
        let mut statements = self.guest_statements();
        if statements.len() >= MAX_GUEST_STATEMENTS {
            statements.clear();
        }
        statements.insert(text.to_owned(), Prepared { statement, name });
    }

    /// Forgets prepared guest statements: one of them may not fit a changed table any more.
    pub(super) fn forget_guest_statements(&self) {
        self.guest_statements().clear();
    }

    /// Asks Postgres to end the running statement. That it ended shows in the statement's own answer.
    pub(super) async fn cancel(&self) {
        // A lost cancel request only means that the bounded wait after it runs out.
        let _ = self.client.cancel_token().cancel_query(self.url.tls()).await;
    }

    fn guest_statements(&self) -> MutexGuard<'_, HashMap<String, Prepared>> {
        self.guest_statements.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A handler's rights are its login's, so a login that something on the way has exchanged must not run it.
async fn require_own_login(client: &Client, url: &DatabaseUrl) -> Result<(), Error> {
    let found: String = WHO_AM_I.query_one(client, &[]).await?.get(0);
    match url.config().get_user() {
        Some(wanted) if wanted != found => Err(Error::ForeignLogin { wanted: wanted.to_owned(), found }),
        Some(_) | None => Ok(()),
    }
}

async fn prepare(client: &Client, sql: &'static Sql) -> Result<(&'static str, Statement), Error> {
    let statement = client
        .prepare_typed(sql.text, sql.params)
        .await
        .map_err(|source| Error::Statement { attempt: sql.name, source })?;
    Ok((sql.name, statement))
}
