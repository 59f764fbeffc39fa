//! The plot for the README: one bar a contender, from zero, with the range of its rounds. Pure: it makes text, and
//! its colours can be read on a light and on a dark page.

use std::fmt::Write as _;

use crate::catalog::Unit;
use crate::record::Record;

/// The bars, top to bottom: the record's key, the name, the colour's class. No key is a heading.
const BARS: &[(&str, &str, &str)] = &[
    ("", "one UPDATE by primary key, events/s", ""),
    ("blind.hand_one.events_per_s", "by hand, one by one", "hand"),
    ("blind.hand_batch.events_per_s", "by hand, batches of 50", "hand"),
    ("blind.hand_batch_set.events_per_s", "the same, one dedup statement", "hand"),
    ("single.wonce.events_per_s", "wonce, one by one", "wonce"),
    ("blind.wonce.events_per_s", "wonce", "wonce"),
    ("ceiling.batch_pipelined.events_per_s", "pgbench, pipelined batches of 50", "ceiling"),
    ("", "UPDATE … RETURNING that decides, and an effect, events/s", ""),
    ("payment.hand_one.events_per_s", "by hand, one by one", "hand"),
    ("payment.hand_batch.events_per_s", "by hand, batches of 50", "hand"),
    ("payment.hand_batch_set.events_per_s", "the same, one dedup statement", "hand"),
    ("payment.wonce.events_per_s", "wonce", "wonce"),
];
const WIDTH: f64 = 760.0;
/// Where bars begin, and how long the longest may be; the rest is for its number.
const LEFT: f64 = 230.0;
const LONGEST: f64 = 440.0;
const ROW: f64 = 26.0;
const BAR: f64 = 16.0;
const STYLE: &str = "text{font:13px system-ui,sans-serif;fill:#444}.head{font-weight:600;fill:#222}\
    .hand{fill:#9aa5b1}.wonce{fill:#2f7d6b}.ceiling{fill:#c8b68a}.range{stroke:#222;stroke-width:1.2}\
    @media(prefers-color-scheme:dark){text{fill:#bbb}.head{fill:#eee}.hand{fill:#6b7785}.wonce{fill:#4db39a}\
    .ceiling{fill:#8f8058}.range{stroke:#eee}}";

/// The picture of what the record holds; none when it holds nothing to draw.
pub(crate) fn svg(record: &Record) -> Option<String> {
    let top = BARS
        .iter()
        .filter_map(|(key, _, _)| record.summary(key))
        .map(|summary| summary.max)
        .reduce(f64::max)?;
    let scale = LONGEST / top;
    let mut rows = String::new();
    let mut y = 8.0;
    for (index, (key, name, class)) in BARS.iter().enumerate() {
        if key.is_empty() {
            // A heading without bars says nothing.
            let below = BARS[index + 1..].iter().take_while(|(key, _, _)| !key.is_empty());
            if below.filter(|(key, _, _)| record.summary(key).is_some()).count() > 0 {
                let _ = writeln!(rows, "<text class=\"head\" x=\"8\" y=\"{}\">{name}</text>", y + 18.0);
                y += ROW + 4.0;
            }
            continue;
        }
        let Some(summary) = record.summary(key) else { continue };
        let (length, middle) = (summary.median * scale, y + BAR / 2.0);
        let (low, high) = (LEFT + summary.min * scale, LEFT + summary.max * scale);
        let _ =
            writeln!(rows, "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{name}</text>", LEFT - 8.0, y + 13.0);
        let _ = writeln!(
            rows,
            "<rect class=\"{class}\" x=\"{LEFT}\" y=\"{y}\" width=\"{length:.1}\" height=\"{BAR}\" rx=\"2\"/>"
        );
        let _ = writeln!(
            rows,
            "<line class=\"range\" x1=\"{low:.1}\" y1=\"{middle}\" x2=\"{high:.1}\" y2=\"{middle}\"/>"
        );
        let number = Unit::PerSecond.show(summary.median);
        let _ = writeln!(
            rows,
            "<text x=\"{:.1}\" y=\"{}\">{number}</text>",
            high.max(LEFT + length) + 8.0,
            y + 13.0
        );
        y += ROW;
    }
    let height = y + 8.0;
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         role=\"img\" aria-label=\"events per second of hand-written consumers, wonce and pgbench\">\n\
         <style>{STYLE}</style>\n{rows}</svg>\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_begin_at_zero_and_are_as_long_as_their_values() {
        let mut record = Record::default();
        record.put("blind.hand_batch.events_per_s", 10_000.0);
        record.put("blind.wonce.events_per_s", 40_000.0);
        let svg = svg(&record).unwrap();
        assert!(svg.contains("class=\"hand\" x=\"230\" y=\"38\" width=\"110.0\""), "{svg}");
        assert!(svg.contains("class=\"wonce\" x=\"230\" y=\"64\" width=\"440.0\""), "{svg}");
        assert!(svg.contains(">40,000</text>"), "{svg}");
        assert!(!svg.contains("RETURNING"), "a heading without bars is left out: {svg}");
    }

    #[test]
    fn nothing_is_no_picture() {
        assert_eq!(svg(&Record::default()), None);
    }
}
