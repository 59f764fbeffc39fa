use proptest::prelude::*;
use wonce_core::fault::FaultClass;
use wonce_core::sqlstate::class_of;

#[test]
fn each_sqlstate_has_its_class() {
    for (class, codes) in [
        (FaultClass::Contention, &["40001", "40P01", "55P03"][..]),
        (FaultClass::Budget, &["57014", "53400"]),
        (
            FaultClass::Host,
            &["08006", "08P01", "57P01", "57P02", "57P03", "57P05", "53300", "53100", "25P03"],
        ),
        (
            FaultClass::Database,
            &["23505", "22P02", "42501", "42P01", "25P02", "2D000", "53200", "P0001", "XX000"],
        ),
    ] {
        for code in codes {
            assert_eq!(class_of(code), class, "{code}");
        }
    }
}

proptest! {
    #[test]
    fn no_sqlstate_is_a_guests_own_verdict(code in ".{0,6}") {
        let class = class_of(&code);
        prop_assert!(!matches!(class, FaultClass::Transient | FaultClass::Permanent | FaultClass::InvalidPayload));
    }
}
