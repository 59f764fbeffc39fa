//! The conditions of a [`Selection`](wonce_api::dead_letter::Selection) in SQL, once for all who
//! list, count or act on what it selects: what a person saw is what an operation takes.

use tokio_postgres::types::Type;

/// `$before`, the conditions on `wonce.dead_letter AS d` (parameters 1 to 8), `$after`.
macro_rules! selected {
    ($before:expr, $after:literal) => {
        concat!(
            $before,
            " WHERE ($1::text IS NULL OR d.handler_id = (SELECT x.id FROM wonce.handler x WHERE x.name = $1))
                AND ($2::text IS NULL OR d.reason = $2)
                AND ($3::text IS NULL OR d.fingerprint = $3)
                AND ($4::text IS NULL OR starts_with(encode(d.version, 'hex'), $4))
                AND ($5::text IS NULL OR starts_with(d.key, $5))
                AND ($6::text IS NULL OR d.state = $6)
                AND ($7::bigint IS NULL OR d.id <= $7)
                AND ($8::bigint IS NULL OR EXISTS (
                        SELECT FROM wonce.operation_item x WHERE x.operation_id = $8 AND x.dead_letter_id = d.id
                            AND x.state = 'succeeded' AND d.acted_at <= x.acted_at)) ",
            $after
        )
    };
}
pub(super) use selected;

/// The types of the parameters that the conditions use; a statement's own follow.
pub(super) const HANDLER: Type = Type::TEXT;
pub(super) const REASON: Type = Type::TEXT;
pub(super) const FINGERPRINT: Type = Type::TEXT;
pub(super) const VERSION: Type = Type::TEXT;
pub(super) const KEY_PREFIX: Type = Type::TEXT;
pub(super) const STATE: Type = Type::TEXT;
pub(super) const AS_OF: Type = Type::INT8;
pub(super) const OPERATION: Type = Type::INT8;
