//! Aligned columns. Knows nothing of what is in them.

use super::{Paint, Tone};

/// On which side a column's cells end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
}

/// One cell: its text must be safe for a terminal already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    text: String,
    tone: Tone,
}

/// A table under construction.
#[derive(Debug, Clone)]
pub struct Table {
    columns: Vec<(&'static str, Side)>,
    rows: Vec<Vec<Cell>>,
}

/// A cell as it is.
pub fn cell(text: impl Into<String>) -> Cell {
    Cell { text: text.into(), tone: Tone::Usual }
}

/// A cell that wants to be noticed.
pub fn toned(tone: Tone, text: impl Into<String>) -> Cell {
    Cell { text: text.into(), tone }
}

/// A count, noticed when it is not zero.
#[must_use]
pub fn alarming(tone: Tone, count: i64) -> Cell {
    Cell { text: count.to_string(), tone: if count == 0 { Tone::Usual } else { tone } }
}

impl Table {
    #[must_use]
    pub fn new(columns: &[(&'static str, Side)]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    pub fn row(&mut self, cells: Vec<Cell>) {
        debug_assert_eq!(cells.len(), self.columns.len(), "cells of a row");
        self.rows.push(cells);
    }

    /// Header and rows, two spaces between columns and none at the end of a line.
    #[must_use]
    pub fn render(&self, paint: Paint) -> String {
        let widths: Vec<usize> = (0..self.columns.len()).map(|column| self.width(column)).collect();
        let header: Vec<Cell> = self.columns.iter().map(|(title, _)| toned(Tone::Heading, *title)).collect();
        std::iter::once(&header).chain(&self.rows).map(|row| self.line(row, &widths, paint)).collect()
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column)).map(|cell| length(&cell.text));
        cells.chain([length(self.columns[column].0)]).max().unwrap_or(0)
    }

    fn line(&self, row: &[Cell], widths: &[usize], paint: Paint) -> String {
        let mut line = String::new();
        for (index, ((cell, width), (_, side))) in row.iter().zip(widths).zip(&self.columns).enumerate() {
            let gap = " ".repeat(width - length(&cell.text));
            let painted = paint.tone(cell.tone, &cell.text);
            let is_last = index + 1 == row.len();
            match side {
                Side::Left if is_last => line.push_str(&painted),
                Side::Left => line.extend([painted.as_str(), &gap]),
                Side::Right => line.extend([gap.as_str(), &painted]),
            }
            line.push_str(if is_last { "\n" } else { "  " });
        }
        line
    }
}

fn length(text: &str) -> usize {
    text.chars().count()
}
