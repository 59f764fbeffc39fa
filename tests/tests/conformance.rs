//! One list of behaviours, kept by a guest in every language: a real host, a real Postgres, the
//! contract used to its edges. `plugins/conformance` has the guests and says what each is to do.

mod conformance {
    mod behaviours;
    mod languages;
    mod suite;
}
