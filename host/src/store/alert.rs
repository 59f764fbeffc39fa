//! Alerts: the rules that handlers were deployed with are held against what was measured, by one
//! host for all, and where each alert stands is kept in rows, so that the next host goes on there.
//! Knows nothing of who is told.

use std::time::Duration;

use tokio_postgres::types::{Json, Type};
use tokio_postgres::{GenericClient, Row, Transaction};
use uuid::Uuid;
use wonce_api::Time;
use wonce_api::alert::AlertNotice;
use wonce_api::live::{Alert, AlertState, Gauges, HandlerGauges};
use wonce_core::alert::judge::{Claims, Recent, Seen, Standing, level, measure};
use wonce_core::alert::{AlertRule, AlertRules, words};

pub mod notice;

use super::sample::{Kind, Sample};
use super::sql::Sql;
use super::view::{time, time_opt};
use super::{Error, Store};

/// A round that takes longer is given up.
const LIMIT: Duration = Duration::from_secs(5);
/// The state of a handler that claims nothing because people said so.
const PAUSED: &str = "paused";

const SAMPLED: Sql = Sql {
    name: "read the sample of gauges",
    text: "SELECT body FROM wonce.sample WHERE kind = 'gauges'",
    params: &[],
};
const RULES: Sql = Sql {
    name: "read the alert rules of all handlers",
    text: "
        SELECT id, name, policy->'alert' AS rules FROM wonce.handler
        WHERE policy ? 'alert' ORDER BY name",
    params: &[],
};
const STANDINGS: Sql = Sql {
    name: "read where alerts stand",
    text: "
        SELECT a.handler_id, h.name, a.rule, a.standing, a.value, a.bound,
               greatest(0, extract(epoch FROM now() - a.since))::float8 AS held
        FROM wonce.alert a JOIN wonce.handler h ON h.id = a.handler_id",
    params: &[],
};
const PUT: Sql = Sql {
    name: "write where an alert stands",
    text: "
        INSERT INTO wonce.alert AS a (handler_id, rule, standing, since, fired_at, value, bound, text)
        VALUES ($1, $2, $3, now(), CASE WHEN $3 <> 'suspected' THEN now() END, $4, $5, $6)
        ON CONFLICT (handler_id, rule) DO UPDATE
        SET standing = excluded.standing,
            since = CASE WHEN a.standing = excluded.standing THEN a.since ELSE now() END,
            fired_at = CASE WHEN excluded.fired_at IS NOT NULL THEN coalesce(a.fired_at, now()) END,
            value = excluded.value, bound = excluded.bound, text = excluded.text",
    params: &[Type::INT8, Type::TEXT, Type::TEXT, Type::FLOAT8, Type::FLOAT8, Type::TEXT],
};
const REMOVE: Sql = Sql {
    name: "end an alert",
    text: "DELETE FROM wonce.alert WHERE handler_id = $1 AND rule = $2 RETURNING fired_at, now() AS at",
    params: &[Type::INT8, Type::TEXT],
};
const FIRING: Sql = Sql {
    name: "list the alerts that fire",
    text: "
        SELECT h.name, a.rule, a.fired_at, a.value, a.bound, a.text
        FROM wonce.alert a JOIN wonce.handler h ON h.id = a.handler_id
        WHERE a.fired_at IS NOT NULL ORDER BY a.fired_at, h.name, a.rule",
    params: &[],
};

pub(super) const STATEMENTS: &[&Sql] = &[&SAMPLED, &RULES, &STANDINGS, &PUT, &REMOVE, &FIRING];

/// What all hosts counted of a handler within a window.
pub type Recently<'a> = &'a (dyn Fn(&str, Duration) -> Recent + Sync);

/// Whether a webhook is told of what changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tell {
    Webhook,
    Nobody,
}

/// What came of a round.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Judged {
    /// Alerts that began or ended.
    pub changes: Vec<Alert>,
    /// Notices that were dropped because too many wait.
    pub dropped: u64,
}

/// One handler's rules.
struct Watched {
    handler: i64,
    name: String,
    rules: AlertRules,
}

/// A row of the table.
struct Stood {
    handler: i64,
    name: String,
    rule: String,
    standing: Standing,
    held: Duration,
    value: f64,
    bound: f64,
}

impl Store {
    /// Holds every rule against the last sample of gauges in the name of the fleet, and answers the
    /// alerts that began or ended by it. Nothing when another host is at it.
    ///
    /// # Errors
    /// When the database does not answer in time.
    pub async fn judge_alerts(
        &self,
        boot: Uuid,
        recently: Recently<'_>,
        tell: Tell,
    ) -> Result<Judged, Error> {
        let mut client = self.client().await?;
        let Some(sample) = Sample::begin(&mut client, Kind::Alerts, boot, Duration::ZERO, LIMIT).await?
        else {
            return Ok(Judged::default());
        };
        let tx = sample.transaction();
        let Some(gauges) = sampled(tx).await? else { return Ok(Judged::default()) };
        let watched: Vec<Watched> = RULES.query(tx, &[]).await?.iter().filter_map(watched).collect();
        let stood: Vec<Stood> = STANDINGS.query(tx, &[]).await?.iter().filter_map(stood).collect();
        let mut began = Vec::new();
        let mut ended = Vec::new();
        for handler in &watched {
            let Some(gauges) = gauges.handlers.iter().find(|gauges| gauges.handler == handler.name) else {
                continue;
            };
            let seen = seen(gauges, recently(&handler.name, handler.rules.error_window));
            for (rule, limit) in &handler.rules.limits {
                let before =
                    stood.iter().find(|s| s.handler == handler.handler && s.rule == rule.to_string());
                match step(tx, handler, *rule, *limit, &seen, before).await? {
                    Step::Began => began.push(id(&handler.name, &rule.to_string())),
                    Step::Ended(alert) => ended.push(alert),
                    Step::Nothing => {}
                }
            }
        }
        for gone in stood.iter().filter(|stood| !is_watched(stood, &watched)) {
            ended.extend(end(tx, gone, words::dropped).await?);
        }
        let firing = firing(tx).await?;
        let new = firing.iter().filter(|alert| began.contains(&alert.id));
        let mut changes: Vec<AlertNotice> =
            new.map(|alert| AlertNotice { alert: alert.clone(), fired_at: alert.since.clone() }).collect();
        changes.append(&mut ended);
        let dropped = match tell {
            Tell::Webhook => notice::put(tx, &changes).await?,
            Tell::Nobody => 0,
        };
        sample.finish(&firing).await?;
        Ok(Judged { changes: changes.into_iter().map(|notice| notice.alert).collect(), dropped })
    }
}

enum Step {
    Nothing,
    Began,
    Ended(AlertNotice),
}

async fn step(
    tx: &Transaction<'_>,
    handler: &Watched,
    rule: AlertRule,
    limit: f64,
    seen: &Seen,
    before: Option<&Stood>,
) -> Result<Step, Error> {
    let rules = &handler.rules;
    let measured = measure(rule, seen, rules);
    let (was, held) = before.map_or((Standing::Quiet, Duration::ZERO), |b| (b.standing, b.held));
    let next = was.next(held, level(measured, limit), rules);
    if next == Standing::Quiet {
        let Some(before) = before else { return Ok(Step::Nothing) };
        return Ok(end(tx, before, words::resolved).await?.map_or(Step::Nothing, Step::Ended));
    }
    // Where there is too little to say, the last that was said holds.
    let value = measured.or(before.map(|before| before.value)).unwrap_or(limit);
    let text = words::firing(&handler.name, rule, value, limit, rules);
    PUT.execute(tx, &[&handler.handler, &rule.to_string(), &next.as_str(), &value, &limit, &text]).await?;
    Ok(if next.fires() && !was.fires() { Step::Began } else { Step::Nothing })
}

/// Takes an alert's row away; none when it had not fired.
async fn end(
    tx: &Transaction<'_>,
    stood: &Stood,
    say: fn(&str, AlertRule) -> String,
) -> Result<Option<AlertNotice>, Error> {
    let Some(row) = REMOVE.query_opt(tx, &[&stood.handler, &stood.rule]).await? else { return Ok(None) };
    if !stood.standing.fires() {
        return Ok(None);
    }
    let rule = stood.rule.parse::<AlertRule>();
    let fired_at: Option<Time> = time_opt(&row, "fired_at");
    let alert = Alert {
        id: id(&stood.name, &stood.rule),
        handler: stood.name.clone(),
        unit: rule.as_ref().map_or("", |rule| rule.unit().as_str()).to_owned(),
        text: rule.map_or_else(|no_rule| no_rule.to_string(), |rule| say(&stood.name, rule)),
        rule: stood.rule.clone(),
        state: AlertState::Resolved,
        since: time(&row, "at"),
        value: stood.value,
        limit: stood.bound,
    };
    Ok(fired_at.map(|fired_at| AlertNotice { alert, fired_at }))
}

/// The alerts that fire, the oldest first.
pub(super) async fn firing(client: &impl GenericClient) -> Result<Vec<Alert>, Error> {
    let rows = FIRING.query(client, &[]).await?;
    let alert = |row: &Row| {
        let (handler, rule): (String, String) = (row.get("name"), row.get("rule"));
        let unit = rule.parse::<AlertRule>().map_or("", |rule| rule.unit().as_str());
        Alert {
            id: id(&handler, &rule),
            handler,
            rule,
            state: AlertState::Firing,
            since: time(row, "fired_at"),
            value: row.get("value"),
            limit: row.get("bound"),
            unit: unit.to_owned(),
            text: row.get("text"),
        }
    };
    Ok(rows.iter().map(alert).collect())
}

async fn sampled(tx: &Transaction<'_>) -> Result<Option<Gauges>, Error> {
    let row = SAMPLED.query_opt(tx, &[]).await?;
    let body: Option<String> = row.map(|row| row.get("body"));
    // What a host of another version wrote may not be readable; its own next sample is.
    Ok(body.and_then(|body| serde_json::from_str(&body).ok()))
}

/// None for rules that another version wrote and this one cannot read.
fn watched(row: &Row) -> Option<Watched> {
    let name: String = row.get("name");
    let Json(document): Json<serde_json::Value> = row.get("rules");
    match serde_json::from_value(document) {
        Ok(rules) => Some(Watched { handler: row.get("id"), name, rules }),
        Err(error) => {
            tracing::debug!(handler = name, error = %error, "the alert rules of a handler cannot be read; another version deployed it");
            None
        }
    }
}

fn stood(row: &Row) -> Option<Stood> {
    Some(Stood {
        handler: row.get("handler_id"),
        name: row.get("name"),
        rule: row.get("rule"),
        standing: Standing::parse(row.get("standing"))?,
        held: Duration::try_from_secs_f64(row.get("held")).unwrap_or_default(),
        value: row.get("value"),
        bound: row.get("bound"),
    })
}

fn is_watched(stood: &Stood, watched: &[Watched]) -> bool {
    let rules = watched.iter().find(|watched| watched.handler == stood.handler);
    rules.is_some_and(|watched| watched.rules.limits.keys().any(|rule| rule.to_string() == stood.rule))
}

fn seen(gauges: &HandlerGauges, recent: Recent) -> Seen {
    Seen {
        claims: if gauges.state == PAUSED { Claims::Paused } else { Claims::Wanted },
        dead_letters: gauges.dead.n,
        dead_letter_age: gauges.oldest_dead_ms.map(Duration::from_millis),
        oldest_due_age: gauges.oldest_due_ms.map(Duration::from_millis),
        recent,
    }
}

fn id(handler: &str, rule: &str) -> String {
    format!("{handler}/{rule}")
}
