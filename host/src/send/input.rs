//! One event from flags, in the binary form: its data go out as they are. Knows nothing of lines.

use std::io::Read;

use anyhow::{Context, bail};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use uuid::Uuid;

use super::request::Outgoing;
use super::{Data, OneEvent, Origin};

/// The most data that is read, in bytes; the host has a limit of its own.
const MAX_DATA_BYTES: u64 = 256 << 20;

pub(super) async fn one(event: OneEvent) -> anyhow::Result<Outgoing> {
    let id = event.id.unwrap_or_else(|| Uuid::new_v4().to_string());
    let attributes = [
        ("ce-specversion", Some("1.0")),
        ("ce-id", Some(id.as_str())),
        ("ce-source", Some(event.source.as_str())),
        ("ce-type", Some(event.event_type.as_str())),
        ("ce-subject", event.subject.as_deref()),
    ];
    let mut headers = HeaderMap::new();
    for (name, value) in attributes {
        if let Some(value) = value {
            headers.insert(HeaderName::from_static(name), header_value(value)?);
        }
    }
    if let Some(content_type) = &event.content_type {
        let value = HeaderValue::from_str(content_type);
        let value = value.with_context(|| format!("\"{content_type}\" cannot be a content type"))?;
        headers.insert(CONTENT_TYPE, value);
    }
    let body = match event.data {
        Data::Empty => Vec::new(),
        Data::Text(text) => text.into_bytes(),
        Data::From(origin) => tokio::task::spawn_blocking(move || read(&origin)).await??,
    };
    Ok(Outgoing { headers, body: body.into() })
}

fn read(from: &Origin) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let name = match from {
        Origin::Stdin => {
            let stdin = std::io::stdin().lock();
            stdin.take(MAX_DATA_BYTES + 1).read_to_end(&mut bytes).context("cannot read stdin")?;
            "stdin".to_owned()
        }
        Origin::File(path) => {
            let name = format!("\"{}\"", path.display());
            let file = std::fs::File::open(path).with_context(|| format!("cannot open {name}"))?;
            file.take(MAX_DATA_BYTES + 1)
                .read_to_end(&mut bytes)
                .with_context(|| format!("cannot read {name}"))?;
            name
        }
    };
    if bytes.len() as u64 > MAX_DATA_BYTES {
        bail!("{name} has more than {MAX_DATA_BYTES} bytes; an event is smaller than that");
    }
    Ok(bytes)
}

/// As the binding has it: what is not printable ASCII, and `"` and `%`, is percent-encoded.
fn header_value(text: &str) -> anyhow::Result<HeaderValue> {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_graphic() && byte != b'"' && byte != b'%' {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    HeaderValue::from_str(&encoded).with_context(|| format!("{text:?} cannot be sent in a header"))
}
