//! The worker loops: drain what is there, or serve what comes, woken by NOTIFY with a poll as back-stop.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use futures_util::future::{join_all, try_join_all};
use tokio::sync::{Mutex, Notify};
use tokio_postgres::{AsyncMessage, NoTls};

use super::batch::Dedup;
use super::inbox::Inbox;
use super::{Kind, batch, one};
use crate::workload::Workload;

/// How long an idle worker waits when nobody calls.
const BACK_STOP: Duration = Duration::from_secs(1);

/// Workers with a connection each.
#[derive(Debug)]
pub(super) struct Crew {
    kind: Kind,
    inboxes: Vec<Arc<Mutex<Inbox>>>,
}

impl Crew {
    pub(super) async fn hire(
        kind: Kind,
        tasks: usize,
        workload: Workload,
        url: &str,
    ) -> anyhow::Result<Self> {
        let open = (0..tasks).map(|_| Inbox::open(url, workload));
        let inboxes =
            try_join_all(open).await?.into_iter().map(|inbox| Arc::new(Mutex::new(inbox))).collect();
        Ok(Self { kind, inboxes })
    }

    /// Works until nothing is left to claim.
    pub(super) async fn drain(&self) -> anyhow::Result<()> {
        let kind = self.kind;
        let workers = self.inboxes.iter().cloned().map(|inbox| {
            tokio::spawn(async move {
                let mut inbox = inbox.lock().await;
                while handle(kind, &mut inbox).await? > 0 {}
                anyhow::Ok(())
            })
        });
        for ended in join_all(workers).await {
            ended.context("a worker broke")??;
        }
        Ok(())
    }

    /// Works on what comes until dropped or broken.
    pub(super) async fn serve(&self, url: &str) -> anyhow::Result<()> {
        let bell = Arc::new(Notify::new());
        let workers = self.inboxes.iter().cloned().map(|inbox| {
            let (bell, kind) = (Arc::clone(&bell), self.kind);
            async move {
                let mut inbox = inbox.lock().await;
                loop {
                    while handle(kind, &mut inbox).await? > 0 {}
                    let _either_way = tokio::time::timeout(BACK_STOP, bell.notified()).await;
                }
            }
        });
        tokio::select! {
            ended = try_join_all(workers.map(as_task)) => ended.map(|_: Vec<()>| ()),
            ended = listen(url, &bell) => ended,
        }
    }
}

/// A loop as a task of its own that ends with the one who waits for it.
async fn as_task(work: impl Future<Output = anyhow::Result<()>> + Send + 'static) -> anyhow::Result<()> {
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(work);
    tasks.join_next().await.context("one was spawned")?.context("a worker broke")?
}

async fn handle(kind: Kind, inbox: &mut Inbox) -> anyhow::Result<usize> {
    match kind {
        Kind::One => one::handle(inbox).await,
        Kind::Batch => batch::handle(inbox, Dedup::EachEvent).await,
        Kind::BatchSet => batch::handle(inbox, Dedup::WholeBatch).await,
    }
}

/// One call for each notification, which wakes one worker.
async fn listen(url: &str, bell: &Notify) -> anyhow::Result<()> {
    let (client, mut connection) = tokio_postgres::connect(url, NoTls).await.context("connect to listen")?;
    let messages = futures_util::stream::poll_fn(move |context| connection.poll_message(context));
    let mut messages = std::pin::pin!(messages);
    let asked = client.batch_execute("LISTEN hand_queue");
    let mut asked = std::pin::pin!(asked);
    let mut listening = false;
    loop {
        tokio::select! {
            answer = &mut asked, if !listening => {
                answer.context("listen for events")?;
                listening = true;
            }
            message = futures_util::StreamExt::next(&mut messages) => match message {
                Some(Ok(AsyncMessage::Notification(_))) => bell.notify_one(),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error).context("listen for events"),
                None => anyhow::bail!("the listening connection has ended"),
            }
        }
    }
}
