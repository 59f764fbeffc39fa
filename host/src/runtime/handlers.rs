//! A handler as the configuration describes it becomes what the database is told of it, and what the
//! pipeline runs. Knows nothing of where a version came from or when it changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Context;
use uuid::Uuid;
use wonce_core::key::KeyRule;
use wonce_core::pace::BatchLimit;
use wonce_core::pointer::Pointer;
use wonce_core::route::{Pattern, Route, Subscription};
use wonce_wasm::Prepared;

use super::settings;
use crate::config::{
    Config, HandlerConfig, Isolation as Isolated, Retention as Keep, Start, SubscriptionConfig,
};
use crate::pipeline::handler::{Handler, Pacer};
use crate::store::action::By;
use crate::store::deploy::{
    ChosenBy, DeploySpec, DeployVerb, FirstState, Isolation, OnOtherVersion, Ordering, Rights, TableRight,
};
use crate::store::lease::HandlerAccess;
use crate::store::place::ClaimTurns;
use crate::telemetry::metrics;

/// A version's own part of a deploy.
#[derive(Debug)]
pub(super) struct VersionPart {
    pub(super) component: Vec<u8>,
    pub(super) settings: BTreeMap<String, String>,
    pub(super) signature: Option<String>,
}

/// Who deploys, and how.
#[derive(Debug)]
pub(super) struct Deploying {
    pub(super) on_other_version: OnOtherVersion,
    pub(super) chosen_by: ChosenBy,
    pub(super) verb: DeployVerb,
    pub(super) by: By,
    pub(super) boot: Uuid,
}

/// What the database is told.
pub(super) fn spec(
    config: &Config,
    handler: &HandlerConfig,
    version: VersionPart,
    deploying: Deploying,
) -> anyhow::Result<DeploySpec> {
    let setup = handler.setup.as_ref().map(|path| {
        std::fs::read_to_string(path).with_context(|| format!("read the setup script \"{}\"", path.display()))
    });
    let ordered = handler.subscriptions.iter().any(|subscription| !subscription.order_by.is_empty());
    Ok(DeploySpec {
        name: handler.name.clone(),
        ordering: if ordered { Ordering::Ordered } else { Ordering::Unordered },
        component: version.component,
        manifest: handler.manifest_text.clone(),
        settings: version.settings,
        signature: version.signature,
        label: handler.version.clone(),
        owner: handler.owner.clone(),
        policy: settings::policy(handler),
        isolation: match config.database.isolation {
            Isolated::Role => Isolation::Role,
            Isolated::Shared => Isolation::Shared,
        },
        rights: config.has_part_of(&handler.name).then(|| rights(handler)),
        setup: setup.transpose()?,
        first_state: match handler.start {
            Start::Active => FirstState::Active,
            Start::Paused => FirstState::Paused,
        },
        on_other_version: deploying.on_other_version,
        chosen_by: deploying.chosen_by,
        verb: deploying.verb,
        by: deploying.by,
        boot: deploying.boot,
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

/// What the pipeline runs.
pub(super) fn running(
    handler: &HandlerConfig,
    access: HandlerAccess,
    version: [u8; 32],
    prepared: Prepared,
) -> anyhow::Result<Handler> {
    handler.alert.limits.keys().for_each(|rule| metrics::alert_rule(&handler.name, *rule));
    Ok(Handler {
        name: handler.name.clone(),
        access: Arc::new(access),
        version,
        prepared,
        policy: handler.retry.clone(),
        limits: handler.limits.clone(),
        settings: Arc::new(handler.settings.clone()),
        emits: Arc::new(handler.emits.iter().cloned().collect()),
        owner: handler.owner.clone(),
        concurrency: handler.concurrency as usize,
        pace: Pacer::new(BatchLimit::new(u16::try_from(handler.batch).unwrap_or(u16::MAX))),
        turns: Arc::new(ClaimTurns::default()),
        route: route(handler)?,
        retention: match handler.retention {
            Keep::Keep => None,
            Keep::For(keep) => Some(keep),
        },
    })
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
