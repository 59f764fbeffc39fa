//! Histograms as they travel: HdrHistogram's own V2 form (deflated when that is shorter) in base64.
//! Bounds and precision are fixed by the protocol, so that all of them can be added; percentiles
//! are read from the sum and never averaged. Times are in microseconds. Knows nothing of stages.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer, V2Serializer};
use hdrhistogram::{Counter, Histogram};
use serde::{Deserialize, Serialize};

/// The least value that is told from zero: 1 µs.
pub const LOWEST: u64 = 1;
/// The greatest value: an hour in µs. Greater ones are recorded as it and counted as `over`.
pub const HIGHEST: u64 = 3_600_000_000;
/// Two digits: a value is told within 1 %.
pub const SIGNIFICANT_DIGITS: u8 = 2;
/// Encoded histograms up to this many bytes are not deflated: it would make them longer.
const DEFLATE_FROM_BYTES: usize = 64;
/// No encoded histogram of these bounds is longer; more is refused before it is decoded.
const MAX_ENCODED_BYTES: usize = 64 * 1024;

/// The samples of a histogram: base64 of V2, or of V2 with deflate. Empty text: no samples.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Samples(pub String);

/// A text is no histogram of this protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable(String);

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a histogram of the live stream cannot be read: {}", self.0)
    }
}

impl std::error::Error for Unreadable {}

/// An empty histogram with the bounds of the protocol. It takes about 26 KB.
#[must_use]
pub fn empty() -> Histogram<u64> {
    Histogram::new_with_bounds(LOWEST, HIGHEST, SIGNIFICANT_DIGITS)
        .expect("the bounds of the protocol are bounds of a histogram")
}

impl Samples {
    /// The wire form of a histogram with the bounds of [`empty`].
    #[must_use]
    pub fn of<C: Counter>(histogram: &Histogram<C>) -> Self {
        if histogram.is_empty() {
            return Self::default();
        }
        let mut plain = Vec::new();
        V2Serializer::new().serialize(histogram, &mut plain).expect("memory takes what is written to it");
        if plain.len() <= DEFLATE_FROM_BYTES {
            return Self(STANDARD.encode(plain));
        }
        let mut deflated = Vec::new();
        V2DeflateSerializer::new()
            .serialize(histogram, &mut deflated)
            .expect("memory takes what is written to it");
        let shorter = if deflated.len() < plain.len() { deflated } else { plain };
        Self(STANDARD.encode(shorter))
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds these samples to a histogram that [`empty`] made.
    ///
    /// # Errors
    /// When the text is no histogram, or one of other bounds.
    pub fn add_to(&self, sum: &mut Histogram<u64>) -> Result<(), Unreadable> {
        if self.is_empty() {
            return Ok(());
        }
        if self.0.len() > MAX_ENCODED_BYTES {
            return Err(Unreadable(format!("it has {} characters", self.0.len())));
        }
        let bytes = STANDARD.decode(&self.0).map_err(|error| Unreadable(error.to_string()))?;
        let samples: Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|error| Unreadable(format!("{error:?}")))?;
        if samples.high() != HIGHEST || samples.sigfig() != SIGNIFICANT_DIGITS {
            return Err(Unreadable("its bounds are not those of this protocol".to_owned()));
        }
        sum.add(&samples).map_err(|error| Unreadable(error.to_string()))
    }

    /// These samples and those.
    ///
    /// # Errors
    /// When either is no histogram.
    pub fn plus(&self, other: &Samples) -> Result<Samples, Unreadable> {
        Samples::sum([self, other])
    }

    /// All of these samples.
    ///
    /// # Errors
    /// When one is no histogram.
    pub fn sum<'a>(all: impl IntoIterator<Item = &'a Samples>) -> Result<Samples, Unreadable> {
        let some: Vec<&Samples> = all.into_iter().filter(|samples| !samples.is_empty()).collect();
        match some.as_slice() {
            [] => Ok(Samples::default()),
            [only] => Ok((*only).clone()),
            [..] => {
                let mut sum = empty();
                some.iter().try_for_each(|samples| samples.add_to(&mut sum))?;
                Ok(Samples::of(&sum))
            }
        }
    }
}
