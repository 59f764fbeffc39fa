//! An event as its attributes come in, checked one by one; complete when the required ones are
//! there. Knows nothing of how they were written.

use wonce_core::event::{Event, Micros};
use wonce_core::name::SourceName;

use super::time;
use crate::source::Error;
use crate::source::text::{MAX_EXTENSIONS, checked, shown};

const SPEC_VERSION: &str = "1.0";

/// The attributes so far.
#[derive(Debug, Default)]
pub(super) struct Draft {
    specversion: Option<String>,
    id: Option<String>,
    source: Option<String>,
    event_type: Option<String>,
    subject: Option<String>,
    time: Option<Micros>,
    content_type: Option<String>,
    data_schema: Option<String>,
    traceparent: Option<String>,
    extensions: Vec<(String, String)>,
}

impl Draft {
    /// Takes one attribute in.
    ///
    /// # Errors
    /// When it was there already, or its name or value is not allowed.
    pub(super) fn set(&mut self, name: &str, value: String) -> Result<(), Error> {
        check_name(name)?;
        let value = checked(name, value)?;
        let place = match name {
            "specversion" => &mut self.specversion,
            "id" => &mut self.id,
            "source" => &mut self.source,
            "type" => &mut self.event_type,
            "subject" => &mut self.subject,
            "datacontenttype" => &mut self.content_type,
            "dataschema" => &mut self.data_schema,
            "traceparent" => &mut self.traceparent,
            "time" => return once(&mut self.time, name, time::parse(&value)?),
            _ => return self.extend(name, value),
        };
        once(place, name, value)
    }

    fn extend(&mut self, name: &str, value: String) -> Result<(), Error> {
        if self.extensions.iter().any(|(known, _)| known == name) {
            return Err(Error::RepeatedAttribute { name: name.to_owned() });
        }
        if self.extensions.len() == MAX_EXTENSIONS {
            return Err(Error::ManyAttributes { limit: MAX_EXTENSIONS });
        }
        self.extensions.push((name.to_owned(), value));
        Ok(())
    }

    pub(super) fn content_type(&self) -> Option<&str> {
        self.content_type.as_deref()
    }

    /// The finished event. `default_type` is the data's content type when none was declared.
    ///
    /// # Errors
    /// When a required attribute is missing or the version is not 1.0.
    pub(super) fn finish(
        self,
        via: &SourceName,
        data: Vec<u8>,
        default_type: Option<&str>,
    ) -> Result<Event, Error> {
        let required = |value: Option<String>, name| value.ok_or(Error::MissingAttribute { name });
        let version = required(self.specversion, "specversion")?;
        if version != SPEC_VERSION {
            return Err(Error::SpecVersion { found: shown(&version) });
        }
        Ok(Event {
            via: via.clone(),
            id: Some(required(self.id, "id")?),
            source: required(self.source, "source")?,
            event_type: required(self.event_type, "type")?,
            subject: self.subject,
            time: self.time,
            content_type: self.content_type.or_else(|| default_type.map(str::to_owned)),
            data_schema: self.data_schema,
            traceparent: self.traceparent,
            extensions: self.extensions,
            data,
        })
    }
}

fn once<T>(place: &mut Option<T>, name: &str, value: T) -> Result<(), Error> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(Error::RepeatedAttribute { name: name.to_owned() }),
    }
}

/// `data` is no attribute: JSON carries the payload under that name.
fn check_name(name: &str) -> Result<(), Error> {
    let well_formed = !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    if well_formed && name != "data" { Ok(()) } else { Err(Error::AttributeName { name: shown(name) }) }
}
