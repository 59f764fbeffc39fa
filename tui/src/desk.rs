//! What the console asks the hosts for, apart from the stream, and what it has them do: as values,
//! so that whoever decides needs no socket, and the answers. [`Desk`] is the one that asks. Knows
//! nothing of what is drawn.

use wonce_api::action::ActionRequest;
use wonce_api::dead_letter::{
    DeadLetterDetail, DeadLetterList, DeadLetterQuery, DiscardRequest, GroupList, GroupQuery, ReplayRequest,
    RestoreRequest, Selection,
};
use wonce_api::event::Timeline;
use wonce_api::handler::HandlerDetail;
use wonce_api::operation::{
    OperationChange, OperationDetail, OperationList, OperationQuery, OperationRequest,
};
use wonce_core::operation::OperationState;

use crate::net::{Ask, Error};

/// Rows of one asked list; the screen says so when there are more.
pub const MAX_ROWS: u32 = 200;

/// What a screen asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    Groups(GroupQuery),
    Letters(Selection),
    Letter(i64),
    Operations,
    Operation(i64),
    Event { handler: String, key: String },
    Handler(String),
}

/// What a host said to a [`Question`].
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    Groups(GroupList),
    Letters(DeadLetterList),
    Letter(Box<DeadLetterDetail>),
    Operations(OperationList),
    Operation(Box<OperationDetail>),
    Event(Box<Timeline>),
    Handler(Box<HandlerDetail>),
}

/// What a person has decided.
#[derive(Debug, Clone, PartialEq)]
pub enum Deed {
    Pause {
        handler: String,
    },
    Resume {
        handler: String,
    },
    Replay {
        id: i64,
    },
    Discard {
        id: i64,
    },
    Restore {
        id: i64,
    },
    /// Many dead letters. The name is made when the question is put, so that the same answer twice
    /// is one operation.
    Begin {
        name: String,
        request: Box<OperationRequest>,
    },
    Change {
        operation: i64,
        to: OperationState,
    },
}

/// What a deed led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// One sentence.
    pub text: String,
    /// The operation that began.
    pub operation: Option<i64>,
}

/// See the module. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Desk {
    ask: Ask,
    /// Who asks, for the record of actions.
    actor: Option<String>,
}

impl Desk {
    #[must_use]
    pub fn new(ask: Ask, actor: Option<String>) -> Self {
        Self { ask, actor }
    }

    /// # Errors
    /// When no host could be reached, or the host refused.
    pub async fn answer(&self, question: Question) -> Result<Answer, Error> {
        let limit = Some(MAX_ROWS.to_string());
        let ask = &self.ask;
        Ok(match question {
            Question::Groups(query) => {
                Answer::Groups(ask.dead_letter_groups(&GroupQuery { limit, ..query }).await?)
            }
            Question::Letters(Selection { handler, reason, fingerprint, version, key_prefix, operation }) => {
                let query = DeadLetterQuery {
                    handler,
                    reason,
                    fingerprint,
                    version,
                    key_prefix,
                    operation: operation.map(|id| id.to_string()),
                    limit,
                    ..DeadLetterQuery::default()
                };
                Answer::Letters(ask.dead_letters(&query).await?)
            }
            Question::Letter(id) => Answer::Letter(Box::new(ask.dead_letter(id).await?)),
            Question::Operations => {
                let query = OperationQuery { limit, ..OperationQuery::default() };
                Answer::Operations(ask.operations(&query).await?)
            }
            Question::Operation(id) => Answer::Operation(Box::new(ask.operation(id).await?)),
            Question::Event { handler, key } => Answer::Event(Box::new(ask.event(&handler, &key).await?)),
            Question::Handler(name) => Answer::Handler(Box::new(ask.handler(&name).await?)),
        })
    }

    /// # Errors
    /// When no host could be reached, or the host refused; when no answer came in time it may have
    /// been done all the same.
    pub async fn act(&self, deed: Deed, reason: String) -> Result<Done, Error> {
        let (ask, actor) = (&self.ask, self.actor.clone());
        let said = Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty());
        let only = |text: String| Done { text, operation: None };
        Ok(match deed {
            Deed::Pause { handler } => {
                let changed = ask.pause(&handler, &ActionRequest { actor, reason: said }).await?;
                only(format!("{handler} is {}", changed.state))
            }
            Deed::Resume { handler } => {
                let changed = ask.resume(&handler, &ActionRequest { actor, reason: said }).await?;
                only(format!("{handler} is {}", changed.state))
            }
            Deed::Replay { id } => {
                let replayed = ask.replay(id, &ReplayRequest { actor, reason: said, key: None }).await?;
                let to: Vec<&str> = replayed.deliveries.iter().map(|d| d.handler.as_str()).collect();
                only(format!("dead letter {id} waits again for {}", to.join(", ")))
            }
            Deed::Discard { id } => {
                ask.discard(id, &DiscardRequest { actor, reason }).await?;
                only(format!("dead letter {id} is discarded"))
            }
            Deed::Restore { id } => {
                ask.restore(id, &RestoreRequest { actor, reason: said }).await?;
                only(format!("dead letter {id} is open again"))
            }
            Deed::Begin { name, request } => {
                let begun = ask.begin(&name, &OperationRequest { actor, reason: said, ..*request }).await?;
                let operation = begun.operation;
                let text =
                    format!("operation {} ({} of {}) runs", operation.id, operation.verb, operation.total);
                Done { text, operation: Some(operation.id) }
            }
            Deed::Change { operation, to } => {
                let change =
                    OperationChange { state: Some(to.as_str().to_owned()), actor, reason: said, rate: None };
                let changed = ask.change(operation, &change).await?;
                only(format!("operation {operation} is {}", changed.operation.state))
            }
        })
    }
}
