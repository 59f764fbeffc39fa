//! Edits of a dead letter's payload, and the lineage that they leave. The move is an SQL function
//! (migration 0017); the hashes are made here, because the rule is code.

use tokio_postgres::types::Type;
use tokio_postgres::{Row, Transaction};
use wonce_api::dead_letter::{Edit, Edited};
use wonce_api::event::TIMELINE_LIMIT;
use wonce_core::delivery::PayloadHash;
use wonce_core::hash::{RULE, hash_under};

use super::action::By;
use super::dead_letter::Hindrance;
use super::sql::Sql;
use super::view::time;
use super::{Error, Store, writing};

const READ: Sql = Sql {
    name: "read what is to be edited",
    text: "
        SELECT revision, hash_rule, payload_digest, CASE WHEN payload_digest IS NULL THEN data END AS data
        FROM wonce.dead_letter WHERE id = $1",
    params: &[Type::INT8],
};
const EDIT: Sql = Sql {
    name: "edit the payload of a dead letter",
    text: "SELECT wonce.edit_payload($1, $2, $3, $4, $5, $6, $7, $8) AS verdict",
    params: &[
        Type::INT8,
        Type::INT4,
        Type::BYTEA,
        Type::TEXT,
        Type::BYTEA,
        Type::BYTEA,
        Type::TEXT,
        Type::TEXT,
    ],
};
/// A delivery's edits were made in its dead letters of all rounds; other letters have their own.
const LINEAGE: Sql = Sql {
    name: "list the edits of a payload",
    text: "
        SELECT e.dead_letter_id, e.revision, e.at, e.actor, e.reason, e.hash_rule,
               encode(e.digest_before, 'hex') AS hash_before, encode(e.digest_after, 'hex') AS hash_after
        FROM wonce.edit e JOIN wonce.dead_letter d ON d.id = e.dead_letter_id
        WHERE d.id = ANY ($1) ORDER BY e.dead_letter_id, e.revision LIMIT $2",
    params: &[Type::INT8_ARRAY, Type::INT8],
};
const LETTERS: Sql = Sql {
    name: "find the dead letters of a delivery",
    text: "
        SELECT o.id FROM wonce.dead_letter d
        JOIN wonce.dead_letter o ON o.handler_id = d.handler_id AND o.key = d.key AND o.kind = 'delivery'
        WHERE d.id = $1 AND d.kind = 'delivery' AND o.id <= d.id",
    params: &[Type::INT8],
};
const RECEIVED: Sql = Sql {
    name: "read a payload as it was received",
    text: "
        SELECT data_before FROM wonce.edit
        WHERE dead_letter_id = ANY ($1) ORDER BY dead_letter_id, revision LIMIT 1",
    params: &[Type::INT8_ARRAY],
};

pub(super) const STATEMENTS: &[&Sql] = &[&READ, &EDIT, &LINEAGE, &LETTERS, &RECEIVED];

/// Why a payload stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotEdited {
    Hindered(Hindrance),
    /// Somebody edited it after it was read.
    EditedSince,
    /// The new payload is the old one.
    Same,
    /// Its hash was made under a rule that this host does not know.
    UnknownRule(String),
}

impl Store {
    /// Gives an open dead letter another payload, if it still has the revision that was read. What
    /// was received is kept.
    ///
    /// # Errors
    /// When the database cannot answer; nothing is changed then.
    pub async fn edit(
        &self,
        id: i64,
        revision: i32,
        data: &[u8],
        by: &By,
    ) -> Result<Result<Edited, NotEdited>, Error> {
        let mut client = self.client().await?;
        let tx = writing(&mut client, "begin an edit").await?;
        let Some(row) = READ.query_opt(&tx, &[&id]).await? else {
            return Ok(Err(NotEdited::Hindered(Hindrance::Unknown)));
        };
        let rule = row.get::<_, Option<&str>>("hash_rule").unwrap_or(RULE);
        let (Some(before), Some(after)) = (hash_before(&row, rule), hash_under(rule, data)) else {
            let is_as_read = row.get::<_, i32>("revision") == revision;
            let unknown = NotEdited::UnknownRule(rule.to_owned());
            return Ok(Err(if is_as_read { unknown } else { NotEdited::EditedSince }));
        };
        let (old, new) = (before.as_slice(), after.digest.as_slice());
        let (actor, reason) = (by.actor(), by.reason());
        let row = EDIT.query_one(&tx, &[&id, &revision, &data, &rule, &old, &new, &actor, &reason]).await?;
        match row.get("verdict") {
            "edited" => {}
            "edited_since" => return Ok(Err(NotEdited::EditedSince)),
            "same" => return Ok(Err(NotEdited::Same)),
            verdict => {
                let hindrance = Hindrance::from_verdict(EDIT.name, verdict)?;
                return Ok(Err(NotEdited::Hindered(hindrance)));
            }
        }
        tx.commit().await.map_err(|source| Error::Statement { attempt: "commit an edit", source })?;
        Ok(Ok(Edited {
            id,
            revision: revision + 1,
            hash_rule: rule.to_owned(),
            hash_before: hex(old),
            hash_after: hex(new),
        }))
    }
}

/// The digest that the row has; a parked event has none yet. Another edit in between makes
/// another revision, and then nothing is written.
fn hash_before(row: &Row, rule: &str) -> Option<Vec<u8>> {
    let data = row.get::<_, Option<&[u8]>>("data");
    let known = row.get::<_, Option<Vec<u8>>>("payload_digest");
    known.or_else(|| hash_under(rule, data?).map(|PayloadHash { digest, .. }| digest.to_vec()))
}

/// The dead letters in which this one's payload was edited: of a delivery those of all its rounds.
pub(super) async fn letters_of(tx: &Transaction<'_>, id: i64) -> Result<Vec<i64>, Error> {
    let rows = LETTERS.query(tx, &[&id]).await?;
    let letters: Vec<i64> = rows.iter().map(|row| row.get("id")).collect();
    Ok(if letters.is_empty() { vec![id] } else { letters })
}

/// The edits in these dead letters, oldest first.
pub(super) async fn edits_of(tx: &Transaction<'_>, letters: &[i64]) -> Result<Vec<Edit>, Error> {
    let rows = LINEAGE.query(tx, &[&letters, &TIMELINE_LIMIT]).await?;
    Ok(rows.iter().map(edit).collect())
}

/// What was received, if it was edited in any of these dead letters.
pub(super) async fn received(tx: &Transaction<'_>, letters: &[i64]) -> Result<Option<Vec<u8>>, Error> {
    let row = RECEIVED.query_opt(tx, &[&letters]).await?;
    Ok(row.map(|row| row.get("data_before")))
}

fn edit(row: &Row) -> Edit {
    Edit {
        dead_letter: row.get("dead_letter_id"),
        revision: row.get("revision"),
        at: time(row, "at"),
        actor: row.get("actor"),
        reason: row.get("reason"),
        hash_rule: row.get("hash_rule"),
        hash_before: row.get("hash_before"),
        hash_after: row.get("hash_after"),
    }
}

/// Lower-case hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect()
}
