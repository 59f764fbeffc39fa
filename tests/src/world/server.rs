//! The Postgres server of a test run: the one that the environment names, or one for this process.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use crate::target;

/// Says where the server is and holds it until its own input ends.
const HOLD: &str = "echo \"$WONCE_TEST_DATABASE_URL\"; cat > /dev/null";

/// A server in a process of its own, which stops it when this process is gone in whatever way:
/// then the pipe closes.
struct Own {
    url: String,
    #[expect(dead_code, reason = "held for its pipe")]
    holder: Child,
}

/// The server's URL without a database.
pub(super) fn url() -> String {
    static OWN: OnceLock<Own> = OnceLock::new();
    let url = std::env::var("WONCE_TEST_DATABASE_URL").unwrap_or_else(|_| OWN.get_or_init(start).url.clone());
    let url = url.trim_end_matches('/');
    url.strip_suffix("/postgres").unwrap_or(url).to_owned()
}

fn start() -> Own {
    let mut holder = Command::new(target::program("with-postgres"))
        .args(["sh", "-c", HOLD])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("with-postgres runs");
    let mut url = String::new();
    let output = holder.stdout.take().expect("the output is piped");
    BufReader::new(output).read_line(&mut url).expect("with-postgres says where its server is");
    assert!(!url.trim().is_empty(), "with-postgres started no server; its own words are above");
    Own { url: url.trim().to_owned(), holder }
}
