//! `GET /v1/live`: the live stream as server-sent events.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use wonce_api::live::Cursor;

use super::AdminState;
use super::refusal::Refusal;
use crate::live::hub::MAX_READERS;
use crate::live::{Full, Reader};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Asks proxies not to hold back what is small.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

pub(super) async fn live(State(state): State<AdminState>, headers: HeaderMap) -> Result<Response, Refusal> {
    let reader = state.live.read(resume_from(&headers)).map_err(full)?;
    let stream = futures_util::stream::unfold(reader, next);
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-cache, no-transform"),
        (ACCEL_BUFFERING, "no"),
    ];
    Ok((headers, Body::from_stream(stream)).into_response())
}

async fn next(mut reader: Reader) -> Option<(Result<Bytes, std::convert::Infallible>, Reader)> {
    let bytes = reader.next().await?;
    Some((Ok(bytes), reader))
}

/// A cursor that cannot be read is one that is not known here: the reader gets a snapshot.
fn resume_from(headers: &HeaderMap) -> Option<Cursor> {
    headers.get(LAST_EVENT_ID)?.to_str().ok()?.parse().ok()
}

fn full(_: Full) -> Refusal {
    Refusal::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "too-many-readers",
        "The live stream has no place left",
        format!(
            "this host serves {MAX_READERS} readers of the live stream at once, or it is about to stop; end one of \
             them, ask again later, or ask another host"
        ),
    )
}
