//! Which document the shown screen needs, and what becomes of the answers. A late answer to another
//! question is left alone. Knows no socket.

use crate::desk::Answer;
use crate::model::{Model, Page};

use super::{Cmd, is_frozen, pace};

/// Asks when it is time to: at once for a new screen, then from time to time while it is shown.
pub(super) fn due(model: &mut Model) -> Option<Cmd> {
    let (now, frozen) = (model.now, is_frozen(model));
    let place = model.place_mut();
    let question = place.screen.question()?;
    let pace = pace(&place.screen, &place.page);
    let is_due = match place.asked {
        None => true,
        Some(asked) => !frozen && place.awaits.is_none() && now.since(asked) >= pace,
    };
    if !is_due {
        return None;
    }
    model.counter += 1;
    let token = model.counter;
    let place = model.place_mut();
    (place.asked, place.awaits) = (Some(now), Some(token));
    Some(Cmd::Ask { token, question })
}

/// What is shown has changed: it is asked for at the next chance.
pub(super) fn again(model: &mut Model) {
    for place in &mut model.places {
        (place.asked, place.awaits) = (None, None);
    }
}

pub(super) fn answered(model: &mut Model, token: u64, result: Result<Answer, String>) {
    let now = model.now;
    let Some(place) = model.places.iter_mut().find(|place| place.awaits == Some(token)) else { return };
    place.awaits = None;
    let known = place.page.answer().cloned();
    place.page = match result {
        Ok(answer) => Page::Here(now, answer),
        Err(reason) => Page::Failed(now, reason, known),
    };
}
