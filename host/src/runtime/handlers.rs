//! Turns the configured handlers into running ones: read, check and compile the component, deploy
//! it, and lay out its routes.

use std::sync::Arc;

use anyhow::Context;
use uuid::Uuid;
use wonce_core::key::KeyRule;
use wonce_core::pace::BatchLimit;
use wonce_core::pointer::Pointer;
use wonce_core::route::{Pattern, Route, Subscription};
use wonce_wasm::Sandbox;

use super::RunOptions;
use super::database::{Database, explained};
use super::settings;
use crate::config::{
    Config, HandlerConfig, Isolation as Isolated, Retention as Keep, Start, SubscriptionConfig,
};
use crate::pipeline::handler::{Handler, Pacer};
use crate::pipeline::intake::RoutedHandler;
use crate::store::deploy::{DeploySpec, Deployed, FirstState, Isolation, Ordering, Rights, TableRight};
use crate::store::place::ClaimTurns;
use crate::store::upkeep::Retention;
use crate::telemetry::metrics;

/// Everything that the services need to know of the handlers.
#[derive(Debug, Default)]
pub(super) struct DeployedHandlers {
    pub(super) handlers: Vec<Handler>,
    pub(super) routes: Vec<RoutedHandler>,
    pub(super) retentions: Vec<Retention>,
}

/// Deploys every configured handler, or none: the first that does not load stops the start.
pub(super) async fn deploy_all(
    config: &Config,
    options: RunOptions,
    database: &Database,
    sandbox: &Sandbox,
    boot: Uuid,
) -> anyhow::Result<DeployedHandlers> {
    let mut all = DeployedHandlers::default();
    for handler in config.handlers.values() {
        let component = std::fs::read(&handler.component)
            .with_context(|| format!("read the component \"{}\"", handler.component.display()))?;
        let prepared = sandbox.prepare(&component).await.with_context(|| {
            format!("load handler \"{}\" from \"{}\"", handler.name, handler.component.display())
        })?;
        let spec = spec(config, options, handler, component, boot)?;
        let deployed = database.store.deploy(&spec, &database.invocation_url).await.map_err(explained)?;
        let id = deployed.access.id;
        all.routes.push(RoutedHandler { id, route: route(handler)? });
        if let Keep::For(keep) = handler.retention {
            all.retentions.push(Retention { handler: id, keep });
        }
        handler.alert.limits.keys().for_each(|rule| metrics::alert_rule(&handler.name, *rule));
        all.handlers.push(running(handler, deployed, prepared));
    }
    Ok(all)
}

fn spec(
    config: &Config,
    options: RunOptions,
    handler: &HandlerConfig,
    component: Vec<u8>,
    boot: Uuid,
) -> anyhow::Result<DeploySpec> {
    let setup = handler.setup.as_ref().map(|path| {
        std::fs::read_to_string(path).with_context(|| format!("read the setup script \"{}\"", path.display()))
    });
    let ordered = handler.subscriptions.iter().any(|subscription| !subscription.order_by.is_empty());
    Ok(DeploySpec {
        name: handler.name.clone(),
        ordering: if ordered { Ordering::Ordered } else { Ordering::Unordered },
        component,
        manifest: handler.manifest_text.clone(),
        label: handler.version.clone(),
        owner: handler.owner.clone(),
        policy: settings::policy(handler),
        isolation: match config.database.isolation {
            Isolated::Role => Isolation::Role,
            Isolated::Shared => Isolation::Shared,
        },
        rights: rights(handler),
        setup: setup.transpose()?,
        first_state: match handler.start {
            Start::Active => FirstState::Active,
            Start::Paused => FirstState::Paused,
        },
        on_other_version: options.on_other_version,
        actor: format!("host {boot}"),
        boot,
    })
}

fn rights(handler: &HandlerConfig) -> Rights {
    Rights {
        schemas: handler.grants.schemas.clone(),
        tables: handler
            .grants
            .tables
            .iter()
            .map(|(relation, privileges)| TableRight {
                schema: relation.schema.clone(),
                name: relation.name.clone(),
                privileges: privileges.iter().map(|privilege| privilege.as_str()).collect(),
            })
            .collect(),
        sequences: handler.grants.sequences.iter().map(|r| (r.schema.clone(), r.name.clone())).collect(),
    }
}

fn running(handler: &HandlerConfig, deployed: Deployed, prepared: wonce_wasm::Prepared) -> Handler {
    Handler {
        name: handler.name.clone(),
        access: Arc::new(deployed.access),
        version: deployed.digest,
        prepared,
        policy: handler.retry.clone(),
        limits: handler.limits.clone(),
        settings: Arc::new(handler.settings.clone()),
        emits: Arc::new(handler.emits.iter().cloned().collect()),
        owner: handler.owner.clone(),
        concurrency: handler.concurrency as usize,
        pace: Pacer::new(BatchLimit::new(u16::try_from(handler.batch).unwrap_or(u16::MAX))),
        turns: ClaimTurns::default(),
    }
}

fn route(handler: &HandlerConfig) -> anyhow::Result<Route> {
    let subscriptions = handler.subscriptions.iter().map(subscription).collect::<anyhow::Result<_>>()?;
    Ok(Route { handler: handler.name.clone(), subscriptions })
}

/// The configuration checked these texts; parsing them again cannot fail but for a bug.
fn subscription(config: &SubscriptionConfig) -> anyhow::Result<Subscription> {
    let patterns =
        |texts: &[String]| texts.iter().map(|text| Pattern::parse(text)).collect::<Result<Vec<_>, _>>();
    let rule = |texts: &[String]| (!texts.is_empty()).then(|| KeyRule::parse(texts)).transpose();
    Ok(Subscription {
        types: patterns(&config.types)?,
        sources: patterns(&config.sources)?,
        key: rule(&config.key)?,
        order_by: rule(&config.order_by)?,
        hash_ignore: config.hash_ignore.iter().map(|text| Pointer::parse(text)).collect::<Result<_, _>>()?,
    })
}
