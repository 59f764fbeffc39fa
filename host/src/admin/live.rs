//! `GET /v1/live`: the live stream as server-sent events; `GET /v1/live/logs`: log lines likewise.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::Stream;
use wonce_api::live::{Cursor, LogQuery};
use wonce_core::name::HandlerName;

use super::refusal::Refusal;
use super::{AdminState, request};
use crate::live::hub::MAX_READERS;
use crate::live::logs::MAX_LOG_READERS;
use crate::live::{Full, LogReader, Reader};
use crate::telemetry::logs::tail::{Level, Wanted};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Asks proxies not to hold back what is small.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

pub(super) async fn live(State(state): State<AdminState>, headers: HeaderMap) -> Result<Response, Refusal> {
    let reader = state.live.read(resume_from(&headers)).map_err(full)?;
    Ok(events(futures_util::stream::unfold(reader, next)))
}

pub(super) async fn logs(
    State(state): State<AdminState>,
    query: Result<Query<LogQuery>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let wanted = wanted(request::query(query)?)?;
    let resume = resume_from(&headers);
    let reader = state.logs.read(&state.live, wanted, resume.as_ref()).map_err(full_of_logs)?;
    Ok(events(futures_util::stream::unfold(reader, next_lines)))
}

fn events(stream: impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-cache, no-transform"),
        (ACCEL_BUFFERING, "no"),
    ];
    (headers, Body::from_stream(stream)).into_response()
}

async fn next(mut reader: Reader) -> Option<(Result<Bytes, Infallible>, Reader)> {
    let bytes = reader.next().await?;
    Some((Ok(bytes), reader))
}

async fn next_lines(mut reader: LogReader) -> Option<(Result<Bytes, Infallible>, LogReader)> {
    let bytes = reader.next().await?;
    Some((Ok(bytes), reader))
}

fn wanted(query: LogQuery) -> Result<Wanted, Refusal> {
    let level = query.level.as_deref().map_or(Ok(Level::Info), |word| {
        Level::parse(word).ok_or_else(|| {
            let known = Level::ALL.map(Level::as_str).join(", ");
            Refusal::bad_request(format!("level {word:?} is not shown; the levels are {known}"))
        })
    })?;
    let handler = query.handler.map(|name| {
        HandlerName::parse(name.clone())
            .map_err(|reason| Refusal::bad_request(format!("{name:?} is not a handler's name: {reason}")))
    });
    Ok(Wanted { level, handler: handler.transpose()?.map(|name| name.as_str().to_owned()) })
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

fn full_of_logs(_: Full) -> Refusal {
    Refusal::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "too-many-readers",
        "The stream of log lines has no place left",
        format!(
            "this host serves {MAX_LOG_READERS} readers of its log lines at once, or it is about to stop; end one of \
             them, or ask again later"
        ),
    )
}
