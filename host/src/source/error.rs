//! Why received bytes are not an event: each names the attribute or rule at fault and what to
//! send instead.

/// A request that cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("the body is not {wanted}: {reason}")]
    NotJson { wanted: &'static str, reason: String },
    #[error(
        "the CloudEvents attribute \"{name}\" is missing; every event needs specversion, id, source and type"
    )]
    MissingAttribute { name: &'static str },
    #[error("the attribute \"{name}\" is empty; give it a value or leave it out")]
    EmptyAttribute { name: String },
    #[error("the attribute \"{name}\" has {bytes} bytes, and at most {limit} are allowed; shorten it")]
    LongAttribute { name: String, bytes: usize, limit: usize },
    #[error(
        "the event has more than {limit} extension attributes; send what is needed, or put it in the data"
    )]
    ManyAttributes { limit: usize },
    #[error(
        "the attribute \"{name}\" holds the control character U+{code:04X}, which CloudEvents does not allow; remove it or move the text to the data"
    )]
    ControlCharacter { name: String, code: u32 },
    #[error("specversion is \"{found}\", and wonce takes \"1.0\" only; send CloudEvents 1.0")]
    SpecVersion { found: String },
    #[error(
        "\"{name}\" is not the name of a CloudEvents attribute; names are lower-case ASCII letters and digits"
    )]
    AttributeName { name: String },
    #[error("the attribute \"{name}\" is given twice; send it once")]
    RepeatedAttribute { name: String },
    #[error("the attribute \"{name}\" is {found}; write it as {wanted}")]
    AttributeType { name: String, found: &'static str, wanted: &'static str },
    #[error(
        "the header \"{name}\" is not valid UTF-8 after percent-decoding; encode the text as UTF-8 first"
    )]
    HeaderNotUtf8 { name: String },
    #[error("time is \"{found}\": {reason}; write it as RFC 3339 has it, e.g. 2026-01-31T12:00:00Z")]
    Time { found: String, reason: String },
    #[error("the event has both data and data_base64; send one of them")]
    DataTwice,
    #[error("data_base64 is not base64: {reason}; use the standard alphabet with padding")]
    DataBase64 { reason: String },
    #[error(
        "datacontenttype is \"{content_type}\", which is not JSON, but data is no string; send text as a JSON string, or bytes in data_base64"
    )]
    DataNotText { content_type: String },
    #[error("{found}; send application/cloudevents+json, application/cloudevents-batch+json, or ce- headers")]
    MediaType { found: String },
    #[error("the body is encoded with \"{found}\", which wonce does not decode; send it as it is")]
    ContentEncoding { found: String },
    #[error(
        "source \"{via}\" is not declared, so wonce cannot tell the type of a plain request; send a CloudEvent (ce- headers or application/cloudevents+json), or declare it: [sources.{via}] with type = \"header:x-event-type\", type = \"/type\" or type_is = \"...\""
    )]
    Undeclared { via: String },
    #[error("source \"{via}\" takes the {what} from {rule}, and the request has none there{reason}")]
    NotThere { via: String, what: &'static str, rule: String, reason: String },
    #[error("{what} has {bytes}, and at most {limit} bytes are allowed; send less, or raise {setting}")]
    TooLarge { what: &'static str, bytes: String, limit: usize, setting: &'static str },
    #[error(
        "the batch has {events} events, and at most {limit} are allowed; split it, or raise http.max_batch_events"
    )]
    TooMany { events: usize, limit: usize },
}
