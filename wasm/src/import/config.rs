//! `config`: the settings of the handler. Knows nothing of where they are written.

use crate::bindings::wonce::handler::config::Host;
use crate::state::State;

impl Host for State {
    fn get(&mut self, key: String) -> wasmtime::Result<Option<String>> {
        self.handling("config.get")?;
        Ok(self.facts.settings.get(&key).cloned())
    }
}
