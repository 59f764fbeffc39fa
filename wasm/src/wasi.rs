//! WASI with nothing behind it: no files, no environment, no arguments, no network, a closed
//! stdin, a fixed wall clock and randomness that depends only on the delivery. Knows nothing
//! of the contract; it exists because language runtimes import WASI whether they use it or not.

mod clock;
mod random;
mod stdio;

use std::time::Instant;

use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxBuilder, WasiCtxView};
use wonce_core::event::Micros;
use wonce_core::name::{HandlerName, Key};

use clock::{Elapsed, FixedClock};
use random::DeliveryRandom;
pub(crate) use stdio::Captured;
use stdio::Output;

/// Streams and pollables that a guest may hold at once.
const MAX_RESOURCES: usize = 1_000;
/// The most random bytes that one call returns.
const MAX_RANDOM_BYTES: u64 = 1 << 20;

/// The sealed system of one call. It is set up when the guest first asks it for something: few do.
#[derive(Default)]
pub(crate) struct Sealed(Option<Open>);

struct Open {
    ctx: WasiCtx,
    table: ResourceTable,
    stdout: Output,
    stderr: Output,
}

/// What came out of a sealed system.
#[derive(Debug, Default)]
pub(crate) struct Printed {
    pub(crate) stdout: Captured,
    pub(crate) stderr: Captured,
}

/// What the sealed system is made from.
pub(crate) struct Seed<'a> {
    pub(crate) handler: &'a HandlerName,
    pub(crate) key: &'a Key,
    pub(crate) now: Micros,
    pub(crate) started: Instant,
}

impl Sealed {
    pub(crate) fn view(&mut self, seed: &Seed<'_>) -> WasiCtxView<'_> {
        let open = self.0.get_or_insert_with(|| Open::new(seed));
        WasiCtxView { ctx: &mut open.ctx, table: &mut open.table }
    }

    /// Takes out what was printed.
    pub(crate) fn printed(&self) -> Printed {
        match &self.0 {
            None => Printed::default(),
            Some(open) => Printed { stdout: open.stdout.take(), stderr: open.stderr.take() },
        }
    }
}

impl Open {
    fn new(seed: &Seed<'_>) -> Self {
        let (stdout, stderr) = (Output::default(), Output::default());
        let ctx = WasiCtxBuilder::new()
            .stdout(stdout.clone())
            .stderr(stderr.clone())
            .wall_clock(FixedClock(seed.now))
            .monotonic_clock(Elapsed(seed.started))
            .secure_random(DeliveryRandom::new("secure", seed.handler, seed.key))
            .insecure_random(DeliveryRandom::new("insecure", seed.handler, seed.key))
            .insecure_random_seed(DeliveryRandom::new("seed", seed.handler, seed.key).first())
            .max_random_size(MAX_RANDOM_BYTES)
            .allow_tcp(false)
            .allow_udp(false)
            .allow_ip_name_lookup(false)
            .build();
        let mut table = ResourceTable::new();
        table.set_max_capacity(MAX_RESOURCES);
        Self { ctx, table, stdout, stderr }
    }
}
