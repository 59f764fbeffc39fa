//! Single questions to the admin API, each with its typed document. A question that only looks may be
//! asked of the next host when one is away; what changes something is asked once, of one host that
//! could be reached. Knows nothing of what is drawn.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use reqwest::{Method, RequestBuilder, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wonce_api::Problem;
use wonce_api::action::ActionRequest;
use wonce_api::dead_letter::{
    DeadLetterDetail, DeadLetterList, DeadLetterQuery, DiscardRequest, Discarded, GroupList, GroupQuery,
    ReplayRequest, Replayed, RestoreRequest, Restored,
};
use wonce_api::event::Timeline;
use wonce_api::handler::{HandlerChanged, HandlerDetail, HandlerList};
use wonce_api::operation::{
    IDEMPOTENCY_KEY, ItemList, ItemQuery, OperationChange, OperationDetail, OperationList, OperationQuery,
    OperationRequest,
};
use wonce_api::status::Status;
use wonce_api::verify::Verification;

use super::Error;
use super::error::root_cause;
use super::target::{Host, Hosts};

/// The host itself gives up a page after 30 s.
const ANSWER_LIMIT: Duration = Duration::from_secs(45);
/// Counting a large ledger takes a while; the host gives up after ten minutes.
const LONG_ANSWER_LIMIT: Duration = Duration::from_secs(660);

/// See the module. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Ask {
    hosts: Hosts,
    /// The one that answered last.
    place: Arc<AtomicUsize>,
}

impl Ask {
    #[must_use]
    pub fn new(hosts: Hosts) -> Self {
        Self { hosts, place: Arc::default() }
    }

    /// # Errors
    /// As every question here: when no host could be reached, the host refused, or what answered is
    /// no wonce host. The error says what was asked.
    pub async fn status(&self) -> Result<Status, Error> {
        self.get("read the status", &["status"], &()).await
    }

    /// # Errors
    /// See [`Ask::status`].
    pub async fn verify(&self) -> Result<Verification, Error> {
        self.look("count the books", &["verify"], &(), LONG_ANSWER_LIMIT).await
    }

    /// # Errors
    /// See [`Ask::status`].
    pub async fn handlers(&self) -> Result<HandlerList, Error> {
        self.get("list the handlers", &["handlers"], &()).await
    }

    /// # Errors
    /// See [`Ask::status`].
    pub async fn handler(&self, name: &str) -> Result<HandlerDetail, Error> {
        self.get(&format!("show handler {name}"), &["handlers", name], &()).await
    }

    /// One event from acceptance to outcome.
    ///
    /// # Errors
    /// See [`Ask::status`].
    pub async fn event(&self, handler: &str, key: &str) -> Result<Timeline, Error> {
        let asked = format!("show event {key} of {handler}");
        self.get(&asked, &["events", handler], &BTreeMap::from([("key", key)])).await
    }

    /// # Errors
    /// See [`Ask::status`].
    pub async fn dead_letters(&self, query: &DeadLetterQuery) -> Result<DeadLetterList, Error> {
        self.get("list dead letters", &["dead-letters"], query).await
    }

    /// # Errors
    /// See [`Ask::status`].
    pub async fn dead_letter_groups(&self, query: &GroupQuery) -> Result<GroupList, Error> {
        self.get("list the groups of dead letters", &["dead-letter-groups"], query).await
    }

    /// # Errors
    /// See [`Ask::status`].
    pub async fn dead_letter(&self, id: i64) -> Result<DeadLetterDetail, Error> {
        self.get(&format!("show dead letter {id}"), &["dead-letters", &id.to_string()], &()).await
    }

    /// # Errors
    /// See [`Ask::status`].
    pub async fn operations(&self, query: &OperationQuery) -> Result<OperationList, Error> {
        self.get("list operations", &["operations"], query).await
    }

    /// # Errors
    /// See [`Ask::status`].
    pub async fn operation(&self, id: i64) -> Result<OperationDetail, Error> {
        self.get(&format!("show operation {id}"), &["operations", &id.to_string()], &()).await
    }

    /// # Errors
    /// See [`Ask::status`].
    pub async fn items(&self, id: i64, query: &ItemQuery) -> Result<ItemList, Error> {
        let asked = format!("list the items of operation {id}");
        self.get(&asked, &["operations", &id.to_string(), "items"], query).await
    }

    /// # Errors
    /// See [`Ask::status`]; when no answer came it may have been done all the same.
    pub async fn pause(&self, handler: &str, request: &ActionRequest) -> Result<HandlerChanged, Error> {
        let asked = format!("pause handler {handler}");
        self.act(Method::POST, &asked, &["handlers", handler, "pause"], request, None).await
    }

    /// # Errors
    /// See [`Ask::pause`].
    pub async fn resume(&self, handler: &str, request: &ActionRequest) -> Result<HandlerChanged, Error> {
        let asked = format!("resume handler {handler}");
        self.act(Method::POST, &asked, &["handlers", handler, "resume"], request, None).await
    }

    /// # Errors
    /// See [`Ask::pause`].
    pub async fn replay(&self, id: i64, request: &ReplayRequest) -> Result<Replayed, Error> {
        let asked = format!("replay dead letter {id}");
        self.act(Method::POST, &asked, &["dead-letters", &id.to_string(), "replay"], request, None).await
    }

    /// # Errors
    /// See [`Ask::pause`].
    pub async fn discard(&self, id: i64, request: &DiscardRequest) -> Result<Discarded, Error> {
        let asked = format!("discard dead letter {id}");
        self.act(Method::POST, &asked, &["dead-letters", &id.to_string(), "discard"], request, None).await
    }

    /// # Errors
    /// See [`Ask::pause`].
    pub async fn restore(&self, id: i64, request: &RestoreRequest) -> Result<Restored, Error> {
        let asked = format!("restore dead letter {id}");
        self.act(Method::POST, &asked, &["dead-letters", &id.to_string(), "restore"], request, None).await
    }

    /// Begins an operation on many dead letters. `name` is made when the question is put to a person:
    /// the same name twice is the same operation.
    ///
    /// # Errors
    /// See [`Ask::pause`]. When another number matches than was expected, the problem says which.
    pub async fn begin(&self, name: &str, request: &OperationRequest) -> Result<OperationDetail, Error> {
        let asked = format!("{} {} dead letters", request.verb, request.expected);
        self.act(Method::POST, &asked, &["operations"], request, Some(name)).await
    }

    /// Pauses, resumes, aborts or paces an operation.
    ///
    /// # Errors
    /// See [`Ask::pause`].
    pub async fn change(&self, id: i64, request: &OperationChange) -> Result<OperationDetail, Error> {
        let asked = format!("change operation {id}");
        self.act(Method::PATCH, &asked, &["operations", &id.to_string()], request, None).await
    }

    async fn get<T: DeserializeOwned>(
        &self,
        asked: &str,
        path: &[&str],
        query: &(impl Serialize + Sync),
    ) -> Result<T, Error> {
        self.look(asked, path, query, ANSWER_LIMIT).await
    }

    /// Asks one host after the other until one can be reached.
    async fn look<T: DeserializeOwned>(
        &self,
        asked: &str,
        path: &[&str],
        query: &(impl Serialize + Sync),
        limit: Duration,
    ) -> Result<T, Error> {
        let pairs = pairs(query);
        self.round(asked, |host| Ok(self.request(host, Method::GET, path, &pairs)?.timeout(limit))).await
    }

    /// Goes on to the next host only when nothing can have reached this one.
    async fn act<T: DeserializeOwned>(
        &self,
        method: Method,
        asked: &str,
        path: &[&str],
        body: &(impl Serialize + Sync),
        name: Option<&str>,
    ) -> Result<T, Error> {
        self.round(asked, |host| {
            let request = self.request(host, method.clone(), path, &[])?.timeout(ANSWER_LIMIT).json(body);
            Ok(match name {
                Some(name) => request.header(IDEMPOTENCY_KEY, name),
                None => request,
            })
        })
        .await
    }

    async fn round<T: DeserializeOwned>(
        &self,
        asked: &str,
        request: impl Fn(&Host) -> Result<RequestBuilder, Error>,
    ) -> Result<T, Error> {
        let first = self.place.load(Ordering::Relaxed);
        let mut last = None;
        for place in first..first + self.hosts.len() {
            let host = self.hosts.at(place);
            match answer(asked, host, request(host)?).await {
                Err(error @ Error::Unreachable { .. }) => last = Some(error),
                other => {
                    self.place.store(place % self.hosts.len(), Ordering::Relaxed);
                    return other;
                }
            }
        }
        Err(last.unwrap_or_else(|| Error::Unreachable {
            asked: asked.to_owned(),
            address: String::new(),
            reason: "no host is named".to_owned(),
        }))
    }

    fn request(
        &self,
        host: &Host,
        method: Method,
        path: &[&str],
        pairs: &[(String, String)],
    ) -> Result<RequestBuilder, Error> {
        let path: Vec<&str> = ["v1"].into_iter().chain(path.iter().copied()).collect();
        let query: Vec<(&str, &str)> =
            pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.hosts.request(host, method, &path, &query)
    }
}

/// The texts of a query document by name.
fn pairs(query: &impl Serialize) -> Vec<(String, String)> {
    let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(query) else { return Vec::new() };
    let text = |(name, value): (String, serde_json::Value)| Some((name, value.as_str()?.to_owned()));
    fields.into_iter().filter_map(text).collect()
}

async fn answer<T: DeserializeOwned>(asked: &str, host: &Host, request: RequestBuilder) -> Result<T, Error> {
    let (asked, address) = (asked.to_owned(), host.target.to_string());
    let response = match request.send().await {
        Err(error) if error.is_connect() => {
            return Err(Error::Unreachable { asked, address, reason: root_cause(&error) });
        }
        Err(error) if error.is_timeout() => return Err(Error::TooSlow { asked, address }),
        Err(error) => return Err(Error::NotWonce { asked, address, reason: root_cause(&error) }),
        Ok(response) => response,
    };
    let status = response.status();
    let body = match response.text().await {
        Err(error) if error.is_timeout() => return Err(Error::TooSlow { asked, address }),
        Err(error) => return Err(Error::NotWonce { asked, address, reason: root_cause(&error) }),
        Ok(body) => body,
    };
    if status.is_success() {
        let wrong = |error: serde_json::Error| Error::NotWonce { asked, address, reason: error.to_string() };
        return serde_json::from_str(&body).map_err(wrong);
    }
    match (status, serde_json::from_str::<Problem>(&body)) {
        (StatusCode::UNAUTHORIZED, Ok(problem)) => {
            Err(Error::NotLetIn { asked, address, reason: problem.detail })
        }
        (_, Ok(problem)) => Err(Error::Refused { asked, problem: Box::new(problem) }),
        (status, Err(_)) => Err(Error::NotWonce { asked, address, reason: format!("status {status}") }),
    }
}

#[cfg(test)]
mod tests;
