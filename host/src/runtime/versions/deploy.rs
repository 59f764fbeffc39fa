//! What people ask for by hand: a look at a file, a deploy, a way back. Each refuses with every
//! reason at once, and changes nothing then.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;
use wonce_api::plugin::{Deployment, Inspection, Version};
use wonce_core::digest::hex;
use wonce_core::name::HandlerName;

use super::{Digest, Versions, short};
use crate::admin::plugins::{Plugins, Refused};
use crate::config::HandlerConfig;
use crate::plugin::{self, Unfit};
use crate::runtime::handlers::{self, Deploying, VersionPart};
use crate::store::action::By;
use crate::store::deploy::{ChosenBy, DeployVerb, Deployed, OnOtherVersion};
use crate::store::version::Found;

/// How long an answer waits for the other hosts; who is not there by then is listed as he is.
const CONVERGE_LIMIT: Duration = Duration::from_secs(5);
const CONVERGE_LOOK: Duration = Duration::from_millis(25);

#[async_trait]
impl Plugins for Versions {
    async fn inspect(&self, file: Vec<u8>) -> Result<Inspection, Refused> {
        plugin::inspect(file, &self.sandbox).await.map_err(refused)
    }

    async fn deploy(
        &self,
        file: Vec<u8>,
        settings: BTreeMap<String, String>,
        signature: Option<String>,
        by: By,
    ) -> Result<Deployment, Refused> {
        let plugin = plugin::open("the plugin", file, &self.sandbox).await.map_err(refused)?;
        let subject = format!("{} {}", plugin.manifest.name, plugin.manifest.version);
        let config = self.fitting(&subject, &plugin.manifest_text, &settings)?;
        let part = VersionPart { component: plugin.component, settings, signature };
        self.activate(config, part, DeployVerb::Deploy, by).await
    }

    async fn rollback(&self, name: &HandlerName, to: Option<String>, by: By) -> Result<Deployment, Refused> {
        let found = self.store.find_version(name.as_str(), to.as_deref()).await?;
        let (handler, digest) = match found {
            Found::Version { handler, digest } => (handler, digest),
            other => return Err(not_found(name, to.as_deref(), &other)),
        };
        let stored = self.stored(handler, digest).await.map_err(Refused::Host)?;
        let config = self.fitting(&short(&digest), &stored.manifest, &stored.settings)?;
        let part = VersionPart {
            component: stored.component,
            settings: stored.settings,
            signature: stored.signature,
        };
        // It was compiled when it ran, so this takes it from the cache; a host that never ran it compiles.
        self.sandbox.prepare(&part.component).await.map_err(|error| Refused::Unfit(error.to_string()))?;
        self.activate(config, part, DeployVerb::Rollback, by).await
    }

    fn changed(&self) {
        self.changed.notify_one();
    }
}

impl Versions {
    /// The version as this host would run it.
    fn fitting(
        &self,
        subject: &str,
        manifest: &str,
        settings: &BTreeMap<String, String>,
    ) -> Result<HandlerConfig, Refused> {
        self.config.deployed(manifest, settings).map_err(|error| {
            let unfit = Unfit { subject: subject.to_owned(), reasons: plugin::problems(&error) };
            Refused::Unfit(unfit.to_string())
        })
    }

    async fn activate(
        &self,
        config: HandlerConfig,
        part: VersionPart,
        verb: DeployVerb,
        by: By,
    ) -> Result<Deployment, Refused> {
        let deploying = Deploying {
            on_other_version: OnOtherVersion::Replace,
            chosen_by: ChosenBy::Hand,
            verb,
            by,
            boot: self.boot,
        };
        let spec = handlers::spec(&self.config, &config, part, deploying)
            .map_err(|error| Refused::Host(format!("{error:#}")))?;
        let deployed = self.store.deploy(&spec, &self.invocation_url).await?;
        self.changed.notify_one();
        self.converged(&deployed).await;
        let hosts = self.store.host_versions(config.name.as_str()).await?;
        let Deployed { digest, replaced, .. } = deployed;
        Ok(Deployment {
            handler: config.name.to_string(),
            version: Version { digest: hex(&digest), label: config.version },
            changed: replaced.is_some(),
            replaced: replaced.map(|digest| hex(&digest)),
            hosts,
        })
    }

    /// Waits until every live host runs the version or has said why not.
    async fn converged(&self, deployed: &Deployed) {
        let limit = Instant::now() + CONVERGE_LIMIT;
        let digest: Digest = deployed.digest;
        while Instant::now() < limit {
            match self.store.hosts_to_follow(deployed.access.id, digest).await {
                Ok(0) | Err(_) => return,
                Ok(_) => tokio::time::sleep(CONVERGE_LOOK).await,
            }
        }
    }
}

fn refused(error: plugin::Error) -> Refused {
    match error {
        plugin::Error::Unfit(unfit) => Refused::Unfit(unfit.to_string()),
        plugin::Error::Host(reason) => Refused::Host(reason),
    }
}

fn not_found(name: &HandlerName, digits: Option<&str>, found: &Found) -> Refused {
    let list = format!("`wonce plugin history {name}` lists its versions");
    let digits = digits.unwrap_or_default();
    match found {
        Found::UnknownHandler => Refused::NotFound(format!(
            "no handler \"{name}\" was ever deployed here; `wonce plugin list` shows all"
        )),
        Found::NoSuch => {
            Refused::NotFound(format!("no version of \"{name}\" begins with \"{digits}\"; {list}"))
        }
        Found::Several => Refused::Conflict(format!(
            "several versions of \"{name}\" begin with \"{digits}\": give more digits; {list}"
        )),
        Found::NoPrevious => Refused::Conflict(format!(
            "\"{name}\" has had one version only, so there is nothing to go back to; {list}"
        )),
        Found::Active(digest) | Found::Version { digest, .. } => {
            Refused::Conflict(format!("\"{name}\" is at version {} already; {list}", short(digest)))
        }
    }
}
