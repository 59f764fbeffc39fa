//! The figures of all rounds by their keys. It never knows how they were measured or what is done with them.

use std::collections::BTreeMap;

use crate::stats::Summary;

/// Values by key, a round after the other.
#[derive(Debug, Default)]
pub(crate) struct Record {
    values: BTreeMap<String, Vec<f64>>,
    /// What was put since somebody asked.
    news: Vec<(String, f64)>,
}

impl Record {
    pub(crate) fn put(&mut self, key: impl Into<String>, value: f64) {
        let key = key.into();
        self.news.push((key.clone(), value));
        self.values.entry(key).or_default().push(value);
    }

    /// The ratio of two values of one round.
    pub(crate) fn ratio(&mut self, key: &str, value: f64, to: f64) {
        self.put(key, value / to);
    }

    /// What was put since the last time this was asked.
    pub(crate) fn news(&mut self) -> Vec<(String, f64)> {
        std::mem::take(&mut self.news)
    }

    pub(crate) fn summary(&self, key: &str) -> Option<Summary> {
        Summary::of(self.rounds(key))
    }

    pub(crate) fn rounds(&self, key: &str) -> &[f64] {
        self.values.get(key).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_taken_within_its_round() {
        let mut record = Record::default();
        // The machine is half as fast in the second round; the ratio does not see it.
        record.ratio("a.vs_b", 200.0, 100.0);
        record.ratio("a.vs_b", 100.0, 50.0);
        assert_eq!(record.rounds("a.vs_b"), [2.0, 2.0]);
        assert_eq!(record.summary("a.vs_b").map(|summary| summary.median), Some(2.0));
        assert_eq!(record.summary("nothing"), None);
        assert_eq!((record.news().len(), record.news().len()), (2, 0));
    }
}
