//! Counts and refuses a guest's memory and tables. Knows nothing of what a refusal means:
//! a guest may cope with one, and only `fault` tells.

use wasmtime::{Error, ResourceLimiter, Result};

use crate::engine::{CORE_INSTANCES_PER_COMPONENT, MEMORIES_PER_COMPONENT, TABLES_PER_COMPONENT};

/// The meter of one store.
#[derive(Debug)]
pub(crate) struct Limiter {
    limit: usize,
    used: usize,
    peak: usize,
    /// The growth that was allowed last, in case the pool cannot serve it.
    last_growth: usize,
    /// The smallest total that was asked for and refused.
    refused: Option<usize>,
}

impl Limiter {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, used: 0, peak: 0, last_growth: 0, refused: None }
    }

    /// The most bytes of memory that the guest had at one time.
    pub(crate) fn peak(&self) -> u64 {
        self.peak as u64
    }

    /// The total in bytes that was refused, if one was.
    pub(crate) fn refused(&self) -> Option<u64> {
        self.refused.map(|bytes| bytes as u64)
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        let growth = desired.saturating_sub(current);
        let total = self.used.saturating_add(growth);
        if total > self.limit {
            self.refused = Some(self.refused.map_or(total, |refused| refused.min(total)));
            return Ok(false);
        }
        self.used = total;
        self.peak = self.peak.max(total);
        self.last_growth = growth;
        Ok(true)
    }

    fn memory_grow_failed(&mut self, _: Error) -> Result<()> {
        // Also called after a refusal, which added nothing.
        self.used = self.used.saturating_sub(std::mem::take(&mut self.last_growth));
        Ok(())
    }

    fn table_growing(&mut self, _: usize, desired: usize, maximum: Option<usize>) -> Result<bool> {
        Ok(maximum.is_none_or(|maximum| desired <= maximum))
    }

    fn instances(&self) -> usize {
        CORE_INSTANCES_PER_COMPONENT as usize
    }

    fn tables(&self) -> usize {
        TABLES_PER_COMPONENT as usize
    }

    fn memories(&self) -> usize {
        MEMORIES_PER_COMPONENT as usize
    }
}
