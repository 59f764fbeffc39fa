//! The list. `plugins/conformance/README.md` says the same for people.

/// One thing that a guest in any language is able to do.
pub(super) struct Behaviour {
    /// Of the event's type after `conformance.`, and the event's id.
    pub(super) name: &'static str,
    pub(super) sent: Sent,
    pub(super) ending: Ending,
    /// What the guest is to note: these, whatever else.
    pub(super) notes: &'static [(&'static str, &'static str)],
    /// What is to be true in the database afterwards, in words and in SQL.
    pub(super) holds: &'static [(&'static str, &'static str)],
}

/// What the event carries.
pub(super) enum Sent {
    Plain,
    /// A member by which its handler is ordered.
    Grouped,
    /// Every attribute that an event can have.
    Whole,
    Bytes(fn() -> Vec<u8>),
}

pub(super) enum Ending {
    Settled(&'static str),
    /// After one attempt, for an hour.
    Waits,
}

impl Behaviour {
    /// Whether notes are checked by SQL.
    pub(super) fn may_note(&self) -> bool {
        self.holds.iter().any(|(_, query)| query.contains("conformance.note"))
    }
}

const fn plain(name: &'static str, outcome: &'static str) -> Behaviour {
    Behaviour { name, sent: Sent::Plain, ending: Ending::Settled(outcome), notes: &[], holds: &[] }
}

const TYPED_IN: &str = "select to_jsonb(i) - 'id' = to_jsonb(e) - 'id' and i.a_json::text = e.a_json::text
    from conformance.typed i, conformance.typed e where i.id = 'in' and e.id = 'expected'";
const TYPED_OUT: &str = "select to_jsonb(o) - 'id' = to_jsonb(e) - 'id' and o.a_json::text = e.a_json::text
    from conformance.typed o, conformance.typed e where o.id = 'out' and e.id = 'expected'";
const NULLS: &str =
    "select jsonb_strip_nulls(to_jsonb(t)) = '{\"id\": \"nulls-out\"}' from conformance.typed t
    where id = 'nulls-out'";
const ARRAYS: &str = "select count(*) = 3 from conformance.arrays a
    join (values ('in', 'expected'), ('out', 'expected'), ('empty-out', 'empty')) v (id, as_id) on v.id = a.id
    join conformance.arrays e on e.id = v.as_id where to_jsonb(a) - 'id' = to_jsonb(e) - 'id'";
const LOGGED: &str = "select log_tail = E'trace a trace n=1\\ndebug a debug n=2\\ninfo an info n=3\\nwarn a warn n=4\\nerror an error n=5'
    from wonce.attempt where code = 'logged'";
const WHOLE: &str = "select (effect_type, content_type, ordering_key, attributes, data)
        = ('conformance.whole', 'application/octet-stream', 'group-1', '{tenant,a,region,eu}'::text[], '\\x00ff10'::bytea)
    from wonce.outbox where dedup_key = 'own-key' and sink = 'out'";
const BARE: &str = "select (effect_type, content_type, ordering_key, attributes, convert_from(data, 'UTF8')::jsonb)
        is not distinct from ('conformance.bare', 'application/json', null::text, '{}'::text[], '{\"n\": 1}'::jsonb)
    from wonce.outbox join conformance.note on name = 'bare' and value = dedup_key";
const SAME_ID: &str = "select (select message from wonce.attempt where code = 'id') = one.value
        and one.value <> other.value and one.value like '________-____-8___-____-____________'
    from conformance.note one, conformance.note other where one.name = 'one' and other.name = 'other'";

pub(super) const ALL: &[Behaviour; 25] = &[
    Behaviour { notes: &[("attempt", "1")], ..plain("done", "done") },
    Behaviour {
        holds: &[(
            "the ledger has the reason",
            "select ignored_reason = 'left alone' from wonce.processed_events where event_id = 'ignored'",
        )],
        ..plain("ignored", "ignored")
    },
    Behaviour {
        notes: &[("attempt", "2")],
        holds: &[
            (
                "the attempt has code and message",
                "select (class, message) = ('transient', 'wait for it') from wonce.attempt where code = 'not-yet'",
            ),
            (
                "the first attempt's note is gone",
                "select count(*) = 1 from conformance.note where behaviour = 'retry'",
            ),
        ],
        ..plain("retry", "done")
    },
    Behaviour {
        ending: Ending::Waits,
        holds: &[(
            "it waits for as long as it asked to",
            "select i.due_at - a.failed_at > interval '59 minutes' from wonce.inbox i join wonce.attempt a using (handler_id, key)
              where a.code = 'later'",
        )],
        ..plain("retry-after", "")
    },
    Behaviour {
        holds: &[(
            "the dead letter has all of it",
            "select (reason, class, code) = ('permanent', 'permanent', 'never') and message like 'look at it%'
                and message like '%{\"cents\":5}%' from wonce.dead_letter where event_id = 'permanent'",
        )],
        ..plain("permanent", "dead")
    },
    Behaviour {
        holds: &[(
            "it is charged to the producer",
            "select (reason, code, message) = ('invalid_payload', 'bad', 'not acceptable') from wonce.dead_letter
              where event_id = 'rejected'",
        )],
        ..plain("rejected", "dead")
    },
    Behaviour {
        holds: &[(
            "it is a trap",
            "select (reason, class) = ('trap', 'trap') from wonce.dead_letter where event_id = 'trap'",
        )],
        ..plain("trap", "dead")
    },
    Behaviour {
        holds: &[(
            "no effect is left",
            "select count(*) = 0 from wonce.outbox where effect_type = 'conformance.gone'",
        )],
        ..plain("rollback", "dead")
    },
    Behaviour {
        sent: Sent::Whole,
        notes: &[
            ("id", "event"),
            ("source", "/lab"),
            ("type", "conformance.event"),
            ("subject", "s-1"),
            ("time", "1772282096789012"),
            ("datacontenttype", "application/json"),
            ("dataschema", "urn:schema"),
            ("extensions", "region=eu"),
            ("data", "{\"n\":1}"),
        ],
        ..plain("event", "done")
    },
    Behaviour {
        sent: Sent::Grouped,
        notes: &[("attempt", "1"), ("max-attempts", "3"), ("round", "0"), ("traceparent", "none")],
        holds: &[
            (
                "it saw the key",
                "select n.value = p.key from conformance.note n, wonce.processed_events p
                  where n.behaviour = 'delivery' and n.name = 'key' and p.event_id = 'delivery'",
            ),
            (
                "it saw the ordering key",
                "select n.value = p.ordering_key from conformance.note n, wonce.processed_events p
                  where n.behaviour = 'delivery' and n.name = 'ordering-key' and p.event_id = 'delivery'",
            ),
            (
                "it saw when the event was accepted",
                "select n.value::bigint = (extract(epoch from p.accepted_at) * 1000000)::bigint
                   from conformance.note n, wonce.processed_events p
                  where n.behaviour = 'delivery' and n.name = 'received' and p.event_id = 'delivery'",
            ),
        ],
        ..plain("delivery", "done")
    },
    Behaviour {
        sent: Sent::Bytes(Vec::new),
        holds: &[("it is empty", "select data = '' from conformance.blob where behaviour = 'empty-payload'")],
        ..plain("empty-payload", "done")
    },
    Behaviour {
        sent: Sent::Bytes(|| (0..=255).collect()),
        holds: &[(
            "every byte is as sent",
            "select data = (select string_agg(set_byte('\\x00', 0, n), '' order by n) from generate_series(0, 255) n)
               from conformance.blob where behaviour = 'binary-payload'",
        )],
        ..plain("binary-payload", "done")
    },
    Behaviour {
        sent: Sent::Bytes(|| b"0123456789abcdef".repeat(32 * 1024)),
        holds: &[(
            "every byte is as sent",
            "select data = convert_to(repeat('0123456789abcdef', 32 * 1024), 'UTF8') from conformance.blob
              where behaviour = 'large-payload'",
        )],
        ..plain("large-payload", "done")
    },
    Behaviour { holds: &[("the row is as expected", TYPED_IN)], ..plain("values-in", "done") },
    Behaviour {
        notes: &[(
            "expected",
            "boolean int2 int4 int8 float4 float8 numeric text bytea uuid date time timestamp timestamptz interval json jsonb other",
        )],
        holds: &[("the row is as expected", TYPED_OUT)],
        ..plain("values-out", "done")
    },
    Behaviour {
        notes: &[(
            "nulls",
            "null null null null null null null null null null null null null null null null null null",
        )],
        holds: &[("the row is all NULL", NULLS)],
        ..plain("nulls", "done")
    },
    Behaviour {
        notes: &[
            ("expected", "boolean-array int4-array int8-array float8-array text-array uuid-array"),
            ("empty", "boolean-array int4-array int8-array float8-array text-array uuid-array"),
        ],
        holds: &[("the rows are as expected", ARRAYS)],
        ..plain("arrays", "done")
    },
    Behaviour {
        notes: &[
            ("columns", "n integer, word text"),
            ("rows", "1 1!, 2 2!, 3 3!"),
            ("no-rows", "0"),
            ("affected", "3"),
        ],
        ..plain("rows", "done")
    },
    Behaviour { notes: &[("queued", "yes"), ("seen", "1")], ..plain("queue", "done") },
    Behaviour {
        holds: &[(
            "its failure says what it saw",
            "select (code, message) = ('sqlstate-23505', 'once_pkey, then aborted, then aborted') from wonce.dead_letter
              where event_id = 'database-error'",
        )],
        ..plain("database-error", "dead")
    },
    Behaviour {
        holds: &[(
            "its failure says what it saw",
            "select (code, message) = ('refused', 'denied, parameter 0, limit rows') from wonce.dead_letter
              where event_id = 'refused'",
        )],
        ..plain("refused", "dead")
    },
    Behaviour {
        notes: &[("whole", "own-key"), ("unknown", "unknown nowhere")],
        holds: &[("the whole effect is as emitted", WHOLE), ("the bare effect is as emitted", BARE)],
        ..plain("outbox", "done")
    },
    Behaviour { holds: &[("the attempt has the lines", LOGGED)], ..plain("log", "done") },
    Behaviour {
        notes: &[("now-is-sqls", "true"), ("greeting", "bom dia"), ("unset", "none")],
        holds: &[(
            "some of the deadline was left",
            "select value::int between 1 and 20000 from conformance.note where name = 'remaining'",
        )],
        ..plain("context", "done")
    },
    Behaviour {
        holds: &[("the id is the same in each attempt and another by another name", SAME_ID)],
        ..plain("stable-uuid", "done")
    },
];
