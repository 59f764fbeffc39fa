//! The texts of reached limits: each names the limit, its value and the key to change it.
//! Knows nothing of how a limit is kept.

use wonce_core::fault::{Fault, FaultClass};

use super::Evidence;

pub(super) fn deadline(evidence: &Evidence) -> Fault {
    let said = format!("did not end within {:?}", evidence.limits.deadline);
    budget("deadline", &said, "deadline", evidence)
}

pub(super) fn memory(evidence: &Evidence, refused: u64) -> Fault {
    let said = format!("wanted {refused} bytes of memory, and {} are allowed", evidence.limits.memory_bytes);
    budget("memory", &said, "memory", evidence)
}

pub(super) fn statements(evidence: &Evidence) -> Fault {
    let said =
        format!("went on after its {} statements and ran into twice as many", evidence.limits.statements);
    budget("statements", &said, "statements", evidence)
}

pub(super) fn copied_bytes(evidence: &Evidence) -> Fault {
    let said = format!("passed more than {} bytes to the host in one call", evidence.limits.host_call_bytes);
    budget("copied-bytes", &said, "host_call_bytes", evidence)
}

fn budget(code: &str, said: &str, key: &str, evidence: &Evidence) -> Fault {
    let handler = &evidence.handler;
    let message =
        format!("handler \"{handler}\" {said}; use less, or raise `limits.{key}` of [handlers.{handler}]");
    Fault::new(FaultClass::Budget, code, &message)
}
