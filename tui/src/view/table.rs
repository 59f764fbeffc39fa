//! Tables that give up whole columns where there is no room, never a digit: numbers are whole or
//! absent. One column of text takes what is left. Knows nothing of what is in it.

use ratatui::layout::Rect;

use super::canvas::Canvas;
use super::{Hits, Row};
use crate::text::{left, right, width};
use crate::theme::Role;

/// The column of text is never narrower.
const LEAST_FLEX: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
    /// Left, and takes the room that is left.
    Flex,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    pub(super) title: &'static str,
    pub(super) side: Side,
    /// Those with the highest go first.
    pub(super) drop: u8,
}

pub(super) const fn column(title: &'static str, side: Side, drop: u8) -> Column {
    Column { title, side, drop }
}

/// Draws rows around the chosen one under their titles; an empty table says why it is.
pub(super) fn table(
    canvas: &mut Canvas<'_>,
    area: Rect,
    columns: &[Column],
    table: &[Row],
    chosen: Option<usize>,
    empty: &str,
) -> Hits {
    if area.height == 0 || area.width < 4 {
        return Hits::default();
    }
    if table.is_empty() {
        canvas.put(Rect { x: area.x + 1, width: area.width - 1, ..area }, empty, Role::Muted);
        return Hits::default();
    }
    let fit = usize::from(area.height - 1);
    let from = first(chosen, fit, table.len());
    let shown = &table[from..(from + fit).min(table.len())];
    let widths = widths(columns, shown, usize::from(area.width) - 1);
    let head: Vec<(Role, String)> = columns
        .iter()
        .zip(&widths)
        .filter_map(|(c, w)| Some((Role::Muted, format!(" {}", pad(c.side, c.title, (*w)?)))))
        .collect();
    canvas.line(area, &head);
    let mut hits = Hits { rows: Vec::new(), fit };
    for (line, (index, row)) in (1_u16..).zip((from..).zip(shown)) {
        let place = Rect { y: area.y + line, height: 1, ..area };
        let cells: Vec<(Role, String)> = columns
            .iter()
            .zip(&widths)
            .zip(&row.cells)
            .filter_map(|((c, w), (role, text))| Some((*role, format!(" {}", pad(c.side, text, (*w)?)))))
            .collect();
        canvas.line(place, &cells);
        if chosen == Some(index) {
            canvas.put(Rect { width: 1, ..place }, canvas.theme.pick("▌", ">"), Role::Accent);
            canvas.buffer.set_style(place, canvas.theme.chosen());
        }
        if !row.id.is_empty() {
            hits.rows.push((place, row.id.clone()));
        }
    }
    hits
}

/// The first row that is shown, so that the chosen one is.
pub(super) fn first(chosen: Option<usize>, fit: usize, count: usize) -> usize {
    let chosen = chosen.unwrap_or(0);
    let most = count.saturating_sub(fit);
    (chosen + 1 + fit / 3).saturating_sub(fit).min(most).min(chosen)
}

fn pad(side: Side, text: &str, columns: usize) -> String {
    match side {
        Side::Left | Side::Flex => left(text, columns),
        Side::Right => right(text, columns),
    }
}

/// The width of each column; none for those that are given up.
fn widths(columns: &[Column], rows: &[Row], room: usize) -> Vec<Option<usize>> {
    let natural = |index: usize, column: &Column| {
        let cells = rows
            .iter()
            .filter_map(|row| row.cells.get(index))
            .map(|(_, text)| width(&crate::text::visible(text)));
        cells.max().unwrap_or(0).max(width(column.title))
    };
    let mut widths: Vec<Option<usize>> =
        columns.iter().enumerate().map(|(index, column)| Some(natural(index, column))).collect();
    loop {
        let least = |(column, width): (&Column, &Option<usize>)| {
            let width = (*width)?;
            Some(1 + if column.side == Side::Flex { width.min(LEAST_FLEX) } else { width })
        };
        let fixed: usize = columns.iter().zip(&widths).filter_map(least).sum();
        if fixed <= room {
            return stretch(columns, widths, room - fixed);
        }
        let most =
            (0..columns.len()).filter(|at| widths[*at].is_some()).max_by_key(|at| (columns[*at].drop, *at));
        match most {
            Some(at) if columns[at].drop > 0 => widths[at] = None,
            // What cannot be given up is cut at the edge.
            _ => return stretch(columns, widths, 0),
        }
    }
}

fn stretch(columns: &[Column], widths: Vec<Option<usize>>, mut rest: usize) -> Vec<Option<usize>> {
    let mut stretched = widths;
    for (column, width) in columns.iter().zip(&mut stretched) {
        if let (Side::Flex, Some(width)) = (column.side, width) {
            let wanted = *width;
            let had = wanted.min(LEAST_FLEX);
            let more = (wanted - had).min(rest);
            *width = had + more;
            rest -= more;
        }
    }
    stretched
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_row_is_always_among_those_that_are_shown() {
        for count in 1..40 {
            for fit in 1..20 {
                for chosen in 0..count {
                    let from = first(Some(chosen), fit, count);
                    assert!(from <= chosen && chosen < from + fit, "{chosen} of {count} in {fit}");
                }
            }
        }
    }

    #[test]
    fn columns_go_by_their_order_and_numbers_stay_whole() {
        let columns =
            [column("NAME", Side::Flex, 0), column("N", Side::Right, 1), column("LATER", Side::Right, 2)];
        let cells = ["a-long-name-of-a-handler", "12345", "67890"].map(|text| (Role::Text, text.to_owned()));
        let rows = [Row { id: String::new(), cells: cells.to_vec() }];
        assert_eq!(widths(&columns, &rows, 60), [Some(24), Some(5), Some(5)]);
        assert_eq!(widths(&columns, &rows, 30), [Some(17), Some(5), Some(5)]);
        assert_eq!(widths(&columns, &rows, 25), [Some(18), Some(5), None]);
        assert_eq!(widths(&columns, &rows, 18), [Some(17), None, None]);
        assert_eq!(widths(&columns, &rows, 10), [Some(16), None, None]);
    }
}
