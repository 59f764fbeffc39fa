//! The guest of the sandbox's tests: does what the event's data says, well or badly. Answers
//! go out as the reason of `ignored`.

mod attack;
mod polite;

wit_bindgen::generate!({
    path: "../../../wit",
    world: "wonce:handler/handler",
    additional_derives: [PartialEq],
});

use exports::wonce::handler::events::{Delivery, Event, Failure, Guest, Outcome};

struct Scripted;

impl Guest for Scripted {
    fn handle(event: Event, delivery: Delivery) -> Result<Outcome, Failure> {
        let script = String::from_utf8_lossy(&event.data).into_owned();
        let (command, argument) = script.split_once(' ').unwrap_or((&script, ""));
        match attack::run(command) {
            attack::Known::Yes => Ok(Outcome::Done),
            attack::Known::No => polite::run(command, argument, &event, &delivery),
        }
    }
}

export!(Scripted);
