//! The wasmtime engine and linker as every invocation shares them. Knows nothing of
//! components: what may run is decided here, what does run elsewhere.

use wasmtime::component::{HasSelf, Linker};
use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Result};

use crate::bindings::Handler;
use crate::prepare::TRIAL_SLOTS;
use crate::settings::Settings;
use crate::state::State;

/// Kept mapped in a returned memory slot. With pagemap scans only touched pages are cleared,
/// which makes a fresh instance three times cheaper (research: limits, section 2).
const MEMORY_KEEP_RESIDENT: usize = 2 << 20;
const TABLE_KEEP_RESIDENT: usize = 64 << 10;
const STACK_KEEP_RESIDENT: usize = 64 << 10;
/// Python's table needs 5 681 elements; debug builds of other languages 10 000 and more.
const TABLE_ELEMENTS: usize = 50_000;
const MAX_CORE_INSTANCE_BYTES: usize = 4 << 20;
const MAX_COMPONENT_INSTANCE_BYTES: usize = 4 << 20;
/// A component is a handful of core modules: the guest, its adapters, shims of the bindings.
pub(crate) const CORE_INSTANCES_PER_COMPONENT: u32 = 32;
pub(crate) const MEMORIES_PER_COMPONENT: u32 = 2;
pub(crate) const TABLES_PER_COMPONENT: u32 = 8;

/// Builds the engine.
///
/// # Errors
/// When the pool's address space cannot be reserved.
pub(crate) fn engine(settings: &Settings) -> Result<Engine> {
    let mut config = Config::new();
    config
        .wasm_component_model(true)
        .concurrency_support(false)
        .epoch_interruption(true)
        .shared_memory(false)
        .wasm_memory64(false)
        .wasm_relaxed_simd(false)
        .cranelift_nan_canonicalization(true)
        .gc_support(false)
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool(settings)));
    Engine::new(&config)
}

fn pool(settings: &Settings) -> PoolingAllocationConfig {
    let slots = settings.slots.saturating_add(TRIAL_SLOTS);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(slots)
        .total_core_instances(slots.saturating_mul(CORE_INSTANCES_PER_COMPONENT))
        .total_memories(slots.saturating_mul(MEMORIES_PER_COMPONENT))
        .total_tables(slots.saturating_mul(TABLES_PER_COMPONENT))
        .total_stacks(slots)
        .max_core_instances_per_component(CORE_INSTANCES_PER_COMPONENT)
        .max_memories_per_component(MEMORIES_PER_COMPONENT)
        .max_tables_per_component(TABLES_PER_COMPONENT)
        .max_tables_per_module(TABLES_PER_COMPONENT)
        .max_memories_per_module(MEMORIES_PER_COMPONENT)
        .max_memory_size(settings.max_memory)
        .table_elements(TABLE_ELEMENTS)
        .max_core_instance_size(MAX_CORE_INSTANCE_BYTES)
        .max_component_instance_size(MAX_COMPONENT_INSTANCE_BYTES)
        .linear_memory_keep_resident(MEMORY_KEEP_RESIDENT)
        .table_keep_resident(TABLE_KEEP_RESIDENT)
        .async_stack_keep_resident(STACK_KEEP_RESIDENT)
        .max_unused_warm_slots(slots)
        .pagemap_scan(Enabled::Auto);
    pool
}

/// Everything that a handler may import: the contract, and WASI with nothing behind it.
///
/// # Errors
/// When two of them define the same name, which a test would have shown.
pub(crate) fn linker(engine: &Engine) -> Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    Handler::add_to_linker::<_, HasSelf<_>>(&mut linker, |state| state)?;
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    Ok(linker)
}
