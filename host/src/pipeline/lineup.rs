//! The handlers that this host runs, each with the version that new invocations get. A version is
//! exchanged while invocations run: who has begun keeps what it began with, and nobody waits.
//!
//! Knows nothing of where versions come from.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use wonce_core::key::Selector;

use super::handler::Handler;
use super::intake::{RoutedHandler, Routes};
use crate::source::webhook::KeptHeaders;
use crate::store::upkeep::Retention;

/// All seats. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Lineup(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    seats: Mutex<BTreeMap<i64, Arc<Seat>>>,
    routes: Routes,
    headers: KeptHeaders,
    /// Told when there is a new seat.
    seated: Notify,
}

/// The place of one handler.
#[derive(Debug)]
pub struct Seat {
    /// The handler's id in the database.
    pub id: i64,
    /// How many workers it has; the operator's say, so no version changes it.
    pub concurrency: usize,
    current: RwLock<Arc<Handler>>,
    has_workers: AtomicBool,
    /// Fires when the handler leaves.
    pub(super) left: CancellationToken,
}

impl Lineup {
    /// What intake follows.
    #[must_use]
    pub fn routes(&self) -> Routes {
        self.0.routes.clone()
    }

    /// What sources keep of a request.
    #[must_use]
    pub fn kept_headers(&self) -> KeptHeaders {
        self.0.headers.clone()
    }

    /// From now on new claims of the handler run this version; a new handler gets a seat.
    pub fn put(&self, handler: Handler) {
        let id = handler.access.id;
        let mut seats = self.seats();
        let known = seats.get(&id).map(Arc::clone);
        match known {
            Some(seat) => seat.exchange(handler),
            None => {
                seats.insert(id, Arc::new(Seat::new(handler)));
                self.0.seated.notify_one();
            }
        }
        self.follow(&seats);
    }

    /// Intake stops routing to the handler and its workers end after what they are at.
    pub fn take_out(&self, id: i64) {
        let mut seats = self.seats();
        if let Some(seat) = seats.remove(&id) {
            seat.left.cancel();
        }
        self.follow(&seats);
    }

    /// The handlers as they are now, by id.
    #[must_use]
    pub fn handlers(&self) -> Vec<Arc<Handler>> {
        self.seats().values().map(|seat| seat.current()).collect()
    }

    /// The handler's version that new claims get.
    #[must_use]
    pub fn running(&self, id: i64) -> Option<Arc<Handler>> {
        self.seats().get(&id).map(|seat| seat.current())
    }

    /// How long the ledgers of those handlers remember that do not remember for ever.
    #[must_use]
    pub fn retentions(&self) -> Vec<Retention> {
        let kept =
            |handler: &Arc<Handler>| Some(Retention { handler: handler.access.id, keep: handler.retention? });
        self.handlers().iter().filter_map(kept).collect()
    }

    /// Seats for which nobody has started workers yet. Each is given out once.
    pub(super) fn without_workers(&self) -> Vec<Arc<Seat>> {
        let unclaimed = |seat: &&Arc<Seat>| !seat.has_workers.swap(true, Ordering::Relaxed);
        self.seats().values().filter(unclaimed).cloned().collect()
    }

    /// Ready when a seat was added since the last listener.
    pub(super) async fn seated(&self) {
        self.0.seated.notified().await;
    }

    fn follow(&self, seats: &BTreeMap<i64, Arc<Seat>>) {
        let routed = |seat: &Arc<Seat>| RoutedHandler { id: seat.id, route: seat.current().route.clone() };
        let routed: Vec<RoutedHandler> = seats.values().map(routed).collect();
        self.0.headers.replace(routed.iter().flat_map(headers).collect());
        self.0.routes.replace(routed);
    }

    fn seats(&self) -> MutexGuard<'_, BTreeMap<i64, Arc<Seat>>> {
        self.0.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The headers that a handler's rules name.
fn headers(handler: &RoutedHandler) -> Vec<String> {
    let rules = handler.route.subscriptions.iter().flat_map(|wanted| [&wanted.key, &wanted.order_by]);
    let header = |selector: &Selector| match selector {
        Selector::Header(name) => Some(name.clone()),
        Selector::Pointer(_) | Selector::Extension(_) | Selector::Attribute(_) | Selector::PayloadHash => {
            None
        }
    };
    rules.flatten().flat_map(|rule| rule.selectors().iter().filter_map(header)).collect()
}

impl Seat {
    fn new(handler: Handler) -> Self {
        Self {
            id: handler.access.id,
            concurrency: handler.concurrency,
            current: RwLock::new(Arc::new(handler)),
            has_workers: AtomicBool::new(false),
            left: CancellationToken::new(),
        }
    }

    /// What a claim that begins now runs to its end.
    pub(super) fn current(&self) -> Arc<Handler> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn exchange(&self, handler: Handler) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        // Claims of a handler on one host take turns, whichever version they are for.
        let turns = Arc::clone(&current.turns);
        *current = Arc::new(Handler { turns, ..handler });
    }
}
