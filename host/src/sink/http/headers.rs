//! The headers of one effect: CloudEvents in binary mode, so that a receiver who knows them needs
//! no envelope and one who does not can ignore them. Knows nothing of the transport.

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use crate::sink::OutgoingEffect;

/// When the guest named no content type.
const DEFAULT_CONTENT_TYPE: &str = "application/octet-stream";
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// All headers of a request. The guest's attributes become `ce-<name>`, a space of their own, so
/// that no guest can set the operator's headers; the operator's win over everything.
///
/// The error is for people: which part of the effect no header can carry.
pub(super) fn of(outgoing: &OutgoingEffect, configured: &HeaderMap) -> Result<HeaderMap, String> {
    let effect = &outgoing.effect;
    let mut headers = HeaderMap::new();
    for (name, value) in &effect.attributes {
        headers.insert(attribute_name(name)?, encoded(value));
    }
    let content_type = effect.content_type.as_deref().unwrap_or(DEFAULT_CONTENT_TYPE);
    let content_type = HeaderValue::from_str(content_type)
        .map_err(|_| format!("content type {content_type:?} cannot be a header"))?;
    headers.insert(CONTENT_TYPE, content_type);
    headers.insert(HeaderName::from_static("ce-specversion"), HeaderValue::from_static("1.0"));
    headers.insert(HeaderName::from_static("ce-id"), encoded(&effect.dedup_key));
    headers.insert(HeaderName::from_static("ce-type"), encoded(&effect.effect_type));
    headers.insert(HeaderName::from_static("ce-source"), encoded(&format!("wonce/{}", outgoing.handler)));
    headers.insert(IDEMPOTENCY_KEY, encoded(&effect.dedup_key));
    // A malformed traceparent is the first sender's mistake and no reason to keep an effect back.
    if let Some(Ok(traceparent)) = outgoing.traceparent.as_deref().map(HeaderValue::from_str) {
        headers.insert(TRACEPARENT, traceparent);
    }
    for name in configured.keys() {
        headers.remove(name);
    }
    for (name, value) in configured {
        headers.append(name, value.clone());
    }
    Ok(headers)
}

fn attribute_name(name: &str) -> Result<HeaderName, String> {
    HeaderName::from_bytes(format!("ce-{name}").as_bytes())
        .map_err(|_| format!("attribute name {name:?} cannot be a header name"))
}

/// CloudEvents' rule for header values: everything but printable ASCII is percent-encoded, and so
/// are space, quote and percent, which makes two texts never look the same.
fn encoded(text: &str) -> HeaderValue {
    let mut value = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b' ' | b'"' | b'%' => value.push_str(&format!("%{byte:02X}")),
            b'!'..=b'~' => value.push(char::from(byte)),
            _ => value.push_str(&format!("%{byte:02X}")),
        }
    }
    HeaderValue::from_str(&value).expect("printable ASCII is a header value")
}

#[cfg(test)]
mod tests {
    use wonce_core::delivery::Attempt;
    use wonce_core::effect::Effect;
    use wonce_core::name::{HandlerName, SinkName};

    use super::*;

    fn outgoing(attributes: &[(&str, &str)]) -> OutgoingEffect {
        OutgoingEffect {
            handler: HandlerName::parse("payments").expect("a name"),
            attempt: Attempt(1),
            traceparent: Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned()),
            effect: Effect {
                sink: SinkName::parse("mail").expect("a name"),
                effect_type: "mail.receipt".to_owned(),
                content_type: Some("application/json".to_owned()),
                data: b"{}".to_vec(),
                ordering_key: None,
                dedup_key: "zahlung-ä 1%".to_owned(),
                delay: None,
                attributes: attributes.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect(),
            },
        }
    }

    #[test]
    fn an_effect_is_a_cloud_event_in_binary_mode() {
        let headers = of(&outgoing(&[("tenant", "a b")]), &HeaderMap::new()).expect("headers");
        for (name, value) in [
            ("ce-specversion", "1.0"),
            ("ce-id", "zahlung-%C3%A4%201%25"),
            ("idempotency-key", "zahlung-%C3%A4%201%25"),
            ("ce-type", "mail.receipt"),
            ("ce-source", "wonce/payments"),
            ("ce-tenant", "a%20b"),
            ("content-type", "application/json"),
            ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
        ] {
            assert_eq!(headers[name], value, "{name}");
        }
    }

    #[test]
    fn a_guest_can_set_neither_the_identity_nor_the_operators_headers() {
        let mut configured = HeaderMap::new();
        configured.insert("authorization", HeaderValue::from_static("Bearer right"));
        configured.insert("content-type", HeaderValue::from_static("text/plain"));
        let effect = outgoing(&[("id", "forged"), ("authorization", "Bearer forged")]);
        let headers = of(&effect, &configured).expect("headers");
        assert_eq!(headers["ce-id"], "zahlung-%C3%A4%201%25");
        assert_eq!(headers["authorization"], "Bearer right");
        assert_eq!(headers["content-type"], "text/plain");
    }

    #[test]
    fn what_no_header_can_carry_is_named() {
        let reason = of(&outgoing(&[("a b", "c")]), &HeaderMap::new()).expect_err("a space");
        assert!(reason.contains("\"a b\""), "{reason}");
    }
}
