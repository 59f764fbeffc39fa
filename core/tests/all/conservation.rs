use proptest::prelude::*;
use wonce_core::conservation::{Balance, Ledger};

#[test]
fn a_lost_delivery_and_a_forged_one_are_told_apart() {
    let good = Ledger { accepted: 5, pending: 1, done: 2, ignored: 1, dead: 1, ..Ledger::default() };
    assert_eq!(good.balance(), Balance::Holds);
    assert_eq!(Ledger { done: 0, ..good }.balance(), Balance::Missing(2));
    assert_eq!(Ledger { pending: 4, ..good }.balance(), Balance::Surplus(3));
}

#[test]
fn sums_beyond_sixty_four_bits_do_not_wrap() {
    let huge = Ledger { accepted: u64::MAX, pending: u64::MAX, done: 1, ..Ledger::default() };
    assert_eq!(huge.balance(), Balance::Surplus(1));
}

/// What the store does to the terms, one commit each.
fn commit(ledger: &mut Ledger, kind: u8) {
    let moved = |from: &mut u64, to: &mut u64| {
        if *from > 0 {
            *from -= 1;
            *to += 1;
        }
    };
    let l = ledger;
    match kind {
        0 => (l.accepted, l.pending) = (l.accepted + 1, l.pending + 1),
        1 => moved(&mut l.pending, &mut l.done),
        2 => moved(&mut l.pending, &mut l.ignored),
        3 => moved(&mut l.pending, &mut l.dead),
        4 => moved(&mut l.pending, &mut l.duplicate_late),
        5 => moved(&mut l.dead, &mut l.pending),
        6 => moved(&mut l.dead, &mut l.discarded),
        7 => moved(&mut l.done, &mut l.expired),
        _ => moved(&mut l.discarded, &mut l.expired),
    }
}

proptest! {
    #[test]
    fn every_path_of_a_delivery_keeps_the_law(kinds in prop::collection::vec(0_u8..9, 0..200)) {
        let mut ledger = Ledger::default();
        for kind in kinds {
            commit(&mut ledger, kind);
            prop_assert!(ledger.holds(), "{ledger:?} after {kind}");
        }
    }
}
