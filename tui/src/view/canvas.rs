//! Painting: texts in roles, panels, sparklines. Everything is cut at the edge of its place. Knows
//! nothing of what is painted.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::text::{cut, width};
use crate::theme::{Role, Theme};

/// Pieces of one line.
pub(super) type Line = Vec<(Role, String)>;

/// A buffer with the looks of the terminal.
#[derive(Debug)]
pub(super) struct Canvas<'a> {
    pub(super) buffer: &'a mut Buffer,
    pub(super) theme: Theme,
}

/// A piece in a role.
pub(super) fn piece(role: Role, text: impl Into<String>) -> (Role, String) {
    (role, text.into())
}

/// The place `top` rows below the upper edge, `height` rows high; as much of it as there is.
pub(super) fn rows(area: Rect, top: u16, height: u16) -> Rect {
    let top = top.min(area.height);
    Rect { y: area.y + top, height: height.min(area.height - top), ..area }
}

/// A place in equal parts beside each other.
pub(super) fn columns(area: Rect, parts: u16) -> Vec<Rect> {
    let parts = parts.max(1);
    let edge =
        |n: u16| area.x + u16::try_from(u32::from(area.width) * u32::from(n) / u32::from(parts)).unwrap_or(0);
    (0..parts).map(|n| Rect { x: edge(n), width: edge(n + 1) - edge(n), ..area }).collect()
}

impl Canvas<'_> {
    /// A text on the first row of a place; gives the columns it took.
    pub(super) fn put(&mut self, area: Rect, text: &str, role: Role) -> u16 {
        if area.is_empty() {
            return 0;
        }
        let shown = cut(&self.theme.drawn(text), usize::from(area.width));
        let shown = self.theme.drawn(&shown);
        let style = self.theme.style(role);
        self.buffer.set_stringn(area.x, area.y, &shown, usize::from(area.width), style);
        u16::try_from(width(&shown)).unwrap_or(area.width).min(area.width)
    }

    /// Pieces after one another on the first row of a place.
    pub(super) fn line(&mut self, area: Rect, pieces: &[(Role, String)]) -> u16 {
        let mut taken = 0;
        for (role, text) in pieces {
            let rest = Rect { x: area.x + taken, width: area.width - taken, ..area };
            taken += self.put(rest, text, *role);
        }
        taken
    }

    /// As many of the texts as there is room for, each whole: no number is ever cut.
    pub(super) fn whole(&mut self, area: Rect, texts: &[String], role: Role) {
        let (mut shown, room) = (String::new(), usize::from(area.width));
        for text in texts {
            let gap = if shown.is_empty() { "" } else { "  " };
            if width(&shown) + width(gap) + width(text) > room {
                break;
            }
            shown.push_str(gap);
            shown.push_str(text);
        }
        self.put(area, &shown, role);
    }

    /// A text at the right end of the first row.
    pub(super) fn put_right(&mut self, area: Rect, text: &str, role: Role) {
        let columns = u16::try_from(width(&self.theme.drawn(text))).unwrap_or(u16::MAX).min(area.width);
        let place = Rect { x: area.x + area.width - columns, width: columns, ..area };
        self.put(place, text, role);
    }

    /// A frame with a title; gives what is inside.
    pub(super) fn panel(&mut self, area: Rect, title: &str, role: Role) -> Rect {
        if area.width < 4 || area.height < 2 {
            return Rect { width: 0, height: 0, ..area };
        }
        let theme = self.theme;
        let [across, down] = [theme.pick("─", "-"), theme.pick("│", "|")];
        let corners = ["┌", "┐", "└", "┘"].map(|corner| theme.pick(corner, "+"));
        let style = theme.style(role);
        let (left, right) = (area.x, area.x + area.width - 1);
        let (top, bottom) = (area.y, area.y + area.height - 1);
        let edge = across.repeat(usize::from(area.width) - 2);
        for (y, [from, to]) in [(top, [corners[0], corners[1]]), (bottom, [corners[2], corners[3]])] {
            self.buffer.set_string(left, y, from, style);
            self.buffer.set_string(left + 1, y, &edge, style);
            self.buffer.set_string(right, y, to, style);
        }
        for y in top + 1..bottom {
            self.buffer.set_string(left, y, down, style);
            self.buffer.set_string(right, y, down, style);
        }
        if !title.is_empty() {
            let place = Rect { x: left + 1, y: top, width: area.width - 2, height: 1 };
            self.put(place, &format!(" {title} "), Role::Strong);
        }
        Rect { x: left + 1, y: top + 1, width: area.width - 2, height: area.height - 2 }
    }

    /// Nothing.
    pub(super) fn clear(&mut self, area: Rect) {
        let area = area.intersection(self.buffer.area);
        for y in area.y..area.bottom() {
            for x in area.x..area.right() {
                self.buffer[(x, y)].reset();
            }
        }
    }

    /// Points over time on the first row, the latest at the right; a gap where nothing was heard.
    pub(super) fn spark(&mut self, area: Rect, points: &[Option<f64>], role: Role) {
        let text = spark(self.theme, points, usize::from(area.width));
        self.put(area, &text, role);
    }
}

/// Points as bars of one row. Two points share a bar when there are more than columns.
pub(super) fn spark(theme: Theme, points: &[Option<f64>], columns: usize) -> String {
    let most = points.iter().flatten().copied().fold(0.0, f64::max);
    let columns = columns.min(points.len());
    let bar = |column: usize| {
        let (from, to) = (column * points.len() / columns, (column + 1) * points.len() / columns);
        match points[from..to].iter().flatten().copied().reduce(f64::max) {
            None => theme.gap(),
            Some(point) => theme.bar(level(point, most)),
        }
    };
    (0..columns).map(bar).collect()
}

/// Of eight; whatever is there is seen.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 8")]
fn level(point: f64, most: f64) -> usize {
    if point <= 0.0 || most <= 0.0 {
        return 0;
    }
    ((point / most * 8.0).round().clamp(1.0, 8.0)) as usize
}
