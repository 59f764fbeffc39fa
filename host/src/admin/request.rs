//! Reads what callers send: names, keys, ids and bodies, each with a refusal that says which
//! one is wrong and how it should look.

use std::str::FromStr;

use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, PathRejection, QueryRejection};
use axum::extract::{Path, Query};
use axum::http::StatusCode;
use serde::de::DeserializeOwned;
use wonce_api::dead_letter::{DEFAULT_LIMIT, MAX_LIMIT};
use wonce_core::name::{HandlerName, Key};

use super::refusal::Refusal;
use crate::store::action::By;

/// Who acts when the caller does not say.
const UNNAMED_ACTOR: &str = "admin-api";

pub(super) fn handler_name(path: Result<Path<String>, PathRejection>) -> Result<HandlerName, Refusal> {
    let Path(name) =
        path.map_err(|e| Refusal::bad_request(format!("the handler's name: {}", e.body_text())))?;
    HandlerName::parse(name.clone())
        .map_err(|reason| Refusal::bad_request(format!("{name:?} is not a handler's name: {reason}")))
}

pub(super) fn dead_letter_id(path: Result<Path<String>, PathRejection>) -> Result<i64, Refusal> {
    id(path, "dead letter", "wonce dead list")
}

pub(super) fn operation_id(path: Result<Path<String>, PathRejection>) -> Result<i64, Refusal> {
    id(path, "operation", "wonce operation list")
}

fn id(path: Result<Path<String>, PathRejection>, what: &str, list: &str) -> Result<i64, Refusal> {
    let Path(id) = path.map_err(|e| Refusal::bad_request(format!("the {what}'s id: {}", e.body_text())))?;
    id.parse().map_err(|_| {
        Refusal::bad_request(format!("{id:?} is not the id of a {what}: ids are numbers, see `{list}`"))
    })
}

/// A number of a query.
pub(super) fn number<T: FromStr>(name: &str, text: Option<&str>) -> Result<Option<T>, Refusal> {
    text.map(|text| {
        text.parse().map_err(|_| Refusal::bad_request(format!("{name}={text:?} is not a number that fits")))
    })
    .transpose()
}

/// How many entries a page holds.
pub(super) fn limit(text: Option<&str>) -> Result<u32, Refusal> {
    match number("limit", text)?.unwrap_or(DEFAULT_LIMIT) {
        limit @ 1..=MAX_LIMIT => Ok(limit),
        other => Err(Refusal::bad_request(format!("limit {other} is not within 1 and {MAX_LIMIT}"))),
    }
}

pub(super) fn key(what: &str, text: Option<&str>) -> Result<Key, Refusal> {
    let text = text.ok_or_else(|| Refusal::bad_request(format!("{what} is missing: add it as ?key=…")))?;
    Key::parse(text).map_err(|reason| Refusal::bad_request(format!("{what} cannot be a key: {reason}")))
}

pub(super) fn query<T>(query: Result<Query<T>, QueryRejection>) -> Result<T, Refusal> {
    let Query(query) = query.map_err(|e| Refusal::bad_request(format!("the query: {}", e.body_text())))?;
    Ok(query)
}

pub(super) type Id = Result<Path<String>, PathRejection>;
pub(super) type Body = Result<Bytes, BytesRejection>;

/// The body as JSON; an empty one is `{}`.
pub(super) fn body<T: DeserializeOwned>(body: Body) -> Result<T, Refusal> {
    body_within(body, super::MAX_BODY_BYTES)
}

/// The same where the route reads up to `limit` bytes.
pub(super) fn body_within<T: DeserializeOwned>(body: Body, limit: usize) -> Result<T, Refusal> {
    let bytes = body.map_err(|e| {
        let title = "The body cannot be read";
        let status = e.status();
        let word = if status == StatusCode::PAYLOAD_TOO_LARGE { "too-large" } else { "bad-request" };
        Refusal::new(
            status,
            word,
            title,
            format!("the body: {}; at most {limit} bytes are read", e.body_text()),
        )
    })?;
    let bytes: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
    serde_json::from_slice(bytes)
        .map_err(|e| Refusal::bad_request(format!("the body is not as expected: {e}")))
}

pub(super) fn by(actor: Option<&str>, reason: Option<&str>) -> Result<By, Refusal> {
    By::new(actor.unwrap_or(UNNAMED_ACTOR), reason.unwrap_or(""))
        .map_err(|e| Refusal::bad_request(format!("this cannot be recorded: {e}")))
}
