//! Who wants which events, shared by all ways in and replaced whole when handlers change.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use wonce_core::name::HandlerName;
use wonce_core::route::Route;

use crate::store::intake::Recipient;

/// A deployed handler's id in the database and its subscriptions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoutedHandler {
    pub id: i64,
    pub route: Route,
}

/// The current routes. Cheap to clone; all clones see a replacement at once.
#[derive(Debug, Clone, Default)]
pub struct Routes {
    table: Arc<RwLock<Arc<Table>>>,
}

/// One state of the routes: an event is planned against one of them.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(super) routes: Vec<Route>,
    ids: HashMap<HandlerName, i64>,
}

impl Routes {
    #[must_use]
    pub fn new(handlers: Vec<RoutedHandler>) -> Self {
        let routes = Self::default();
        routes.replace(handlers);
        routes
    }

    /// What is planned from now on follows these; what is queued already keeps its plan.
    pub fn replace(&self, handlers: Vec<RoutedHandler>) {
        let ids = handlers.iter().map(|h| (h.route.handler.clone(), h.id)).collect();
        let routes = handlers.into_iter().map(|h| h.route).collect();
        let table = Arc::new(Table { routes, ids });
        *self.table.write().unwrap_or_else(PoisonError::into_inner) = table;
    }

    pub(crate) fn current(&self) -> Arc<Table> {
        Arc::clone(&self.table.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Table {
    /// The handler as the database knows it; every route's handler has an id.
    pub(super) fn recipient(&self, name: HandlerName) -> Option<Recipient> {
        let id = *self.ids.get(&name)?;
        Some(Recipient { id, name })
    }
}
