use wonce_core::operation::{ItemState, OperationState, OperationVerb, Transition};

use OperationState::{Aborted, Finished, Paused, Running};

#[test]
fn an_operation_that_has_ended_stays_so() {
    for wanted in [Running, Paused] {
        assert_eq!(Aborted.wanted(wanted), Transition::Ended);
        assert_eq!(Finished.wanted(wanted), Transition::Ended);
    }
    assert_eq!(Finished.wanted(Aborted), Transition::Ended);
}

#[test]
fn one_that_has_not_ended_can_be_paused_resumed_and_aborted() {
    assert_eq!(Running.wanted(Paused), Transition::Changed(Paused));
    assert_eq!(Paused.wanted(Running), Transition::Changed(Running));
    for state in [Running, Paused] {
        assert_eq!(state.wanted(Aborted), Transition::Changed(Aborted));
        assert_eq!(state.wanted(state), Transition::Unchanged);
    }
}

#[test]
fn nobody_finishes_an_operation_by_wishing() {
    for state in OperationState::ALL {
        assert_eq!(state.wanted(Finished), Transition::NotByWish);
    }
}

#[test]
fn each_word_names_one_thing() {
    for state in OperationState::ALL {
        assert_eq!(OperationState::parse(state.as_str()), Some(state));
    }
    for verb in OperationVerb::ALL {
        assert_eq!(OperationVerb::parse(verb.as_str()), Some(verb));
    }
    for state in ItemState::ALL {
        assert_eq!(ItemState::parse(state.as_str()), Some(state));
    }
    assert_eq!(OperationVerb::parse("restart"), None);
}
