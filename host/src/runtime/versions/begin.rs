//! The handlers of a start. Those that `wonce.toml` names by path are deployed from their files,
//! unless a hand has chosen another version since: that one stays, and the log says so.

use std::collections::HashMap;

use anyhow::Context;
use wonce_core::digest::{hex, version};
use wonce_core::name::HandlerName;

use super::{Versions, short};
use crate::config::HandlerConfig;
use crate::runtime::database::explained;
use crate::runtime::handlers::{self, Deploying, VersionPart};
use crate::store::action::By;
use crate::store::deploy::{ChosenBy, DeployVerb, OnOtherVersion};
use crate::store::version::Pointer;

impl Versions {
    /// Gives every handler of this host its version. A file that does not load stops the start; a
    /// version from the database that does not is said, and the rest starts.
    pub(in crate::runtime) async fn begin(&self) -> anyhow::Result<()> {
        let pointers = self.store.pointers().await.map_err(explained)?;
        let known: HashMap<&HandlerName, &Pointer> =
            pointers.iter().map(|pointer| (&pointer.name, pointer)).collect();
        for handler in self.config.handlers.values() {
            let component = self.component(handler)?;
            let of_file = version(&component, &handler.manifest_text, &Default::default());
            match known.get(&handler.name) {
                Some(pointer) if self.stays(pointer, of_file) => {}
                Some(_) | None => self.deploy_file(handler, component).await?,
            }
        }
        let by_hand = |pointer: &&Pointer| {
            pointer.chosen_by == ChosenBy::Hand
                && !pointer.is_removed
                && self.lineup.running(pointer.id).is_none()
        };
        for pointer in pointers.iter().filter(by_hand) {
            self.take_stored(pointer).await?;
        }
        Ok(())
    }

    fn component(&self, handler: &HandlerConfig) -> anyhow::Result<Vec<u8>> {
        let path = handler.component.as_ref().context("a handler of wonce.toml has a component")?;
        std::fs::read(path).with_context(|| format!("read the component \"{}\"", path.display()))
    }

    /// Whether what a hand chose stays although the file says something else.
    fn stays(&self, pointer: &Pointer, of_file: [u8; 32]) -> bool {
        let agree = pointer.active == of_file && !pointer.is_removed;
        let stays =
            pointer.chosen_by == ChosenBy::Hand && self.on_other_version == OnOtherVersion::Refuse && !agree;
        if stays {
            let active = if pointer.is_removed { "none".to_owned() } else { short(&pointer.active) };
            tracing::warn!(handler = %pointer.name, version = active, file = hex(&of_file[..6]),
                "wonce.toml names another version than the one that was chosen by hand, which stays; start with --replace, or use `wonce plugin deploy`, to put the file's in place");
        }
        stays
    }

    async fn deploy_file(&self, handler: &HandlerConfig, component: Vec<u8>) -> anyhow::Result<()> {
        let prepared = self.sandbox.prepare(&component).await.with_context(|| {
            let path = handler.component.as_deref().unwrap_or_else(|| std::path::Path::new(""));
            format!("load handler \"{}\" from \"{}\"", handler.name, path.display())
        })?;
        let part = VersionPart { component, settings: Default::default(), signature: None };
        let deploying = Deploying {
            on_other_version: self.on_other_version,
            chosen_by: ChosenBy::File,
            verb: DeployVerb::Deploy,
            by: self.by_this_host()?,
            boot: self.boot,
        };
        let spec = handlers::spec(&self.config, handler, part, deploying)?;
        let deployed = self.store.deploy(&spec, &self.invocation_url).await.map_err(explained)?;
        let (id, digest) = (deployed.access.id, deployed.digest);
        self.lineup.put(handlers::running(handler, deployed.access, digest, prepared)?);
        self.said(self.store.says_it_runs(self.boot, id, digest, Some(digest), None).await);
        Ok(())
    }

    /// Where `wonce.toml` has a part of the handler, its rights and policy are brought up to date too.
    async fn take_stored(&self, pointer: &Pointer) -> anyhow::Result<()> {
        let Pointer { id, name, active: digest, .. } = pointer;
        let (id, digest) = (*id, *digest);
        match self.prepared(id, name, digest).await {
            Ok(handler) => self.lineup.put(handler),
            Err(problem) => {
                tracing::error!(handler = %name, version = short(&digest), error = problem,
                    "this host cannot run the active version; it starts without the handler and tries again");
                self.said(self.store.says_it_runs(self.boot, id, digest, None, Some(&problem)).await);
                return Ok(());
            }
        }
        if self.config.has_part_of(name) {
            let stored = self.stored(id, digest).await.map_err(anyhow::Error::msg)?;
            let handler = self.config.deployed(&stored.manifest, &stored.settings)?;
            let part = VersionPart {
                component: stored.component,
                settings: stored.settings,
                signature: stored.signature,
            };
            let deploying = Deploying {
                on_other_version: OnOtherVersion::Refuse,
                chosen_by: ChosenBy::Hand,
                verb: DeployVerb::Deploy,
                by: self.by_this_host()?,
                boot: self.boot,
            };
            let spec = handlers::spec(&self.config, &handler, part, deploying)?;
            self.store.deploy(&spec, &self.invocation_url).await.map_err(explained)?;
        }
        self.said(self.store.says_it_runs(self.boot, id, digest, Some(digest), None).await);
        Ok(())
    }

    fn by_this_host(&self) -> anyhow::Result<By> {
        Ok(By::new(&format!("host {}", self.boot), "")?)
    }
}
