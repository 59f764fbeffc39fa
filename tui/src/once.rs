//! One look at the fleet: follows the stream until there is enough to say, and gives the overview.
//! Knows nothing of how it is shown.

use std::time::Duration;

use tokio::sync::mpsc;
use wonce_api::live::Message;

use crate::live::{Fleet, Link, Overview, Window};
use crate::net::{Clock, Feed, Hosts, MAX_REPORTS, Report, follow};

/// The look takes no longer.
pub const LOOK_LIMIT: Duration = Duration::from_secs(15);
/// The numbers of the database come every two seconds; a host that has just started has none yet.
const GAUGES_LIMIT: Duration = Duration::from_secs(5);

/// No host said enough.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot look at the fleet: {reason}")]
pub struct NoLook {
    pub reason: String,
}

/// How far a look has come.
#[derive(Debug, Default)]
struct Seen {
    snapshot: bool,
    tick: bool,
    gauges: bool,
}

/// The fleet as the first host that answers sees it.
///
/// # Errors
/// When no host answers, none lets the console in, or nothing is said in time.
pub async fn once(hosts: Hosts, window: Window) -> Result<Overview, NoLook> {
    let (clock, hosts_named) = (Clock::new(), hosts.len());
    let (out, mut reports) = mpsc::channel(MAX_REPORTS);
    // It ends with the receiver, at the end of this function.
    let follower = tokio::spawn(follow(hosts, Feed::Live, clock, out, |report| report));
    let mut fleet = Fleet::default();
    let look = look(&mut fleet, &mut reports, clock, hosts_named);
    let looked = tokio::time::timeout(LOOK_LIMIT, look).await;
    follower.abort();
    match looked {
        Ok(Ok(())) => Ok(fleet.overview(window)),
        Ok(Err(reason)) => Err(NoLook { reason }),
        Err(_) => Err(NoLook { reason: format!("nothing was said within {} s", LOOK_LIMIT.as_secs()) }),
    }
}

async fn look(
    fleet: &mut Fleet,
    reports: &mut mpsc::Receiver<Report>,
    clock: Clock,
    hosts: usize,
) -> Result<(), String> {
    let mut seen = Seen::default();
    while !seen.enough(clock) {
        match reports.recv().await {
            None => return Err("the stream is over".to_owned()),
            Some(Report::Message(now, message)) => {
                seen.note(&message);
                fleet.apply(now, *message);
            }
            Some(Report::Skipped(now)) => fleet.skip(now),
            Some(Report::Link(now, link)) => {
                let lost = match &link {
                    Link::Refused { reason, .. } => Some(reason.clone()),
                    // Every host was asked once.
                    Link::Stale { reason, attempt, .. } => {
                        let asked = usize::try_from(*attempt).unwrap_or(usize::MAX);
                        (asked > hosts).then(|| reason.clone())
                    }
                    Link::Connecting { .. } | Link::Live { .. } => None,
                };
                fleet.link(now, link);
                if let Some(reason) = lost {
                    return Err(reason);
                }
            }
        }
    }
    Ok(())
}

impl Seen {
    fn note(&mut self, message: &Message) {
        match message {
            Message::Snapshot(snapshot) => {
                self.snapshot = true;
                self.gauges |= snapshot.gauges.is_some();
            }
            Message::Tick(_) => self.tick = true,
            Message::Gauges(_) => self.gauges = true,
            Message::Hello(_)
            | Message::Host(_)
            | Message::Alert(_)
            | Message::Change(_)
            | Message::Op(_)
            | Message::Log(_)
            | Message::Bye(_) => {}
        }
    }

    fn enough(&self, clock: Clock) -> bool {
        let is_late = Duration::from_millis(clock.now().millis()) > GAUGES_LIMIT;
        self.snapshot && self.tick && (self.gauges || is_late)
    }
}
