use proptest::prelude::*;
use wonce_core::fault::FaultClass;
use wonce_core::fingerprint::{Death, fingerprint, normalised};
use wonce_core::name::HandlerName;

fn of(message: &str) -> String {
    let handler = HandlerName::parse("payments").expect("a name");
    let class = Some(FaultClass::Database);
    fingerprint(&Death {
        handler: Some(&handler),
        reason: "attempts_exhausted",
        class,
        code: "23505",
        message,
    })
}

#[test]
fn what_varies_from_event_to_event_is_taken_out() {
    for (message, expected) in [
        ("order 17 of 2026-01-02 is gone", "order # of # is gone"),
        ("user 6f9619ff-8b86-d011-b42d-00c04fc964ff\tunknown", "user # unknown"),
        ("object 0xdeadbeef at deadbee5", "object # at #"),
        ("no account 'ACME Ltd' or \"x\" here", "no account ? or ? here"),
        ("can't read it, won't try", "can't read it, won't try"),
        ("msg_2KWPBgLlAfxdpx2AI54pPJ85f4W failed", "# failed"),
        ("violates unique constraint \"orders_2_pkey\"", "violates unique constraint \"orders_2_pkey\""),
        ("größe 12 zu groß", "größe # zu groß"),
        ("an open ' quote", "an open ' quote"),
    ] {
        assert_eq!(normalised(message), expected);
    }
}

#[test]
fn one_cause_is_one_group_and_two_causes_are_two() {
    assert_eq!(of("order 17: timeout"), of("order 4711: timeout"));
    assert_ne!(of("order 17: timeout"), of("order 17: refused"));
    assert_ne!(of("constraint \"a_pkey\""), of("constraint \"b_pkey\""));
}

#[test]
fn parts_do_not_run_together() {
    let of = |reason, code| fingerprint(&Death { handler: None, reason, class: None, code, message: "" });
    assert_ne!(of("ab", "c"), of("a", "bc"));
}

proptest! {
    #[test]
    fn every_message_has_sixteen_hexadecimal_characters(message in "(?s).{0,64}") {
        let group = of(&message);
        prop_assert!(group.len() == 16 && group.bytes().all(|b| b.is_ascii_hexdigit()));
    }
}
