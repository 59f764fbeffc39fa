use std::time::Duration;

use wonce_core::fault::{Fault, FaultClass};
use wonce_core::outcome::Outcome;
use wonce_core::sql::DbError;

const WAIT: Option<Duration> = Some(Duration::from_secs(7));

fn aborted(outcome: Outcome, sqlstate: &str) -> (FaultClass, String, String, Option<Duration>) {
    let error =
        DbError { sqlstate: sqlstate.to_owned(), message: "postgres says".to_owned(), ..DbError::default() };
    match outcome.aborted_by(&error) {
        Outcome::Failed { fault, after } => (fault.class, fault.code, fault.message, after),
        outcome => panic!("{outcome:?} cannot be committed"),
    }
}

fn guest_says(class: FaultClass, message: &str) -> Outcome {
    Outcome::Failed { fault: Fault::new(class, "guests-code", message), after: WAIT }
}

#[test]
fn success_on_an_aborted_transaction_fails_by_the_sqlstate() {
    for outcome in [Outcome::Done, Outcome::Ignored("not mine".to_owned())] {
        let (class, code, message, after) = aborted(outcome, "23505");
        assert_eq!((class, code.as_str(), after), (FaultClass::Database, "23505", None));
        assert_eq!(message, "postgres says");
    }
}

#[test]
fn a_retry_passes_the_databases_error_on_in_the_guests_words() {
    for (sqlstate, meant) in [
        ("23505", FaultClass::Database),
        ("42501", FaultClass::Database),
        ("40001", FaultClass::Contention),
        ("40P01", FaultClass::Contention),
        ("55P03", FaultClass::Contention),
        ("57014", FaultClass::Budget),
        ("57P01", FaultClass::Host),
    ] {
        let (class, code, message, after) =
            aborted(guest_says(FaultClass::Transient, "guest says"), sqlstate);
        assert_eq!((class, code.as_str(), after), (meant, sqlstate, WAIT));
        assert_eq!(message, "guest says");
    }
    assert_eq!(aborted(guest_says(FaultClass::Transient, ""), "23505").2, "postgres says");
}

#[test]
fn a_guests_own_end_over_an_error_stands_unless_others_made_the_error() {
    for class in FaultClass::ALL.into_iter().filter(|class| *class != FaultClass::Transient) {
        assert_eq!(
            aborted(guest_says(class, "guest says"), "23505"),
            (class, "guests-code".to_owned(), "guest says".to_owned(), WAIT)
        );
        for (sqlstate, meant) in [("40P01", FaultClass::Contention), ("57P01", FaultClass::Host)] {
            let (class, code, _, after) = aborted(guest_says(class, "guest says"), sqlstate);
            assert_eq!((class, code.as_str(), after), (meant, sqlstate, None));
        }
    }
}
