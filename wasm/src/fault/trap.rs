//! What wasmtime's errors say of the guest. Everything that has no type of its own is a guest
//! that broke the ABI, since the host's own troubles are typed. Knows nothing of the database.

use wasmtime::component::ResourceTableError;
use wasmtime::{OutOfMemory, PoolConcurrencyLimitError, Trap, WasmBacktrace};
use wasmtime_wasi::I32Exit;
use wonce_core::fault::{Fault, FaultClass};

use super::{Evidence, budget};

/// wasmtime's words when a call copies more than its allowance; it has no type for this.
const COPY_LIMIT: &str = "fuel allocated for hostcalls has been exhausted";
/// The words before the address of a memory fault; the type is private to wasmtime.
const FAULT_ADDRESS: &str = "memory fault at wasm address 0x";
/// A stack that grows down past 0 faults in the last bytes of the address space.
const BELOW_ZERO: u64 = 0xff00_0000;
/// One function this often among the innermost frames (wasmtime keeps 20) is a recursion.
const RECURSION_FRAMES: usize = 5;
/// What introduces the text of a Rust panic.
const PANIC: &str = "panicked at";
const PANIC_NOTE: &str = "note: run with `RUST_BACKTRACE";

/// Where it went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Instantiate,
    Handle,
}

/// Whether the epoch ended the guest.
pub(super) fn is_interrupt(error: &wasmtime::Error) -> bool {
    matches!(error.downcast_ref::<Trap>(), Some(Trap::Interrupt))
}

/// The fault behind an error that is neither the host's own nor the deadline.
pub(super) fn fault(stage: Stage, error: &wasmtime::Error, evidence: &Evidence) -> Fault {
    if let Some(fault) = host_trouble(error) {
        return fault;
    }
    let trap = error.downcast_ref::<Trap>().copied();
    if let Some(refused) = evidence.memory_refused
        && (trap == Some(Trap::UnreachableCodeReached) || (trap.is_none() && stage == Stage::Instantiate))
    {
        return budget::memory(evidence, refused);
    }
    if let Some(I32Exit(status)) = error.downcast_ref::<I32Exit>() {
        let message = format!("the handler called exit({status}); return from `handle` instead");
        return Fault::new(FaultClass::Trap, "called-exit", &message);
    }
    if let Some(trap) = trap {
        return trapped(trap, error, evidence);
    }
    if chain_says(error, COPY_LIMIT) {
        return budget::copied_bytes(evidence);
    }
    if error.is::<ResourceTableError>() {
        return Fault::new(FaultClass::Trap, "too-many-resources", &format!("{error:#}"));
    }
    Fault::new(FaultClass::Trap, "abi-violation", &format!("{error:#}"))
}

/// The system or the pool gave out: not the guest's doing.
fn host_trouble(error: &wasmtime::Error) -> Option<Fault> {
    if error.is::<PoolConcurrencyLimitError>() {
        return Some(Fault::new(FaultClass::Host, "no-slot", &format!("no free instance: {error:#}")));
    }
    let system = error.chain().any(|cause| cause.is::<std::io::Error>() || cause.is::<OutOfMemory>());
    system.then(|| Fault::new(FaultClass::Host, "sandbox", &format!("the system refused: {error:#}")))
}

fn trapped(trap: Trap, error: &wasmtime::Error, evidence: &Evidence) -> Fault {
    let code = code_of(trap, error);
    let message = match panic_text(&evidence.last_words) {
        Some(text) => text,
        None => without_backtrace(trap, error),
    };
    Fault::new(FaultClass::Trap, code, &message)
}

fn code_of(trap: Trap, error: &wasmtime::Error) -> &'static str {
    match trap {
        Trap::UnreachableCodeReached => "unreachable",
        Trap::StackOverflow => "stack-overflow",
        Trap::MemoryOutOfBounds if is_stack_overflow(error) => "stack-overflow",
        Trap::MemoryOutOfBounds => "memory-out-of-bounds",
        Trap::TableOutOfBounds => "table-out-of-bounds",
        Trap::IndirectCallToNull => "indirect-call-to-null",
        Trap::BadSignature => "bad-signature",
        Trap::IntegerOverflow => "integer-overflow",
        Trap::IntegerDivisionByZero => "integer-division-by-zero",
        Trap::BadConversionToInteger => "bad-conversion-to-integer",
        Trap::CannotEnterComponent
        | Trap::CannotLeaveComponent
        | Trap::InvalidChar
        | Trap::StringOutOfBounds
        | Trap::ListOutOfBounds
        | Trap::InvalidDiscriminant
        | Trap::UnalignedPointer => "abi-violation",
        // The enum may grow with wasmtime; the text of the trap says which it was.
        _ => "trap",
    }
}

/// Most languages keep their stack in linear memory, where running out of it is an access
/// below address 0. Bulk copies trap without an address; then a recursion has to tell.
fn is_stack_overflow(error: &wasmtime::Error) -> bool {
    match fault_address(error) {
        Some(address) => address >= BELOW_ZERO,
        None => error.downcast_ref::<WasmBacktrace>().is_some_and(is_recursion),
    }
}

fn is_recursion(trace: &WasmBacktrace) -> bool {
    let frames = trace.frames();
    let times = |function| frames.iter().filter(|frame| frame.func_index() == function).count();
    frames.iter().any(|frame| times(frame.func_index()) >= RECURSION_FRAMES)
}

fn without_backtrace(trap: Trap, error: &wasmtime::Error) -> String {
    match fault_address(error) {
        Some(address) => format!("{trap} at address {address:#x}"),
        None => trap.to_string(),
    }
}

fn fault_address(error: &wasmtime::Error) -> Option<u64> {
    error.chain().find_map(|cause| {
        let text = cause.to_string();
        let digits = text.strip_prefix(FAULT_ADDRESS)?;
        let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
        u64::from_str_radix(&digits[..end], 16).ok()
    })
}

fn chain_says(error: &wasmtime::Error, words: &str) -> bool {
    error.chain().any(|cause| cause.to_string().contains(words))
}

/// The text of the last panic on stderr, or all last words when they are not Rust's.
fn panic_text(last_words: &str) -> Option<String> {
    let from =
        last_words.rfind(PANIC).map_or(0, |at| last_words[..at].rfind('\n').map_or(0, |line| line + 1));
    let text = &last_words[from..];
    let text = text.find(PANIC_NOTE).map_or(text, |note| &text[..note]);
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_the_last_panic_is_cut_out_of_stderr() {
        let stderr = "noise\n\nthread '<unnamed>' (1) panicked at src/lib.rs:3:5:\nboom\n\
                      note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n";
        let text = panic_text(stderr).unwrap();
        assert_eq!(text, "thread '<unnamed>' (1) panicked at src/lib.rs:3:5:\nboom");
        assert_eq!(panic_text("  \n"), None);
        assert_eq!(panic_text("assertion failed: x\n").as_deref(), Some("assertion failed: x"));
    }
}
