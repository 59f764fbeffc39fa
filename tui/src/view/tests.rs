use std::fmt::Write;

use super::*;
use crate::fixture::{full, refused, screens, show, silent, stale};
use crate::keys::Key;
use crate::theme::{Colours, Glyphs, Theme};
use crate::update::{Msg, update};

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 36), (200, 50)];

fn drawn(model: &Model, (width, height): (u16, u16)) -> (Buffer, Hits) {
    let mut buffer = Buffer::empty(Rect { x: 0, y: 0, width, height });
    let hits = draw(model, &mut buffer);
    (buffer, hits)
}

fn lines(buffer: &Buffer) -> Vec<String> {
    let area = buffer.area;
    let line = |y| (0..area.width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
    (0..area.height).map(line).collect()
}

fn picture(model: &Model, size: (u16, u16)) -> String {
    format!("{}x{}\n{}\n\n", size.0, size.1, lines(&drawn(model, size).0).join("\n"))
}

#[test]
fn every_screen_of_a_fleet_in_trouble_at_three_sizes() {
    for (name, screen) in screens() {
        let mut model = full();
        show(&mut model, screen);
        let pictures: String = SIZES.iter().map(|size| picture(&model, *size)).collect();
        insta::assert_snapshot!(format!("full_{name}"), pictures);
    }
}

#[test]
fn screens_without_anything_to_show_say_why() {
    let (mut empty, mut old) = (String::new(), String::new());
    for (name, screen) in screens() {
        let mut nobody = silent();
        nobody.places.push(crate::model::Place::new(screen.clone()));
        nobody.look();
        let _ = write!(empty, "{name} {}", picture(&nobody, SIZES[0]));
        let mut gone = stale();
        show(&mut gone, screen);
        let _ = write!(old, "{name} {}", picture(&gone, SIZES[0]));
    }
    insta::assert_snapshot!("empty", empty);
    insta::assert_snapshot!("stale", old);
    insta::assert_snapshot!("refused", picture(&refused(), SIZES[0]));
    let mut failed = full();
    failed.places.push(crate::model::Place::new(Screen::Operations));
    let reason = "cannot list operations: the host is away".to_owned();
    failed.place_mut().page = crate::model::Page::Failed(failed.now, reason, None);
    insta::assert_snapshot!("failed", picture(&failed, SIZES[0]));
}

#[test]
fn dialogs_palette_and_prompts_stand_before_the_screen() {
    let mut pictures = String::new();
    for keys in ["p", ":pause", "/pay", "#p-1", "f"] {
        let mut model = full();
        let now = model.now;
        for key in keys.chars() {
            let _ = update(&mut model, now, Msg::Key(Key::Char(key)));
        }
        let _ = write!(pictures, "{keys} {}", picture(&model, SIZES[0]));
    }
    let mut model = full();
    show(&mut model, Screen::Groups(None));
    let now = model.now;
    let _ = update(&mut model, now, Msg::Key(Key::Char('x')));
    let _ = write!(pictures, "x {}", picture(&model, SIZES[0]));
    insta::assert_snapshot!("overlays", pictures);
}

/// Whether a line holds a number that was cut.
fn has_cut_number(line: &str) -> bool {
    let chars: Vec<char> = line.chars().collect();
    chars.windows(2).any(|pair| pair[0].is_ascii_digit() && pair[1] == '…')
}

#[test]
fn at_every_size_the_frame_is_whole_and_no_number_of_the_overview_is_cut() {
    for (name, screen) in screens() {
        let mut model = full();
        show(&mut model, screen);
        for width in (20..220).step_by(7) {
            for height in [5, 10, 15, 16, 20, 24, 30, 37, 50, 60] {
                let (buffer, hits) = drawn(&model, (width, height));
                let lines = lines(&buffer);
                if width < LEAST.0 || height < LEAST.1 {
                    assert!(lines[1].starts_with('✗'), "{name} {width}x{height}: {lines:#?}");
                    continue;
                }
                assert!(lines[2].starts_with('✗'), "{name} {width}x{height}: {lines:#?}");
                let last = lines.last().expect("lines");
                assert!(last.ends_with("q quit"), "{name} {width}x{height}: {last}");
                if model.chosen().is_some() {
                    let chosen = model.chosen().expect("a row");
                    assert!(hits.rows.iter().any(|(_, id)| *id == chosen), "{name} {width}x{height}");
                }
                if matches!(model.screen(), Screen::Overview | Screen::Hosts) {
                    let cut: Vec<&String> = lines[3..].iter().filter(|line| has_cut_number(line)).collect();
                    assert!(cut.is_empty(), "{name} {width}x{height}: {cut:#?}");
                }
            }
        }
    }
}

#[test]
fn a_terminal_without_utf8_gets_ascii_alone() {
    for (name, screen) in screens() {
        let mut model = full();
        model.theme = Theme { glyphs: Glyphs::Ascii, colours: Colours::Sixteen };
        show(&mut model, screen);
        for size in SIZES {
            let text = lines(&drawn(&model, size).0).join("\n");
            assert!(text.is_ascii(), "{name}: {:?}", text.lines().find(|line| !line.is_ascii()));
        }
    }
}

#[test]
fn without_colours_no_cell_has_one_and_the_chosen_row_still_differs() {
    use ratatui::style::{Color, Modifier};
    let mut model = full();
    model.theme = Theme { glyphs: Glyphs::Unicode, colours: Colours::None };
    model.look();
    let (buffer, hits) = drawn(&model, SIZES[0]);
    assert!(buffer.content.iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset));
    let (row, _) = &hits.rows[0];
    assert!(buffer[(row.x + 1, row.y)].modifier.contains(Modifier::REVERSED));
    let marks: String = lines(&buffer).concat();
    assert!(["✗", "▲", "●"].iter().all(|mark| marks.contains(mark)), "{marks}");
}

#[test]
fn no_background_is_painted_in_any_tier() {
    use ratatui::style::Color;
    for colours in [Colours::Sixteen, Colours::Indexed, Colours::True] {
        for (name, screen) in screens() {
            let mut model = full();
            model.theme = Theme { glyphs: Glyphs::Unicode, colours };
            show(&mut model, screen);
            let (buffer, _) = drawn(&model, SIZES[1]);
            assert!(buffer.content.iter().all(|cell| cell.bg == Color::Reset), "{name}");
        }
    }
}

#[test]
fn a_row_is_found_where_it_was_drawn() {
    let model = full();
    let (buffer, hits) = drawn(&model, SIZES[0]);
    for (area, id) in &hits.rows {
        assert!(lines(&buffer)[usize::from(area.y)].contains(id.as_str()));
        assert_eq!(hits.at(area.x + 3, area.y), Some(id.as_str()));
    }
    assert_eq!(hits.at(0, 0), None);
}

#[test]
fn the_readme_shows_the_overview_as_it_is() {
    let mut model = full();
    show(&mut model, Screen::Overview);
    let screen = lines(&drawn(&model, SIZES[0]).0).join("\n");
    let readme = include_str!("../../../README.md");
    assert!(readme.contains(&screen), "README.md should show this:\n{screen}");
}
