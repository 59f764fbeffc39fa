//! One histogram of `/metrics`, and the percentiles of what it counted between two looks.

/// Cumulative counts by upper edge, in seconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Histogram(Vec<(f64, u64)>);

impl Histogram {
    /// That of one metric, added over its labels.
    pub(crate) fn read(text: &str, metric: &str) -> Self {
        let prefix = format!("{metric}_bucket{{");
        let mut edges: Vec<(f64, u64)> = Vec::new();
        for line in text.lines().filter(|line| line.starts_with(&prefix)) {
            let Some((labels, count)) = line.rsplit_once(' ') else { continue };
            let edge = labels.split("le=\"").nth(1).and_then(|rest| rest.split('"').next());
            let edge: f64 = edge.and_then(|edge| edge.parse().ok()).expect("a bucket has an edge");
            let count: u64 = count.parse().expect("a bucket has a count");
            match edges.iter_mut().find(|(known, _)| *known == edge) {
                Some((_, sum)) => *sum += count,
                None => edges.push((edge, count)),
            }
        }
        edges.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self(edges)
    }

    /// What was counted after `earlier`.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        let before = |edge: f64| earlier.0.iter().find(|(known, _)| *known == edge).map_or(0, |(_, n)| *n);
        Self(self.0.iter().map(|(edge, count)| (*edge, count - before(*edge))).collect())
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.last().map_or(0, |(_, count)| *count)
    }

    /// In seconds, within its bucket in proportion; nothing when nothing was counted.
    pub(crate) fn percentile(&self, part: f64) -> Option<f64> {
        let rank = self.count() as f64 * part;
        let (mut low, mut below) = (0.0, 0);
        for (edge, count) in &self.0 {
            if *count > 0 && *count as f64 >= rank {
                // Nothing is known beyond the last edge.
                let width = if edge.is_finite() { edge - low } else { 0.0 };
                return Some(low + width * (rank - below as f64) / (count - below).max(1) as f64);
            }
            (low, below) = (*edge, *count);
        }
        None
    }
}

#[test]
fn a_percentile_lies_within_its_bucket_and_counts_only_what_came_since() {
    let text = |fast, slow, all| {
        format!(
            "x_bucket{{le=\"0.001\"}} {fast}\nx_bucket{{le=\"0.01\"}} {slow}\nx_bucket{{le=\"+Inf\"}} {all}\nx_sum 1\n"
        )
    };
    let before = Histogram::read(&text(0, 50, 50), "x");
    let after = Histogram::read(&text(90, 150, 150), "x");
    let between = after.since(&before);
    assert_eq!(between.count(), 100);
    assert_eq!(between.percentile(0.9), Some(0.001));
    assert!(between.percentile(0.95).is_some_and(|p95| (0.005..0.006).contains(&p95)));
    assert_eq!(before.since(&before).percentile(0.5), None);
}
