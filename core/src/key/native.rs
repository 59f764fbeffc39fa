//! The key of an event whose subscription declares no rule: the id its source gave it,
//! together with the source, for ids are unique only there. Knows nothing of payloads.

use super::{Attribute, Explained, KeyError, KeyRule, Selector};
use crate::payload::Payload;

/// The header in which Standard Webhooks carries its message id.
const WEBHOOK_ID: &str = "webhook-id";

/// CloudEvents source and id, or source and `webhook-id` for a plain webhook.
///
/// # Errors
/// When the event has neither, or what it has cannot be a key.
pub fn native_key(payload: &Payload<'_>) -> Result<Explained, KeyError> {
    let event = payload.event();
    let id = if event.id.is_some() {
        Selector::Attribute(Attribute::Id)
    } else if event.extension(WEBHOOK_ID).is_some() {
        Selector::Header(WEBHOOK_ID.to_owned())
    } else {
        return Err(KeyError::NoKey { via: event.via.clone() });
    };
    let rule = KeyRule { selectors: vec![Selector::Attribute(Attribute::Source), id] };
    let explained = rule.key_of(payload, &[])?;
    Ok(Explained { rule: format!("default: {}", explained.rule), ..explained })
}
