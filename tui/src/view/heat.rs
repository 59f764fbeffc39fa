//! The heat map of a stage: time from left to right, duration upwards on a logarithmic scale, the
//! number of runs as shades, percentiles of each column as marks. The margin is read from the sum of
//! all columns, never from their percentiles. Knows nothing of handlers.

use ratatui::layout::Rect;
use wonce_api::live::Stage;

use super::canvas::{Canvas, rows};
use crate::live::distribution::{FEW_SAMPLES, SOME_SAMPLES};
use crate::live::{HeatColumn, Quantiles, StageRow, Window};
use crate::text::{left, micros, number, right};
use crate::theme::Role;

/// The bands reach from here to there, so that shapes of two handlers can be compared; what is
/// outside goes into the edges.
const LOWEST_US: f64 = 10.0;
const HIGHEST_US: f64 = 10_000_000.0;
/// `  2.7s `.
const SCALE: u16 = 8;
/// ` p99.9  2.21s`.
const MARGIN: u16 = 16;

pub(super) fn draw(canvas: &mut Canvas<'_>, area: Rect, row: &StageRow, window: Window) {
    if area.height < 3 || area.width < SCALE + MARGIN + 4 {
        return;
    }
    let bands = usize::from(area.height - 1);
    let room = area.width - SCALE - MARGIN;
    let shown = merged(&row.columns, usize::from(room));
    let most = (0..bands)
        .flat_map(|band| shown.iter().flatten().map(move |column| count(column, row.stage, band, bands)));
    let most = most.max().unwrap_or(0);
    for band in 0..bands {
        let place = rows(area, u16::try_from(bands - 1 - band).unwrap_or(0), 1);
        let (low, _) = bounds(row.stage, band, bands);
        canvas.put(
            place,
            &format!(
                "{}{}",
                right(&unit(row.stage, low), usize::from(SCALE) - 1),
                canvas.theme.pick("┤", "|")
            ),
            Role::Muted,
        );
        for (x, column) in (place.x + SCALE..).zip(&shown) {
            let (text, role) = cell(canvas, column.as_ref(), row.stage, band, bands, most);
            canvas.put(Rect { x, width: 1, ..place }, text, role);
        }
    }
    let drawn = u16::try_from(shown.len()).unwrap_or(room);
    foot(canvas, Rect { x: area.x + SCALE, width: drawn, ..rows(area, area.height - 1, 1) }, window);
    margin(canvas, Rect { x: area.x + SCALE + drawn, width: area.width - SCALE - drawn, ..area }, row);
}

/// Fewer columns when there is no room for all of them; samples are added before anything is read.
fn merged(columns: &[Option<HeatColumn>], room: usize) -> Vec<Option<HeatColumn>> {
    let per_cell = columns.len().div_ceil(room.max(1)).max(1);
    // The last column is always whole: the odd ones are at the old end.
    let odd = columns.len() % per_cell;
    let (first, rest) = columns.split_at(odd);
    let sum = |part: &[Option<HeatColumn>]| {
        let heard: Vec<&HeatColumn> = part.iter().flatten().collect();
        if heard.is_empty() {
            return None;
        }
        if let [one] = heard.as_slice() {
            return Some((*one).clone());
        }
        let samples = crate::live::Distribution::sum(heard.iter().map(|column| &column.samples));
        let quantiles = samples.quantiles();
        Some(HeatColumn { samples, quantiles })
    };
    let head = (!first.is_empty()).then(|| sum(first));
    head.into_iter().chain(rest.chunks(per_cell).map(sum)).collect()
}

fn cell(
    canvas: &Canvas<'_>,
    column: Option<&HeatColumn>,
    stage: Stage,
    band: usize,
    bands: usize,
    most: u64,
) -> (&'static str, Role) {
    let Some(column) = column else { return (canvas.theme.gap(), Role::Muted) };
    let Quantiles { samples, p50, p95, p99, .. } = column.quantiles;
    if samples >= FEW_SAMPLES {
        let here = |value: u64| place(stage, value, bands) == band;
        match () {
            () if here(p99) => return ("X", Role::Bad),
            () if here(p95) => return ("9", Role::Warning),
            () if here(p50) => return ("5", Role::Good),
            () => {}
        }
    }
    (canvas.theme.shade(shade(count(column, stage, band, bands), most)), Role::Accent)
}

fn count(column: &HeatColumn, stage: Stage, band: usize, bands: usize) -> u64 {
    let (low, high) = bounds(stage, band, bands);
    let low = if band == 0 { 0 } else { low };
    let high = if band + 1 == bands { u64::MAX } else { high };
    column.samples.between(low, high)
}

/// Batches are counted in deliveries: from 1 to 1,000.
fn ends(stage: Stage) -> (f64, f64) {
    match stage {
        Stage::Batch => (1.0, 1_000.0),
        _ => (LOWEST_US, HIGHEST_US),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "bands of a picture"
)]
fn bounds(stage: Stage, band: usize, bands: usize) -> (u64, u64) {
    let (lowest, highest) = ends(stage);
    let at = |edge: usize| lowest * (highest / lowest).powf(edge as f64 / bands as f64);
    (at(band) as u64, at(band + 1) as u64)
}

/// The band that a value lies in.
fn place(stage: Stage, value: u64, bands: usize) -> usize {
    (0..bands).find(|band| value < bounds(stage, *band, bands).1).unwrap_or(bands - 1)
}

/// On a logarithmic scale of four; whatever is there is seen.
fn shade(count: u64, most: u64) -> usize {
    if count == 0 {
        return 0;
    }
    let steps = |n: u64| usize::try_from(n.max(1).ilog2()).unwrap_or(0) + 1;
    (steps(count) * 4).div_ceil(steps(most)).clamp(1, 4)
}

fn unit(stage: Stage, value: u64) -> String {
    if stage == Stage::Batch { value.to_string() } else { micros(value) }
}

fn foot(canvas: &mut Canvas<'_>, area: Rect, window: Window) {
    canvas.put(area, &format!("-{}", window.label()), Role::Muted);
    let marks = "5=p50 9=p95 X=p99";
    if usize::from(area.width) > marks.len() + 14 {
        let middle = Rect { x: area.x + area.width / 2 - 9, width: 18, ..area };
        canvas.put(middle, marks, Role::Muted);
    }
    canvas.put_right(area, "now", Role::Muted);
}

fn margin(canvas: &mut Canvas<'_>, area: Rect, row: &StageRow) {
    let q = &row.quantiles;
    let tail = |value: u64| match q.samples {
        ..FEW_SAMPLES => "-".to_owned(),
        FEW_SAMPLES..SOME_SAMPLES => format!("~{}", unit(row.stage, value)),
        SOME_SAMPLES.. => unit(row.stage, value),
    };
    let lines = [
        ("p50", if q.is_empty() { "-".to_owned() } else { unit(row.stage, q.p50) }),
        ("p90", tail(q.p90)),
        ("p95", tail(q.p95)),
        ("p99", tail(q.p99)),
        ("p99.9", tail(q.p999)),
        ("max", if q.is_empty() { "-".to_owned() } else { unit(row.stage, q.max) }),
        ("n", number(q.samples)),
    ];
    for (top, (name, value)) in (0..area.height).zip(lines) {
        canvas.put(rows(area, top, 1), &format!("  {}{}", left(name, 6), right(&value, 8)), Role::Text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::Distribution;

    #[test]
    fn every_sample_lies_in_one_band_whatever_their_number() {
        let values = [0, 1, 99, 100, 5_000, 1_000_000, 9_999_999, 3_600_000_000];
        let samples = Distribution::of(values);
        let column = HeatColumn { quantiles: samples.quantiles(), samples };
        for bands in 1..40 {
            let all: u64 = (0..bands).map(|band| count(&column, Stage::Guest, band, bands)).sum();
            assert_eq!(all, values.len() as u64, "{bands} bands");
        }
    }

    #[test]
    fn columns_that_share_a_cell_are_added_before_they_are_read() {
        let column = |values: &[u64]| {
            let samples = Distribution::of(values.iter().copied());
            Some(HeatColumn { quantiles: samples.quantiles(), samples })
        };
        let columns = [column(&[100; 99]), column(&[1_000_000]), None, None, column(&[5])];
        let merged = merged(&columns, 3);
        assert_eq!(merged.len(), 3);
        let counts: Vec<u64> = merged.iter().map(|c| c.as_ref().map_or(0, |c| c.samples.samples())).collect();
        assert_eq!(counts, [99, 1, 1]);
        let whole = super::merged(&columns[..2], 1);
        let whole = whole[0].as_ref().expect("heard");
        assert!(whole.quantiles.p99 < 110 && whole.quantiles.max > 900_000, "{:?}", whole.quantiles);
    }
}
