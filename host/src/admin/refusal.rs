//! A request that is not granted, on its way to becoming a problem document. The last layer
//! writes it, because only there the path is known.

use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use wonce_api::Problem;
use wonce_api::problem::PROBLEM_JSON;

use crate::store;

/// When a caller may ask again after the database was out of reach, in seconds.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("5");

/// A refusal: the kind, and what happened this time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    status: StatusCode,
    /// The last part of the problem's URN; never changes its meaning.
    word: &'static str,
    title: &'static str,
    /// The thing, the reason, the next step.
    detail: String,
    /// How many dead letters match, when another number was expected.
    found: Option<i64>,
}

impl Refusal {
    pub(super) fn new(
        status: StatusCode,
        word: &'static str,
        title: &'static str,
        detail: impl Into<String>,
    ) -> Self {
        Self { status, word, title, detail: detail.into(), found: None }
    }

    /// The same with the number that was found.
    pub(super) fn with_found(self, found: i64) -> Self {
        Self { found: Some(found), ..self }
    }

    pub(super) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad-request", "The request cannot be understood", detail)
    }

    pub(super) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", "There is no such thing", detail)
    }

    pub(super) fn unauthorized(reason: &str) -> Self {
        let detail =
            format!("{reason}; pass it as --token or WONCE_TOKEN (header \"authorization: Bearer …\")");
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", "A token is needed", detail)
    }

    pub(super) fn unknown_host(host: &str) -> Self {
        let host: String = host.chars().take(100).collect();
        let detail = format!(
            "the request is for host {host:?}, and without a token this API answers only to localhost and its own \
             address; use http://127.0.0.1, or configure admin.token"
        );
        Self::new(StatusCode::FORBIDDEN, "unknown-host", "The request was meant for another host", detail)
    }

    pub(super) fn not_json() -> Self {
        let detail = "a POST or PATCH must say \"content-type: application/json\", so that no web page can send it; \
                      add the header and a JSON body ({} will do)";
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not-json", "The body must be JSON", detail)
    }

    /// Refuses because the store failed, and logs it: nobody above will.
    pub(super) fn store(error: &store::Error) -> Self {
        let detail = error.explained();
        if error.is_outage() {
            tracing::warn!(error = %detail, "the admin API cannot reach the database");
            let detail = format!("{detail}; nothing was changed, ask again when the database is back");
            let title = "The database is out of reach";
            return Self::new(StatusCode::SERVICE_UNAVAILABLE, "database-unavailable", title, detail);
        }
        tracing::error!(error = %detail, "the admin API failed");
        let detail =
            format!("{detail}; nothing was changed; the host's log has the same text with its context");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "The host failed", detail)
    }
}

impl From<store::Error> for Refusal {
    fn from(error: store::Error) -> Self {
        Self::store(&error)
    }
}

impl IntoResponse for Refusal {
    /// Only the status; [`write_refusals`] adds the document.
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// The outermost layer: gives every refusal its document and its path.
pub(super) async fn write_refusals(uri: Uri, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let Some(refusal) = response.extensions_mut().remove::<Refusal>() else {
        return response;
    };
    let problem = Problem {
        kind: format!("urn:wonce:problem:{}", refusal.word),
        title: refusal.title.to_owned(),
        status: refusal.status.as_u16(),
        detail: refusal.detail,
        instance: uri.path().to_owned(),
        index: None,
        found: refusal.found,
        deliveries: Vec::new(),
    };
    let document = serde_json::to_string(&problem).unwrap_or_default();
    let content_type = HeaderValue::from_static(PROBLEM_JSON);
    let mut written = (refusal.status, document).into_response();
    written.headers_mut().insert(header::CONTENT_TYPE, content_type);
    if refusal.status == StatusCode::SERVICE_UNAVAILABLE {
        written.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER);
    }
    if refusal.status == StatusCode::UNAUTHORIZED {
        written.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    written
}

pub(super) async fn no_such_path(uri: Uri) -> Refusal {
    Refusal::not_found(format!("the admin API has no {:?}; its paths start with /v1/status", uri.path()))
}

pub(super) async fn no_such_method(method: Method, uri: Uri) -> Refusal {
    let detail = format!(
        "{method} is not for {:?}; reads are GET, verbs are POST, changes of an operation or a payload are PATCH",
        uri.path()
    );
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", "The method does not fit", detail)
}
