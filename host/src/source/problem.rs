//! Every refusal as the sender sees it: an HTTP status and an RFC 9457 document. The one place
//! that maps errors to statuses.

use std::time::Duration;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use wonce_api::problem::{PROBLEM_JSON, Problem};
use wonce_api::receipt::{DeliveryReceipt, EventReceipt, Verdict};

use super::{Error, NotAccepted, Undecodable};

/// A refusal on its way out.
#[derive(Debug)]
pub struct Refusal {
    status: StatusCode,
    slug: &'static str,
    title: &'static str,
    detail: String,
    index: Option<usize>,
    retry_after: Option<Duration>,
    deliveries: Vec<DeliveryReceipt>,
}

impl Refusal {
    pub(super) fn new(
        status: StatusCode,
        slug: &'static str,
        title: &'static str,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            status,
            slug,
            title,
            detail: detail.into(),
            index: None,
            retry_after: None,
            deliveries: Vec::new(),
        }
    }

    /// The event conflicts for at least one handler. It was kept: sending it again changes nothing.
    pub(super) fn conflict(receipt: EventReceipt) -> Self {
        let conflicts: Vec<String> = receipt
            .deliveries
            .iter()
            .filter(|d| d.verdict == Verdict::KeyConflict)
            .map(|d| {
                format!(
                    "handler \"{}\" key \"{}\"",
                    d.handler.as_deref().unwrap_or_default(),
                    d.key.as_deref().unwrap_or_default()
                )
            })
            .collect();
        let detail = format!(
            "another payload was accepted under {}; this one is kept as a dead letter and will not be handled. Give a new event a new id, or correct the key rule",
            conflicts.join(", ")
        );
        let mut refusal =
            Self::new(StatusCode::CONFLICT, "key-conflict", "the key belongs to another payload", detail);
        refusal.deliveries = receipt.deliveries;
        refusal
    }

    /// The response for a request to this path.
    pub(super) fn into_response(self, path: &str) -> Response {
        let problem = Problem {
            kind: format!("urn:wonce:problem:{}", self.slug),
            title: self.title.to_owned(),
            status: self.status.as_u16(),
            detail: self.detail,
            instance: path.to_owned(),
            index: self.index,
            found: None,
            deliveries: self.deliveries,
        };
        let mut response = (self.status, axum::Json(problem)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(PROBLEM_JSON));
        if let Some(wait) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(wait.as_secs().max(1)));
        }
        response
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let (status, slug, title) = match &error {
            Error::TooLarge { .. } | Error::TooMany { .. } => {
                (StatusCode::PAYLOAD_TOO_LARGE, "too-large", "the request is too large")
            }
            Error::MediaType { .. } | Error::ContentEncoding { .. } => (
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "media-type",
                "the request is in a form wonce does not take",
            ),
            Error::Undeclared { .. } => {
                (StatusCode::BAD_REQUEST, "undeclared-source", "the source is not declared")
            }
            Error::NotJson { .. }
            | Error::MissingAttribute { .. }
            | Error::EmptyAttribute { .. }
            | Error::LongAttribute { .. }
            | Error::ManyAttributes { .. }
            | Error::ControlCharacter { .. }
            | Error::SpecVersion { .. }
            | Error::AttributeName { .. }
            | Error::RepeatedAttribute { .. }
            | Error::AttributeType { .. }
            | Error::HeaderNotUtf8 { .. }
            | Error::Time { .. }
            | Error::DataTwice
            | Error::DataBase64 { .. }
            | Error::DataNotText { .. }
            | Error::NotThere { .. } => {
                (StatusCode::BAD_REQUEST, "undecodable", "the request is not an event")
            }
        };
        Self::new(status, slug, title, error.to_string())
    }
}

impl From<Undecodable> for Refusal {
    fn from(undecodable: Undecodable) -> Self {
        Self { index: undecodable.index, ..undecodable.error.into() }
    }
}

impl From<NotAccepted> for Refusal {
    fn from(reason: NotAccepted) -> Self {
        let (status, slug, title) = match &reason {
            NotAccepted::Unrouted { .. } => (StatusCode::NOT_FOUND, "unrouted", "no handler wants the event"),
            NotAccepted::NoKey { .. } => {
                (StatusCode::UNPROCESSABLE_ENTITY, "no-key", "the event has no idempotency key")
            }
            NotAccepted::Busy { .. } => (StatusCode::TOO_MANY_REQUESTS, "busy", "too many events at once"),
            NotAccepted::Unavailable { .. } => {
                (StatusCode::SERVICE_UNAVAILABLE, "unavailable", "the database is out of reach")
            }
            NotAccepted::Stopping { .. } => {
                (StatusCode::SERVICE_UNAVAILABLE, "stopping", "the host is stopping")
            }
            NotAccepted::Failed { .. } => {
                (StatusCode::INTERNAL_SERVER_ERROR, "failed", "the event could not be kept")
            }
        };
        let (index, retry_after) = (reason.index(), reason.retry_after());
        Self { index, retry_after, ..Self::new(status, slug, title, reason.to_string()) }
    }
}
