//! Who may come in. With a token, whoever bears it. Without one the door is a unix socket or a
//! loopback address, and what is left to fear is a web page in a local browser: it can neither
//! name the door in `Host` (DNS rebinding) nor send JSON without being asked first (forgery).

use std::net::{IpAddr, SocketAddr};

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::Response;
use sha2::{Digest, Sha256};

use super::refusal::Refusal;

/// How the door is guarded.
#[derive(Debug, Clone)]
pub struct AdminSettings {
    pub token: Option<AdminToken>,
    pub door: Door,
}

/// Where the API listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// The file's permissions say who may connect.
    Unix,
    Tcp(SocketAddr),
}

/// A bearer token; only its digest is kept.
#[derive(Clone, PartialEq, Eq)]
pub struct AdminToken([u8; 32]);

impl std::fmt::Debug for AdminToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AdminToken(…)")
    }
}

impl AdminToken {
    /// The token that callers must bear.
    #[must_use]
    pub fn new(secret: &str) -> Self {
        Self(Sha256::digest(secret.as_bytes()).into())
    }

    /// Takes the same time wherever the two differ: digests are compared, and all of them.
    fn matches(&self, offered: &str) -> bool {
        let offered = Self::new(offered);
        self.0.iter().zip(offered.0).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
    }
}

/// Refuses who does not bear the token, when there is one.
pub(super) async fn require_token(
    State(settings): State<AdminSettings>,
    request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    let Some(token) = &settings.token else {
        return Ok(next.run(request).await);
    };
    match bearer(request.headers()) {
        Some(offered) if token.matches(offered) => Ok(next.run(request).await),
        Some(_) => Err(Refusal::unauthorized("the bearer token is not the one this host was started with")),
        None => {
            Err(Refusal::unauthorized("this admin API asks for a bearer token and the request bears none"))
        }
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Without a token, refuses requests that were meant for another name.
pub(super) async fn require_known_host(
    State(settings): State<AdminSettings>,
    request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    match (&settings.token, settings.door) {
        (Some(_), _) | (None, Door::Unix) => Ok(next.run(request).await),
        (None, Door::Tcp(bound)) => {
            let host = request.headers().get(header::HOST).and_then(|h| h.to_str().ok()).unwrap_or("");
            if is_known_host(host, bound.ip()) {
                Ok(next.run(request).await)
            } else {
                Err(Refusal::unknown_host(host))
            }
        }
    }
}

fn is_known_host(host: &str, bound: IpAddr) -> bool {
    let Ok(authority) = host.parse::<Authority>() else {
        return false;
    };
    let name = authority.host().trim_start_matches('[').trim_end_matches(']');
    match name.parse::<IpAddr>() {
        Ok(address) => address.is_loopback() || address == bound,
        Err(_) => name.eq_ignore_ascii_case("localhost"),
    }
}

/// Types for which a browser asks first; a plugin's file has the second one.
const UNSENT_BY_FORMS: [&str; 2] = ["application/json", "application/wasm"];

/// Refuses writes that a web page could send without the browser asking first.
pub(super) async fn require_json(request: Request, next: Next) -> Result<Response, Refusal> {
    let writes = [Method::POST, Method::PATCH].contains(request.method());
    if writes && !says_json(request.headers()) {
        return Err(Refusal::not_json());
    }
    Ok(next.run(request).await)
}

fn says_json(headers: &HeaderMap) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or("");
    let kind = value.split(';').next().unwrap_or("").trim();
    UNSENT_BY_FORMS.iter().any(|known| kind.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_names_and_the_bound_address_are_known() {
        let bound = IpAddr::from([192, 168, 1, 7]);
        for host in
            ["localhost", "LOCALHOST:8081", "127.0.0.1:8081", "127.9.9.9", "[::1]:8081", "192.168.1.7"]
        {
            assert!(is_known_host(host, bound), "{host}");
        }
    }

    #[test]
    fn other_names_are_not_known() {
        let bound = IpAddr::from([127, 0, 0, 1]);
        for host in [
            "",
            "evil.example",
            "localhost.evil.example",
            "192.168.1.7:8081",
            "127.0.0.1.evil.example",
            "a b",
        ] {
            assert!(!is_known_host(host, bound), "{host}");
        }
    }

    #[test]
    fn a_token_matches_itself_only() {
        let token = AdminToken::new("correct horse battery staple");
        assert!(token.matches("correct horse battery staple"));
        assert!(!token.matches("correct horse battery stapl"));
        assert!(!token.matches(""));
        assert_eq!(format!("{token:?}"), "AdminToken(…)");
    }
}
