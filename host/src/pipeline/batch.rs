//! Runs the guests of one claim, one after the other in its transaction, until it is known of every
//! delivery how it ends. First optimistically, without savepoints: what a guest sent nothing of is
//! simply dropped when it fails, and where a failed guest has already written, all is rolled back
//! and run again without it. Those that failed so then run once more behind a savepoint of their
//! own, and only that run counts: no fault costs a neighbour anything.
//!
//! Knows nothing of how a settlement is written.

use std::time::Instant;

use wonce_core::decide::{Decision, Redos, decide};
use wonce_core::fault::{Fault, FaultClass};
use wonce_core::outcome::Outcome;
use wonce_core::pace::BATCH_TIME;
use wonce_core::sqlstate;

use super::dispatch::Shared;
use super::handler::Handler;
use super::invoke::{LastRun, Ran, invoke};
use super::probation::MAX_MARKS;
use super::settle::{draw_jitter, failure, report};
use crate::crash;
use crate::store::claim::{Claimed, ClaimedDelivery};
use crate::store::settle::Settlement;
use crate::store::transaction::{Loss, OpenTransaction, RunId, Savepoint, TakenBack};

/// How often a batch is rolled back for one of its deliveries before all of them run apart.
const MAX_UNDONE: u32 = 2;
/// Queued parameters and effects that a batch holds in memory before it stops starting guests.
const MAX_HELD_BYTES: usize = 4 << 20;

/// One claim at work.
pub(super) struct Batch<'a> {
    shared: &'a Shared,
    handler: &'a Handler,
    started: Instant,
    pub(super) items: Vec<Item>,
    /// Taken out only while a guest has it.
    transaction: Option<OpenTransaction>,
    /// The host's own failure, if there was one: the deliveries it met go back untouched.
    pub(super) host_fault: Option<Fault>,
}

/// A delivery and what is known of its end.
pub(super) struct Item {
    pub(super) delivery: ClaimedDelivery,
    pub(super) stand: Stand,
}

/// What is known of a delivery's end.
pub(super) enum Stand {
    /// It is still to run.
    Open,
    /// It failed among its neighbours: it is still to run apart from them.
    Suspect,
    /// It is known how it ends.
    Decided { settlement: Settlement, run: LastRun },
    /// It goes back untouched: time was up, its ordering key is blocked, or the host failed.
    Held,
}

/// Why a batch ended with nothing to settle: its connection is of no use any more.
#[derive(Debug)]
pub(super) enum Broken {
    /// The connection is gone.
    Lost(Loss),
    /// A step of the host's own was refused.
    Refused(String),
}

/// How a pass over the batch ended.
enum Pass {
    Through,
    /// Everything was rolled back; somebody became a suspect.
    Undone,
}

impl<'a> Batch<'a> {
    pub(super) fn new(shared: &'a Shared, handler: &'a Handler, claimed: Claimed) -> Self {
        let items = claimed.deliveries.into_iter().map(|delivery| Item { delivery, stand: Stand::Open });
        let (items, transaction) = (items.collect(), Some(claimed.transaction));
        let mut batch =
            Self { shared, handler, started: Instant::now(), items, transaction, host_fault: None };
        batch.decide_without_running();
        batch
    }

    /// Runs what there is to run.
    pub(super) async fn run(&mut self) -> Result<(), Broken> {
        let mut undone = 0;
        loop {
            if undone == MAX_UNDONE {
                self.suspect_all();
            }
            match self.run_together().await? {
                Pass::Undone => undone += 1,
                Pass::Through => match self.run_apart().await? {
                    Pass::Undone => undone += 1,
                    Pass::Through => return Ok(()),
                },
            }
        }
    }

    /// The transaction, when nothing runs any more.
    pub(super) fn into_parts(mut self) -> (Vec<Item>, OpenTransaction, Option<Fault>) {
        let transaction = self.transaction.take().expect("no guest has the transaction between two runs");
        (self.items, transaction, self.host_fault)
    }

    /// Late repeats are only counted, crash suspects set aside.
    fn decide_without_running(&mut self) {
        for item in &mut self.items {
            let settlement = match (item.delivery.repeat, item.delivery.marks) {
                (Some(repeat), _) => Some(Settlement::Repeat(repeat)),
                (None, marks) if marks >= MAX_MARKS => {
                    let outcome = Outcome::Failed { fault: crash_suspect(), after: None };
                    let attempt = item.delivery.delivery.attempt;
                    let decision =
                        decide(outcome, attempt, Redos(u32::MAX), &self.handler.policy, draw_jitter());
                    failure(self.handler, decision)
                }
                (None, _) => None,
            };
            if let Some(settlement) = settlement {
                item.stand = Stand::Decided { settlement, run: LastRun::default() };
            }
        }
    }

    fn suspect_all(&mut self) {
        for item in self.items.iter_mut().filter(|item| matches!(item.stand, Stand::Open)) {
            item.stand = Stand::Suspect;
        }
    }

    /// Every open delivery in order, without savepoints.
    async fn run_together(&mut self) -> Result<Pass, Broken> {
        let mut redos = Redos(0);
        let mut index = 0;
        while index < self.items.len() {
            if !self.is_next(index, &Stand::Open) {
                index += 1;
                continue;
            }
            let ran = self.invoke(index).await?;
            if let Some(RunId(culprit)) = self.transaction().aborted_run().filter(|run| run.0 != index) {
                self.undo(culprit).await?;
                return Ok(Pass::Undone);
            }
            match self.judge(index, ran, redos) {
                Judged::Done => index += 1,
                Judged::Failed { settlement, run } => match self.transaction().take_back() {
                    TakenBack::Entirely => {
                        self.items[index].stand = Stand::Decided { settlement, run };
                        index += 1;
                    }
                    TakenBack::NeedsRollback if self.items.len() == 1 => {
                        self.transaction().roll_back_when_settled(Savepoint::Batch);
                        self.items[index].stand = Stand::Decided { settlement, run };
                        index += 1;
                    }
                    TakenBack::NeedsRollback => {
                        self.undo(index).await?;
                        return Ok(Pass::Undone);
                    }
                },
                Judged::Redo if self.items.len() == 1 => {
                    redos = Redos(redos.0 + 1);
                    self.roll_back_to(Savepoint::Batch).await?;
                }
                Judged::Redo => {
                    self.undo(index).await?;
                    return Ok(Pass::Undone);
                }
                Judged::HostFailed => match self.transaction().take_back() {
                    TakenBack::Entirely => index += 1,
                    TakenBack::NeedsRollback => {
                        self.undo(index).await?;
                        self.items[index].stand = Stand::Held;
                        return Ok(Pass::Undone);
                    }
                },
            }
        }
        Ok(Pass::Through)
    }

    /// Every suspect in order, each behind a savepoint of its own.
    async fn run_apart(&mut self) -> Result<Pass, Broken> {
        if !self.items.iter().any(|item| matches!(item.stand, Stand::Suspect)) {
            return Ok(Pass::Through);
        }
        let limit = self.handler.limits.deadline;
        self.transaction().flush(limit).await;
        self.still_there()?;
        if let Some(RunId(culprit)) = self.transaction().aborted_run() {
            self.undo(culprit).await?;
            return Ok(Pass::Undone);
        }
        // However late it is: the first suspect runs, or it would be held for ever.
        self.started = Instant::now();
        for index in 0..self.items.len() {
            if self.is_next(index, &Stand::Suspect) {
                self.run_one_apart(index).await?;
            }
        }
        Ok(Pass::Through)
    }

    async fn run_one_apart(&mut self, index: usize) -> Result<(), Broken> {
        self.transaction().set(Savepoint::Run).await.map_err(Broken::refused)?;
        let mut redos = Redos(0);
        loop {
            let mut ran = self.invoke(index).await?;
            if matches!(ran.outcome, Outcome::Done | Outcome::Ignored(_)) {
                self.see_through(&mut ran).await?;
            }
            match self.judge(index, ran, redos) {
                Judged::Done => return Ok(()),
                Judged::Redo => {
                    redos = Redos(redos.0 + 1);
                    self.take_back_to(Savepoint::Run).await?;
                }
                Judged::Failed { settlement, run } => {
                    self.take_back_to(Savepoint::Run).await?;
                    self.items[index].stand = Stand::Decided { settlement, run };
                    return Ok(());
                }
                Judged::HostFailed => return self.take_back_to(Savepoint::Run).await,
            }
        }
    }

    /// Sends what the guest queued and looks at the constraints, so that what they refuse is this
    /// run's own fault and nobody else's.
    async fn see_through(&mut self, ran: &mut Ran) -> Result<(), Broken> {
        let limit = self.handler.limits.deadline;
        self.transaction().flush(limit).await;
        self.still_there()?;
        if self.transaction().aborted_by().is_none() {
            self.transaction().check_constraints().await.map_err(Broken::refused)?;
        }
        if let Some(error) = self.transaction().aborted_by() {
            let fault = Fault::new(sqlstate::class_of(&error.sqlstate), &error.sqlstate, &error.message);
            ran.outcome = Outcome::Failed { fault, after: None };
        }
        Ok(())
    }

    async fn invoke(&mut self, index: usize) -> Result<Ran, Broken> {
        crash::point("before-guest");
        let transaction = self.transaction.take().expect("no guest has the transaction between two runs");
        let delivery = &self.items[index].delivery;
        let (ran, transaction) =
            invoke(&self.shared.sandbox, self.handler, delivery, RunId(index), transaction).await;
        self.transaction = Some(transaction);
        crash::point("after-guest");
        self.handler.pace.ran(ran.run.usage.wall);
        if let Outcome::Failed { fault, .. } = &ran.outcome
            && self.transaction().lost().is_some()
        {
            report::lines(self.handler, &self.items[index].delivery, &ran.run);
            report::released(self.handler, &self.items[index].delivery, fault);
        }
        self.still_there()?;
        Ok(ran)
    }

    /// What the run means for its delivery; a guest that is through is decided here and now.
    fn judge(&mut self, index: usize, ran: Ran, redos: Redos) -> Judged {
        let item = &mut self.items[index];
        let Ran { outcome, run } = ran;
        let attempt = item.delivery.delivery.attempt;
        match decide(outcome, attempt, redos, &self.handler.policy, draw_jitter()) {
            Decision::Commit { ignored } => {
                item.stand = Stand::Decided { settlement: Settlement::Done { ignored }, run };
                Judged::Done
            }
            Decision::Redo { fault } => {
                report::redone(self.handler, &item.delivery, &fault);
                Judged::Redo
            }
            Decision::Release { fault } => {
                report::lines(self.handler, &item.delivery, &run);
                report::released(self.handler, &item.delivery, &fault);
                item.stand = Stand::Held;
                self.host_fault = Some(fault);
                Judged::HostFailed
            }
            decision @ (Decision::Retry { .. } | Decision::Dead { .. }) => {
                match failure(self.handler, decision) {
                    Some(settlement) => Judged::Failed { settlement, run },
                    None => Judged::HostFailed,
                }
            }
        }
    }

    /// Whether this delivery runs now. One whose turn cannot come in this batch is held.
    fn is_next(&mut self, index: usize, wanted: &Stand) -> bool {
        if std::mem::discriminant(&self.items[index].stand) != std::mem::discriminant(wanted) {
            return false;
        }
        let stand = match self.before_it(index) {
            BeforeIt::Free if !self.is_time_up(index) => return true,
            BeforeIt::Free | BeforeIt::Blocked => Stand::Held,
            BeforeIt::Suspect => Stand::Suspect,
        };
        self.items[index].stand = stand;
        false
    }

    /// What its ordering key has before it in this batch.
    fn before_it(&self, index: usize) -> BeforeIt {
        let Some(ordering_key) = &self.items[index].delivery.delivery.ordering_key else {
            return BeforeIt::Free;
        };
        let same_key = |item: &&Item| item.delivery.delivery.ordering_key.as_ref() == Some(ordering_key);
        for item in self.items[..index].iter().filter(same_key) {
            match &item.stand {
                Stand::Decided { settlement: Settlement::Retry { .. }, .. } | Stand::Held => {
                    return BeforeIt::Blocked;
                }
                Stand::Suspect => return BeforeIt::Suspect,
                Stand::Open | Stand::Decided { .. } => {}
            }
        }
        BeforeIt::Free
    }

    fn is_time_up(&mut self, index: usize) -> bool {
        let over = self.started.elapsed() >= BATCH_TIME || self.transaction().held_bytes() >= MAX_HELD_BYTES;
        let is_first = self.items[..index].iter().all(|item| match &item.stand {
            Stand::Decided { run, .. } => run.usage.wall.is_zero(),
            Stand::Open | Stand::Suspect | Stand::Held => true,
        });
        over && !is_first
    }

    /// Rolls everything back and makes a suspect of this delivery. Who was through runs again, and
    /// who failed behind it in its ordering key: it ran out of turn.
    async fn undo(&mut self, culprit: usize) -> Result<(), Broken> {
        let ordering_key = self.items[culprit].delivery.delivery.ordering_key.clone();
        for item in &mut self.items {
            let is_behind = ordering_key.is_some() && item.delivery.delivery.ordering_key == ordering_key;
            match &item.stand {
                Stand::Decided { settlement: Settlement::Done { .. }, .. } => item.stand = Stand::Open,
                Stand::Decided { settlement: Settlement::Retry { .. } | Settlement::Dead { .. }, run }
                    if is_behind && !run.usage.wall.is_zero() =>
                {
                    item.stand = Stand::Open;
                }
                Stand::Decided { .. } | Stand::Open | Stand::Suspect | Stand::Held => {}
            }
        }
        self.items[culprit].stand = Stand::Suspect;
        self.roll_back_to(Savepoint::Batch).await
    }

    async fn roll_back_to(&mut self, savepoint: Savepoint) -> Result<(), Broken> {
        self.transaction().forget_unsent();
        self.transaction().roll_back_to(savepoint).await.map_err(Broken::refused)
    }

    async fn take_back_to(&mut self, savepoint: Savepoint) -> Result<(), Broken> {
        self.transaction().take_back();
        self.transaction().roll_back_to(savepoint).await.map_err(Broken::refused)
    }

    fn still_there(&mut self) -> Result<(), Broken> {
        match self.transaction().lost() {
            None => Ok(()),
            Some(loss) => Err(Broken::Lost(loss.clone())),
        }
    }

    fn transaction(&mut self) -> &mut OpenTransaction {
        self.transaction.as_mut().expect("no guest has the transaction between two runs")
    }
}

/// What a run means.
enum Judged {
    Done,
    Failed { settlement: Settlement, run: LastRun },
    Redo,
    HostFailed,
}

/// What an ordering key has before a delivery.
enum BeforeIt {
    Free,
    Blocked,
    Suspect,
}

impl Broken {
    fn refused(error: crate::store::Error) -> Self {
        Self::Refused(error.explained())
    }
}

fn crash_suspect() -> Fault {
    Fault::new(
        FaultClass::CrashSuspect,
        "crash-suspect",
        &format!(
            "a host or a database connection died {MAX_MARKS} times while this delivery ran; replay it once the cause is known"
        ),
    )
}
