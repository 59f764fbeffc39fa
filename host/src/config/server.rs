//! `[http]` and `[admin]`: where events come in and where operators look. Knows nothing of
//! what is served there.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use super::reader::Reader;
use super::report::Complaint;
use super::secret::Secret;

const HTTP_PORT: u16 = 8080;
const ADMIN_PORT: u16 = 8081;
const DEFAULT_MAX_EVENT_BYTES: u64 = 1 << 20;
const DEFAULT_MAX_BATCH_BYTES: u64 = 8 << 20;
const MAX_BODY_BYTES: u64 = 256 << 20;
const DEFAULT_MAX_BATCH_EVENTS: u32 = 1_000;
const MAX_BATCH_EVENTS: u32 = 100_000;
const DEFAULT_REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_REQUEST_TIMEOUT: Duration = Duration::from_secs(300);
/// A shorter admin token could be guessed.
const MIN_TOKEN_BYTES: usize = 16;

/// The door for events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Http {
    pub listen: SocketAddr,
    /// One event's data.
    pub max_event_bytes: u64,
    /// One request's body, a batch of events.
    pub max_batch_bytes: u64,
    pub max_batch_events: u32,
    /// From the first byte of a request to its answer.
    pub request_timeout: Duration,
}

/// The door for operators.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admin {
    pub listen: AdminListen,
    /// Asked for on every request if there is one.
    pub token: Option<Secret>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AdminListen {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

pub(crate) fn read_http(table: &mut Reader<'_, '_>) -> Http {
    let listen = listen(table, HTTP_PORT);
    let max_event_bytes = table.size("max_event_bytes", 1..=MAX_BODY_BYTES, DEFAULT_MAX_EVENT_BYTES);
    let max_batch_bytes = table.size("max_batch_bytes", 1..=MAX_BODY_BYTES, DEFAULT_MAX_BATCH_BYTES);
    if max_batch_bytes < max_event_bytes {
        let remedy = "make max_batch_bytes at least max_event_bytes";
        table.complain("max_batch_bytes", "a batch could not hold one event of the greatest size", remedy);
    }
    Http {
        listen,
        max_event_bytes,
        max_batch_bytes,
        max_batch_events: table.count("max_batch_events", 1..=MAX_BATCH_EVENTS, DEFAULT_MAX_BATCH_EVENTS),
        request_timeout: table.duration(
            "request_timeout",
            Duration::from_millis(100)..=MAX_REQUEST_TIMEOUT,
            DEFAULT_REQUEST_TIMEOUT,
        ),
    }
}

pub(crate) fn read_admin(table: &mut Reader<'_, '_>) -> Admin {
    let socket = table.file_path("socket");
    let token = token(table);
    let address = listen(table, ADMIN_PORT);
    let listen = match socket {
        None => AdminListen::Tcp(address),
        Some(path) => {
            if table.given("listen") {
                table.complain(
                    "socket",
                    "listen is set too, and the admin API has one door",
                    "keep one of the two",
                );
            }
            AdminListen::Unix(path)
        }
    };
    let open_to_others = matches!(&listen, AdminListen::Tcp(address) if !address.ip().is_loopback());
    if open_to_others && token.is_none() && !table.given("token") && !table.given("token_file") {
        let remedy = "set admin.token_file, or WONCE_ADMIN_TOKEN in the environment";
        table.complain("token", "other machines can reach the admin API, and it asks for no token", remedy);
    }
    Admin { listen, token }
}

/// `listen` and the `allow_remote` that opens it to other machines.
fn listen(table: &mut Reader<'_, '_>, port: u16) -> SocketAddr {
    let default = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    let address = table.parsed("listen", listen_address).unwrap_or(default);
    let allow_remote = table.boolean("allow_remote", false);
    if !address.ip().is_loopback() && !allow_remote {
        let reason = format!("{address} can be reached from other machines");
        table.complain(
            "listen",
            reason,
            "use 127.0.0.1, or say so with allow_remote = true in the same table",
        );
    }
    address
}

fn token(table: &mut Reader<'_, '_>) -> Option<Secret> {
    let token = table.parsed("token", checked_token);
    let Some(path) = table.file_path("token_file") else { return token };
    if table.given("token") {
        table.complain("token_file", "token is set too", "keep one of the two; the file is the safer one");
        return token;
    }
    match std::fs::read_to_string(&path) {
        Ok(text) => match checked_token(text.trim()) {
            Ok(token) => Some(token),
            Err(complaint) => {
                table.complain("token_file", complaint.reason, complaint.remedy);
                None
            }
        },
        Err(error) => {
            let reason = format!("\"{}\" cannot be read: {error}", path.display());
            table.complain("token_file", reason, "write the token into that file, readable for wonce only");
            None
        }
    }
}

fn checked_token(text: &str) -> Result<Secret, Complaint> {
    if text.len() >= MIN_TOKEN_BYTES && text.bytes().all(|b| b.is_ascii_graphic()) {
        return Ok(Secret::new(text));
    }
    Err(Complaint::new(
        "the token is too short or holds characters that a header cannot carry",
        format!("use at least {MIN_TOKEN_BYTES} visible ASCII characters, such as 32 random hex digits"),
    ))
}

/// `127.0.0.1:8080` or `[::1]:8080`. Names are not looked up.
pub(crate) fn listen_address(text: &str) -> Result<SocketAddr, Complaint> {
    let remedy = "write an IP address and a port, such as \"127.0.0.1:8080\" or \"[::1]:8080\"";
    text.parse().map_err(|_| Complaint::new(format!("\"{text}\" is not an address to listen on"), remedy))
}
