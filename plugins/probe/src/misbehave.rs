//! The ways in which a guest takes more than its share. Each hides its uselessness from the optimiser.

use std::hint::black_box;

const MIB: usize = 1024 * 1024;
const PAGE: usize = 64 * 1024;

pub(crate) fn run_forever() -> ! {
    let mut turns = 0_u64;
    loop {
        turns = black_box(turns.wrapping_add(1));
    }
}

/// Takes memory, touches each page of it and keeps it for the rest of the call.
pub(crate) fn allocate(mib: usize) -> wonce::Result<()> {
    let mut taken = vec![0_u8; mib.saturating_mul(MIB)];
    taken.iter_mut().step_by(PAGE).for_each(|byte| *byte = 1);
    black_box(taken.leak());
    Ok(())
}

pub(crate) fn recurse() -> ! {
    panic!("came back from {} calls", deeper(0))
}

#[inline(never)]
#[expect(unconditional_recursion, reason = "the stack's end is what a script asks for")]
fn deeper(depth: u64) -> u64 {
    let frame = black_box([depth; 16]);
    let below = deeper(depth + 1);
    below + black_box(frame)[3]
}
