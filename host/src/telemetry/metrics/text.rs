//! A page of metrics in Prometheus' text format. Knows nothing of where the numbers come from.

use std::fmt::Write;

use super::names::{Kind, Metric};
use super::page::{Distribution, Page, Point, Value};

/// The page as text.
pub(super) fn render(page: &Page) -> String {
    let mut text = Text(String::new());
    for family in page.families() {
        text.begin(family.metric);
        for point in &family.points {
            text.point(family.metric, point);
        }
    }
    text.0
}

struct Text(String);

impl Text {
    fn begin(&mut self, metric: &Metric) {
        let kind = match metric.kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        self.line(format_args!("# HELP {} {}", metric.name, metric.help));
        self.line(format_args!("# TYPE {} {kind}", metric.name));
    }

    fn point(&mut self, metric: &Metric, point: &Point) {
        let pairs: Vec<(&str, &str)> =
            metric.labels.iter().copied().zip(point.labels.iter().map(String::as_str)).collect();
        let (name, labelled) = (metric.name, labels(&pairs));
        match &point.value {
            Value::Whole(number) => self.line(format_args!("{name}{labelled} {number}")),
            Value::Real(number) => self.line(format_args!("{name}{labelled} {number}")),
            Value::Distribution(distribution) => self.histogram(name, &pairs, distribution),
        }
    }

    fn histogram(&mut self, name: &str, pairs: &[(&str, &str)], distribution: &Distribution) {
        let up_to = |bound: &str| labels(&[pairs, &[("le", bound)]].concat());
        let mut below = 0;
        for (n, bound) in distribution.buckets.iter().zip(&distribution.bounds) {
            below += n;
            self.line(format_args!("{name}_bucket{} {below}", up_to(&bound.to_string())));
        }
        self.line(format_args!("{name}_bucket{} {}", up_to("+Inf"), distribution.count));
        let labels = labels(pairs);
        self.line(format_args!("{name}_sum{labels} {}", distribution.sum));
        self.line(format_args!("{name}_count{labels} {}", distribution.count));
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        self.0.write_fmt(line).expect("a text takes what is written to it");
        self.0.push('\n');
    }
}

/// `{name="value",…}`, or nothing. Values are names of ours, but sinks and handlers of other hosts
/// come from the database: what would break a line is escaped.
fn labels(pairs: &[(&str, &str)]) -> String {
    let pairs: Vec<String> = pairs
        .iter()
        .map(|(name, value)| {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            format!("{name}=\"{value}\"")
        })
        .collect();
    if pairs.is_empty() { String::new() } else { format!("{{{}}}", pairs.join(",")) }
}

#[cfg(test)]
mod tests;
