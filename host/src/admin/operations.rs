//! `/v1/operations`: begin, list, show, change; and the items of one.

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use wonce_api::operation::{
    DEFAULT_RATE, IDEMPOTENCY_KEY, ItemList, ItemQuery, MAX_ITEMS, MAX_RATE, MIN_RATE, OperationChange,
    OperationDetail, OperationList, OperationQuery, OperationRequest,
};
use wonce_core::operation::{ItemState, OperationState, OperationVerb};

use super::refusal::Refusal;
use super::{AdminState, request, selection};
use crate::store::operation::{Asked, Begun, Change, MAX_IDEMPOTENCY_KEY_BYTES};

type Id = Result<Path<String>, PathRejection>;
type Body = Result<Bytes, BytesRejection>;

pub(super) async fn begin(
    State(state): State<AdminState>,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<OperationDetail>), Refusal> {
    let asked = asked(&headers, request::body(body)?)?;
    if let (OperationVerb::Restore, Some(id)) = (asked.verb, asked.selection.operation) {
        discard_to_restore(&state, id).await?;
    }
    let (status, id) = match state.store.begin_operation(&asked).await? {
        Begun::New(id) => (StatusCode::ACCEPTED, id),
        Begun::Known(id) => (StatusCode::OK, id),
        Begun::OtherRequest(id) => return Err(other_request(id)),
        Begun::CountDiffers(found) => return Err(count_differs(asked.expected, found)),
        Begun::Nothing => return Err(nothing()),
        Begun::TooMany => return Err(too_many()),
    };
    let detail = state.store.operation(id).await?.ok_or_else(|| unknown(id))?;
    Ok((status, Json(detail)))
}

pub(super) async fn list(
    State(state): State<AdminState>,
    query: Result<Query<OperationQuery>, QueryRejection>,
) -> Result<Json<OperationList>, Refusal> {
    let query = request::query(query)?;
    let before = request::number("before", query.before.as_deref())?;
    let limit = request::limit(query.limit.as_deref())?;
    Ok(Json(state.store.operations(before, limit).await?))
}

pub(super) async fn show(State(state): State<AdminState>, id: Id) -> Result<Json<OperationDetail>, Refusal> {
    let id = request::operation_id(id)?;
    state.store.operation(id).await?.map(Json).ok_or_else(|| unknown(id))
}

pub(super) async fn items(
    State(state): State<AdminState>,
    id: Id,
    query: Result<Query<ItemQuery>, QueryRejection>,
) -> Result<Json<ItemList>, Refusal> {
    let id = request::operation_id(id)?;
    let query = request::query(query)?;
    if let Some(word) = query.state.as_deref().filter(|word| ItemState::parse(word).is_none()) {
        return Err(Refusal::bad_request(format!(
            "state {word:?} does not exist; items are {}",
            words(ItemState::ALL.map(ItemState::as_str))
        )));
    }
    let after = request::number("after", query.after.as_deref())?;
    let limit = request::limit(query.limit.as_deref())?;
    let items = state.store.operation_items(id, query.state.as_deref(), after, limit).await?;
    items.map(Json).ok_or_else(|| unknown(id))
}

pub(super) async fn change(
    State(state): State<AdminState>,
    id: Id,
    body: Body,
) -> Result<Json<OperationDetail>, Refusal> {
    let id = request::operation_id(id)?;
    let asked: OperationChange = request::body(body)?;
    let by = request::by(asked.actor.as_deref(), asked.reason.as_deref())?;
    let wanted = asked.state.as_deref().map(wanted).transpose()?;
    let rate = asked.rate.map(rate).transpose()?;
    if wanted.is_none() && rate.is_none() {
        return Err(Refusal::bad_request("nothing is to be changed: give a state, a rate or both"));
    }
    match state.store.change_operation(id, wanted, rate, &by).await? {
        Change::Made => {}
        Change::Unknown => return Err(unknown(id)),
        Change::Ended(standing) => return Err(ended(id, standing)),
        Change::NotByWish => return Err(not_by_wish()),
    }
    state.store.operation(id).await?.map(Json).ok_or_else(|| unknown(id))
}

fn asked(headers: &HeaderMap, asked: OperationRequest) -> Result<Asked, Refusal> {
    let verb = OperationVerb::parse(&asked.verb).ok_or_else(|| {
        let known = words(OperationVerb::ALL.map(OperationVerb::as_str));
        Refusal::bad_request(format!("verb {:?} does not exist; the verbs are {known}", asked.verb))
    })?;
    let reason = asked.reason.as_deref();
    if verb == OperationVerb::Discard && reason.is_none_or(|reason| reason.trim().is_empty()) {
        return Err(Refusal::bad_request(
            "discarding needs a reason, which stays on record: say why nobody has to handle them (--reason)",
        ));
    }
    Ok(Asked {
        idempotency_key: idempotency_key(headers)?,
        verb,
        selection: selection::checked(asked.filter)?,
        as_of: asked.as_of,
        expected: asked.expected,
        rate: rate(asked.rate.unwrap_or(DEFAULT_RATE))?,
        by: request::by(asked.actor.as_deref(), reason)?,
    })
}

/// Only what a discard did can be restored as a whole.
async fn discard_to_restore(state: &AdminState, id: i64) -> Result<(), Refusal> {
    let detail = state.store.operation(id).await?.ok_or_else(|| unknown(id))?;
    let verb = detail.operation.verb;
    if OperationVerb::parse(&verb) == Some(OperationVerb::Discard) {
        return Ok(());
    }
    let detail = format!(
        "operation {id} is a {verb}, and only a discard can be taken back; `wonce dead list --operation {id} --state any` \
         shows what it did"
    );
    Err(Refusal::new(
        StatusCode::UNPROCESSABLE_ENTITY,
        "not-a-discard",
        "The operation is no discard",
        detail,
    ))
}

fn idempotency_key(headers: &HeaderMap) -> Result<String, Refusal> {
    let text = headers.get(IDEMPOTENCY_KEY).and_then(|value| value.to_str().ok()).map_or("", str::trim);
    if (1..=MAX_IDEMPOTENCY_KEY_BYTES).contains(&text.len()) {
        return Ok(text.to_owned());
    }
    Err(Refusal::bad_request(format!(
        "an operation needs the header {IDEMPOTENCY_KEY} with 1 to {MAX_IDEMPOTENCY_KEY_BYTES} visible ASCII \
         characters, such as a new UUID, so that a request that is sent twice is one operation"
    )))
}

fn rate(rate: f64) -> Result<f64, Refusal> {
    if (MIN_RATE..=MAX_RATE).contains(&rate) {
        return Ok(rate);
    }
    Err(Refusal::bad_request(format!("rate {rate} is not within {MIN_RATE} and {MAX_RATE} items a second")))
}

fn wanted(word: &str) -> Result<OperationState, Refusal> {
    OperationState::parse(word).ok_or_else(|| {
        let known = words(OperationState::ALL.map(OperationState::as_str));
        Refusal::bad_request(format!("state {word:?} does not exist; operations are {known}"))
    })
}

fn words<const N: usize>(all: [&str; N]) -> String {
    all.join(", ")
}

fn unknown(id: i64) -> Refusal {
    Refusal::not_found(format!("there is no operation {id}; `wonce operation list` shows all"))
}

fn count_differs(expected: i64, found: i64) -> Refusal {
    let detail = format!(
        "{found} dead letters match and {expected} were expected, so somebody acted or more came; nothing was begun; \
         look at the list again and ask with what it says then"
    );
    Refusal::new(StatusCode::CONFLICT, "count-differs", "Another number of dead letters matches", detail)
        .with_found(found)
}

fn nothing() -> Refusal {
    let detail = "no dead letter matches, so there is nothing to begin; `wonce dead list` shows what is open";
    Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "nothing-matches", "Nothing matches", detail)
}

fn too_many() -> Refusal {
    let detail = format!(
        "more than {MAX_ITEMS} dead letters match, which is the most of one operation; narrow the filter, or pass a \
         smaller as_of and go on from there"
    );
    Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "too-many", "Too many dead letters match", detail)
}

fn other_request(id: i64) -> Refusal {
    let detail = format!(
        "the idempotency key belongs to operation {id}, which was asked for with other words; send a new key for a new \
         request"
    );
    let title = "The idempotency key was used for another request";
    Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "idempotency-key-reused", title, detail)
}

fn ended(id: i64, standing: OperationState) -> Refusal {
    let detail = format!(
        "operation {id} is {}, and what has ended stays so; begin another for what is left",
        standing.as_str()
    );
    Refusal::new(StatusCode::CONFLICT, "operation-ended", "The operation has ended", detail)
}

fn not_by_wish() -> Refusal {
    Refusal::bad_request("an operation is finished by its last item only; abort it to end it now")
}
