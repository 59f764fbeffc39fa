//! What an HTTP answer, or its absence, says about an effect. Knows nothing of what is done next.
//!
//! | answer | outcome |
//! |---|---|
//! | 2xx | confirmed |
//! | 408, 409, 425, 429, 500, 501, 503 and other 5xx | retry, after `Retry-After` |
//! | 502, 504 | unknown: a gateway lost the receiver's answer |
//! | 3xx and other 4xx | refused |
//! | no connection | retry: nothing was sent |
//! | time-out or broken connection afterwards | unknown |
//!
//! 409 is what a receiver that honours `Idempotency-Key` answers while the first request still
//! runs; one that means "never" costs a few attempts and is refused then.

use std::time::Duration;

use reqwest::header::{HeaderMap, LOCATION, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use wonce_core::relay::SendOutcome;

/// What is read of an answer's body at most, in bytes.
const MAX_ANSWER_BYTES: usize = 64 * 1024;
/// What is kept of it for people, in characters.
const SUMMARY_CHARS: usize = 500;
/// The status is the answer; its text may not take long.
const BODY_WAIT: Duration = Duration::from_secs(2);
/// A sink cannot put an effect off for longer; the retry policy's ceiling cuts further.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// Reads the answer.
pub(super) async fn classify(response: Response) -> SendOutcome {
    let status = response.status();
    let after = retry_after(response.headers(), jiff::Timestamp::now());
    let redirect = response.headers().contains_key(LOCATION);
    let body = summary(response).await;
    outcome(status, after, redirect, &body)
}

fn outcome(status: StatusCode, after: Option<Duration>, redirect: bool, body: &str) -> SendOutcome {
    let reason =
        if body.is_empty() { format!("answered {status}") } else { format!("answered {status}: {body}") };
    match status.as_u16() {
        200..=299 => SendOutcome::Confirmed,
        502 | 504 => SendOutcome::Unknown { reason },
        408 | 409 | 425 | 429 | 500..=599 => SendOutcome::Retry { after, reason },
        300..=399 if redirect => SendOutcome::Refused {
            reason: format!(
                "answered {status}: redirects are not followed; set the sink's url to the final address"
            ),
        },
        _ => SendOutcome::Refused { reason },
    }
}

/// What a request without an answer says.
pub(super) fn classify_failure(error: reqwest::Error) -> SendOutcome {
    // The URL may be a secret, and the reason goes into tables and logs.
    let error = error.without_url();
    if error.is_builder() {
        SendOutcome::Refused { reason: format!("no request could be made of it: {}", root_cause(&error)) }
    } else if error.is_connect() {
        SendOutcome::Retry { after: None, reason: format!("no connection: {}", root_cause(&error)) }
    } else if error.is_timeout() {
        SendOutcome::Unknown { reason: "no answer in time".to_owned() }
    } else {
        SendOutcome::Unknown {
            reason: format!("the connection broke before the answer: {}", root_cause(&error)),
        }
    }
}

/// Seconds or an HTTP date; what is neither is no wish.
fn retry_after(headers: &HeaderMap, now: jiff::Timestamp) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let wish = match text.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let date = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
            // In the past means at once.
            Duration::try_from(date.duration_since(now)).unwrap_or_default()
        }
    };
    Some(wish.min(MAX_RETRY_AFTER))
}

/// The start of the body as one printable line; reading the rest (to a limit) leaves the
/// connection usable.
async fn summary(mut response: Response) -> String {
    let mut bytes = Vec::new();
    let read = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            bytes.extend_from_slice(&chunk);
            if bytes.len() >= MAX_ANSWER_BYTES {
                break;
            }
        }
    };
    // A body that does not come leaves what came so far.
    let _ = tokio::time::timeout(BODY_WAIT, read).await;
    let text = String::from_utf8_lossy(&bytes);
    let printable = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    printable.take(SUMMARY_CHARS).collect::<String>().trim().to_owned()
}

/// The innermost cause: the outer ones say "error sending request" only.
pub(super) fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    fn wish(text: &str) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, HeaderValue::from_str(text).expect("a header"));
        let now = "1994-11-06T08:49:30Z".parse().expect("a time");
        retry_after(&headers, now)
    }

    #[test]
    fn retry_after_is_seconds_or_a_date_and_has_a_ceiling() {
        assert_eq!(wish("120"), Some(Duration::from_secs(120)));
        assert_eq!(wish("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::from_secs(7)));
        assert_eq!(wish("Sun, 06 Nov 1994 08:00:00 GMT"), Some(Duration::ZERO), "the past is now");
        assert_eq!(wish("18446744073709551615"), Some(MAX_RETRY_AFTER));
        assert_eq!(wish("soon"), None);
        assert_eq!(wish("-1"), None);
    }

    #[test]
    fn each_status_has_one_meaning() {
        let meaning = |status: u16| {
            let status = StatusCode::from_u16(status).expect("a status");
            match outcome(status, None, false, "") {
                SendOutcome::Confirmed => "confirmed",
                SendOutcome::Refused { .. } => "refused",
                SendOutcome::Retry { .. } => "retry",
                SendOutcome::Unknown { .. } => "unknown",
            }
        };
        for (statuses, expected) in [
            (&[200, 201, 202, 204][..], "confirmed"),
            (&[301, 304, 400, 401, 403, 404, 410, 413, 422], "refused"),
            (&[408, 409, 425, 429, 500, 503, 507], "retry"),
            (&[502, 504], "unknown"),
        ] {
            for status in statuses {
                assert_eq!(meaning(*status), expected, "{status}");
            }
        }
    }
}
