//! Reads a request's body up to a limit, which is enforced while it streams: an oversized body
//! is never held. Knows nothing of its contents.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use bytes::BytesMut;
use http_body_util::BodyExt;
use tokio::time::timeout;

use crate::source::Error;
use crate::source::problem::Refusal;

/// How much a body may have, and what to raise when that is too little.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    pub(super) bytes: usize,
    pub(super) setting: &'static str,
}

pub(super) async fn read(
    body: Body,
    headers: &HeaderMap,
    limit: Limit,
    patience: Duration,
) -> Result<Vec<u8>, Refusal> {
    let declared = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    if let Some(declared) = declared.filter(|bytes: &u64| *bytes > limit.bytes as u64) {
        return Err(too_large(limit, format!("{declared} bytes")).into());
    }
    match timeout(patience, collect(body, limit)).await {
        Ok(collected) => collected,
        Err(_) => {
            let detail =
                format!("the body did not arrive within {} s; send it faster or smaller", patience.as_secs());
            Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, "slow-body", "the body took too long", detail))
        }
    }
}

async fn collect(mut body: Body, limit: Limit) -> Result<Vec<u8>, Refusal> {
    let mut collected = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|e| {
            let detail = format!("the body broke off: {e}; send it again");
            Refusal::new(StatusCode::BAD_REQUEST, "broken-body", "the body broke off", detail)
        })?;
        if let Ok(data) = frame.into_data() {
            if data.len() > limit.bytes - collected.len() {
                return Err(too_large(limit, format!("more than {} bytes", limit.bytes)).into());
            }
            collected.extend_from_slice(&data);
        }
    }
    Ok(collected.into())
}

fn too_large(limit: Limit, bytes: String) -> Error {
    Error::TooLarge { what: "the body", bytes, limit: limit.bytes, setting: limit.setting }
}
