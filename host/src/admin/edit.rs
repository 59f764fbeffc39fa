//! `PATCH /v1/dead-letters/{id}`: another payload for an open dead letter. Whoever edits says in
//! `If-Match` what was read, so that two people do not overwrite each other.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use wonce_api::dead_letter::{EditRequest, Edited, NewPayload};

use super::hindrance::{Verb, refuse};
use super::refusal::Refusal;
use super::{AdminState, request};
use crate::store::edit::NotEdited;

/// The longest body of an edit. A claim takes no more payload than this either.
pub(super) const MAX_BODY_BYTES: usize = 4 << 20;

pub(super) async fn edit(
    State(state): State<AdminState>,
    id: request::Id,
    headers: HeaderMap,
    body: request::Body,
) -> Result<([(header::HeaderName, HeaderValue); 1], Json<Edited>), Refusal> {
    let id = request::dead_letter_id(id)?;
    let asked: EditRequest = request::body_within(body, MAX_BODY_BYTES)?;
    let read = revision_read(id, &headers)?;
    if asked.reason.trim().is_empty() {
        return Err(Refusal::bad_request(
            "editing a payload needs a reason, which stays on record: say what was wrong with it (--reason)",
        ));
    }
    let by = request::by(asked.actor.as_deref(), Some(&asked.reason))?;
    let data = bytes(asked.payload)?;
    match state.store.edit(id, read, &data, &by).await? {
        Ok(edited) => Ok(([(header::ETAG, etag(edited.revision))], Json(edited))),
        Err(not_edited) => Err(refused(id, not_edited)),
    }
}

/// What a reader passes on in `If-Match`.
pub(super) fn etag(revision: i32) -> HeaderValue {
    HeaderValue::from_str(&format!("\"{revision}\"")).unwrap_or(HeaderValue::from_static("\"\""))
}

fn revision_read(id: i64, headers: &HeaderMap) -> Result<i32, Refusal> {
    let Some(value) = headers.get(header::IF_MATCH) else {
        let detail = format!(
            "dead letter {id} is edited only by who says what was read: pass the ETag of GET /v1/dead-letters/{id} as \
             If-Match"
        );
        let title = "If-Match is needed";
        return Err(Refusal::new(StatusCode::PRECONDITION_REQUIRED, "if-match-needed", title, detail));
    };
    let text = value.to_str().unwrap_or("").trim();
    let number = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    // Any other tag is of something else than this dead letter ever was.
    number.and_then(|number| number.parse().ok()).ok_or_else(|| changed(id))
}

fn bytes(payload: NewPayload) -> Result<Vec<u8>, Refusal> {
    match payload.encoding.as_str() {
        "text" => Ok(payload.body.into_bytes()),
        "hex" => unhex(&payload.body).ok_or_else(|| {
            Refusal::bad_request("the payload is not hex: write two of the digits 0-9 and a-f for each byte")
        }),
        other => Err(Refusal::bad_request(format!(
            "encoding {other:?} does not exist; a payload comes as text or as hex"
        ))),
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let decoded = pairs.iter().map(|[high, low]| Some((digit(*high)? << 4) | digit(*low)?));
    rest.is_empty().then(|| decoded.collect()).flatten()
}

fn refused(id: i64, not_edited: NotEdited) -> Refusal {
    match not_edited {
        NotEdited::Hindered(hindrance) => refuse(Verb::Edit, id, hindrance),
        NotEdited::EditedSince => changed(id),
        NotEdited::Same => {
            let detail = format!(
                "dead letter {id} has exactly this payload already, so there is nothing to edit; `wonce dead replay {id}` \
                 puts it back to work"
            );
            Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "same-payload", "The payload is the same", detail)
        }
        NotEdited::UnknownRule(rule) => {
            let detail = format!(
                "dead letter {id} cannot be edited: its payload was hashed under the rule {rule:?}, which this host does not \
                 know, so a repeat could not be told from a conflict; ask a host of the version that accepted it"
            );
            let title = "The hash rule is not known";
            Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "unknown-hash-rule", title, detail)
        }
    }
}

fn changed(id: i64) -> Refusal {
    let detail = format!(
        "dead letter {id} was edited after you read it, and nothing was changed now; `wonce dead show {id}` says by whom, \
         look at it and edit again"
    );
    Refusal::new(StatusCode::PRECONDITION_FAILED, "edited-since", "It was edited since", detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_is_read_whole_or_not_at_all() {
        assert_eq!(unhex(""), Some(vec![]));
        assert_eq!(unhex("00fFa1"), Some(vec![0, 255, 161]));
        for wrong in ["0", "0g", "+1", "é"] {
            assert_eq!(unhex(wrong), None, "{wrong}");
        }
    }
}
