//! What wonce promises, on real Postgres, with whole hosts and real guests: one test for each
//! sentence. Crashes of the process have a binary of their own, `crash`.

mod promise {
    mod batches;
    mod edits;
    mod effects;
    mod endings;
    mod examples;
    mod leftovers;
    mod once;
    mod payloads;
    mod queued;
    mod replay;
    mod role;
    mod statements;
    mod storms;
    mod words;
}
