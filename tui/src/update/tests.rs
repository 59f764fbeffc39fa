use std::time::Duration;

use super::*;
use crate::fixture::{full, screens, show, silent, stale};
use crate::keys::TABLE;
use crate::live::Link;
use crate::model::Page;
use wonce_core::operation::OperationState;

use crate::model::{Dialog, Focus, Sort, Tone};

mod dead;
mod effects;
mod logs;

fn press(model: &mut Model, keys: &[Key]) -> Vec<Cmd> {
    let now = model.now;
    keys.iter().flat_map(|key| update(model, now, Msg::Key(*key))).collect()
}

fn text(model: &mut Model, text: &str) -> Vec<Cmd> {
    text.chars().flat_map(|c| press(model, &[Key::Char(c)])).collect()
}

fn dialog(model: &Model) -> &Dialog {
    match &model.entry {
        Entry::Confirm(dialog) => dialog,
        other => panic!("no dialog: {other:?}"),
    }
}

fn acts(cmds: &[Cmd]) -> usize {
    cmds.iter().filter(|cmd| matches!(cmd, Cmd::Act { .. })).count()
}

/// A small generator: the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % n
    }
}

#[test]
fn nothing_is_changed_by_keys_that_never_reach_do_it() {
    let steps = [Key::Tab, Key::BackTab, Key::Up, Key::Down, Key::Right];
    let leave = [Key::Ctrl('c')];
    let keys: Vec<Key> = TABLE
        .iter()
        .flat_map(|binding| binding.keys)
        .chain(&[Key::Enter, Key::Char('7'), Key::Backspace])
        .filter(|key| !steps.contains(key) && !leave.contains(key))
        .copied()
        .collect();
    let (mut model, mut dice) = (full(), Dice(7));
    for round in 0..5_000 {
        if round % 100 == 0 {
            let all = screens();
            let (_, screen) = all[dice.below(all.len())].clone();
            show(&mut model, screen);
        }
        let key = keys[dice.below(keys.len())];
        // A reason is the one field whose Enter moves on; Do it is two steps away.
        if matches!(&model.entry, Entry::Confirm(dialog) if dialog.focus != Focus::Cancel)
            && key == Key::Enter
        {
            continue;
        }
        assert_eq!(acts(&press(&mut model, &[key])), 0, "{key} on {:?}", model.screen());
    }
}

#[test]
fn esc_leads_to_the_overview_from_everywhere() {
    for (name, screen) in screens() {
        let mut model = full();
        show(&mut model, screen);
        for opening in [Key::Char('/'), Key::Char(':'), Key::Char('#'), Key::Char('p'), Key::Char('x')] {
            press(&mut model, &[opening]);
            press(&mut model, &[Key::Esc; 4]);
        }
        assert_eq!((model.screen(), &model.entry), (&Screen::Overview, &Entry::Keys), "{name}");
    }
}

#[test]
fn a_handler_is_paused_only_after_the_dialog_was_answered() {
    let mut model = full();
    press(&mut model, &[Key::Char('p')]);
    let shown = dialog(&model);
    assert_eq!(
        (shown.focus, shown.command.as_str()),
        (Focus::Cancel, "wonce handler pause payments.capture")
    );
    assert!(shown.facts.contains(&("waiting", "8214 deliveries".to_owned())), "{:?}", shown.facts);
    assert_eq!(press(&mut model, &[Key::Enter]), []);
    assert_eq!(model.entry, Entry::Keys);

    press(&mut model, &[Key::Char('p')]);
    text(&mut model, "it's late");
    assert_eq!(
        dialog(&model).command_line(),
        r"wonce handler pause payments.capture --reason 'it'\''s late'"
    );
    let done = press(&mut model, &[Key::Tab, Key::Tab, Key::Enter]);
    let deed = Deed::Pause { handler: "payments.capture".to_owned() };
    assert_eq!(done, [Cmd::Act { deed, reason: "it's late".to_owned() }]);
    // A second Enter asks nothing twice.
    assert_eq!(acts(&press(&mut model, &[Key::Enter])), 0);
}

#[test]
fn a_paused_handler_is_let_go_by_the_same_key() {
    let mut model = full();
    text(&mut model, "/billing");
    press(&mut model, &[Key::Enter]);
    assert_eq!(model.chosen().as_deref(), Some("billing.invoice"));
    press(&mut model, &[Key::Char('p')]);
    assert_eq!(dialog(&model).deed, Deed::Resume { handler: "billing.invoice".to_owned() });
}

#[test]
fn a_group_is_replayed_as_it_was_seen_and_only_with_its_number() {
    let mut model = full();
    show(&mut model, Screen::Groups(None));
    press(&mut model, &[Key::Char('r')]);
    assert_eq!(dialog(&model).count, Some(271));
    assert_eq!(acts(&press(&mut model, &[Key::Tab, Key::Enter])), 0);
    assert!(dialog(&model).complaint.contains("type the count"));
    text(&mut model, "27");
    assert_eq!(acts(&press(&mut model, &[Key::BackTab, Key::Enter])), 0);
    text(&mut model, "1");
    let done = press(&mut model, &[Key::BackTab, Key::Enter]);
    let [Cmd::Act { deed: Deed::Begin { name, request }, .. }] = done.as_slice() else { panic!("{done:?}") };
    assert_eq!((request.expected, request.as_of, request.verb.as_str()), (271, 287, "replay"));
    assert_eq!(request.filter.fingerprint.as_deref(), Some("3877f0d2eb6a0e4d"));
    assert!(name.starts_with("session-"));
}

#[test]
fn a_discard_wants_a_reason_and_an_answer_leads_to_the_operation() {
    let mut model = full();
    show(&mut model, Screen::Letter(287));
    press(&mut model, &[Key::Char('x'), Key::Tab]);
    assert_eq!(acts(&press(&mut model, &[Key::Enter])), 0);
    assert!(dialog(&model).complaint.contains("say why"));
    text(&mut model, "test data");
    let done = press(&mut model, &[Key::Tab, Key::Tab, Key::Enter]);
    assert_eq!(done, [Cmd::Act { deed: Deed::Discard { id: 287 }, reason: "test data".to_owned() }]);

    let now = model.now;
    update(&mut model, now, Msg::Acted { result: Err("the host refused".to_owned()) });
    assert_eq!(dialog(&model).complaint, "the host refused");
    let result = Ok(Done { text: "operation 9 runs".to_owned(), operation: Some(9) });
    let asked = update(&mut model, now, Msg::Acted { result });
    assert_eq!((model.screen(), &model.entry), (&Screen::Operation(9), &Entry::Keys));
    assert!(
        asked.iter().any(|cmd| matches!(cmd, Cmd::Ask { question: Question::Operation(9), .. })),
        "{asked:?}"
    );
}

#[test]
fn an_operation_is_paused_and_aborted() {
    let mut model = full();
    show(&mut model, Screen::Operation(7));
    for (key, to) in [(Key::Char('p'), OperationState::Paused), (Key::Char('a'), OperationState::Aborted)] {
        press(&mut model, &[key]);
        assert_eq!(dialog(&model).deed, Deed::Change { operation: 7, to });
        press(&mut model, &[Key::Esc]);
    }
}

#[test]
fn nothing_can_be_asked_for_while_no_host_is_heard() {
    let mut model = stale();
    press(&mut model, &[Key::Char('p')]);
    assert_eq!(model.entry, Entry::Keys);
    assert!(
        model
            .toast
            .as_ref()
            .is_some_and(|toast| toast.tone == Tone::Bad && toast.text.contains("no host is heard"))
    );
}

#[test]
fn the_chosen_row_stays_chosen_when_rows_change_places() {
    let mut model = full();
    press(&mut model, &[Key::Char('j'), Key::Char('j')]);
    let chosen = model.chosen().expect("a row");
    for _ in 0..7 {
        press(&mut model, &[Key::Char('s'), Key::Char('S')]);
        assert_eq!(model.chosen().as_ref(), Some(&chosen), "{:?}", model.sort);
    }
    assert_eq!(model.sort, Sort::Worst);
}

#[test]
fn a_late_answer_to_another_question_is_left_alone() {
    let mut model = full();
    let asked = press(&mut model, &[Key::Char('2')]);
    let [Cmd::Ask { token, .. }] = asked.as_slice() else { panic!("{asked:?}") };
    let token = *token;
    press(&mut model, &[Key::Char('3')]);
    let now = model.now;
    update(&mut model, now, Msg::Answered { token, result: Err("late".to_owned()) });
    assert_eq!(model.place().page, Page::Waiting);
}

#[test]
fn an_answer_that_fails_later_leaves_what_was_known() {
    let mut model = full();
    show(&mut model, Screen::Operations);
    let later = model.now.plus(Duration::from_secs(60));
    let asked = update(&mut model, later, Msg::Second);
    let [Cmd::Ask { token, .. }] = asked.as_slice() else { panic!("{asked:?}") };
    update(&mut model, later, Msg::Answered { token: *token, result: Err("away".to_owned()) });
    assert!(matches!(&model.place().page, Page::Failed(_, reason, Some(_)) if reason == "away"));
    assert_eq!(model.rows(), ["7"]);
}

#[test]
fn a_screen_that_is_held_still_keeps_its_numbers() {
    let mut model = full();
    press(&mut model, &[Key::Char('f')]);
    let before = model.seen.clone();
    let now = model.now.plus(Duration::from_secs(30));
    let gone = Link::Refused { since: now, reason: "away".to_owned() };
    update(&mut model, now, Msg::Heard(Report::Link(now, gone)));
    model.look();
    press(&mut model, &[Key::Char(']')]);
    assert_eq!((&model.seen, model.window), (&before, crate::live::Window::FiveMinutes));
    press(&mut model, &[Key::Char('f')]);
    model.look();
    assert_ne!(model.seen.link, before.link);
}

#[test]
fn pasted_text_is_never_taken_for_keys() {
    let mut model = full();
    let now = model.now;
    assert_eq!(update(&mut model, now, Msg::Paste("pq2x\n".to_owned())), []);
    assert_eq!((model.screen(), &model.entry), (&Screen::Overview, &Entry::Keys));
    press(&mut model, &[Key::Char('/')]);
    update(&mut model, now, Msg::Paste("pay\u{1b}\n".to_owned()));
    assert_eq!(model.place().filter, "pay");
    assert_eq!(model.rows(), ["payments.capture"]);
}

#[test]
fn what_is_called_by_its_name_is_done() {
    let mut model = full();
    text(&mut model, ":operations");
    press(&mut model, &[Key::Enter]);
    assert_eq!(model.screen(), &Screen::Operations);
    text(&mut model, ":handler orders");
    press(&mut model, &[Key::Enter]);
    assert_eq!(model.screen(), &Screen::Handler("orders.index".to_owned()));
    text(&mut model, ":make coffee");
    press(&mut model, &[Key::Enter]);
    assert!(model.toast.as_ref().is_some_and(|toast| toast.text.contains("make coffee")));
}

#[test]
fn an_event_is_looked_up_by_its_key_alone_or_with_its_handler() {
    let mut model = full();
    text(&mut model, "#p-7");
    press(&mut model, &[Key::Enter]);
    let event = |handler: &str| Screen::Event { handler: handler.to_owned(), key: "p-7".to_owned() };
    assert_eq!(model.screen(), &event("payments.capture"));
    text(&mut model, "#orders.index p-7");
    press(&mut model, &[Key::Enter]);
    assert_eq!(model.screen(), &event("orders.index"));
    let mut model = silent();
    text(&mut model, "#p-7");
    press(&mut model, &[Key::Enter]);
    assert!(model.toast.as_ref().is_some_and(|toast| toast.text.contains("HANDLER KEY")));
}

#[test]
fn the_next_dead_letter_of_the_list_is_one_key_away() {
    let mut model = full();
    let (_, list) = screens().into_iter().find(|(name, _)| *name == "letters").expect("there");
    show(&mut model, list);
    press(&mut model, &[Key::Enter, Key::Char('J')]);
    assert_eq!(model.screen(), &Screen::Letter(286));
    press(&mut model, &[Key::Char('K'), Key::Char('K')]);
    assert_eq!(model.screen(), &Screen::Letter(287));
    press(&mut model, &[Key::Char('J'), Key::Esc]);
    assert_eq!(model.chosen().as_deref(), Some("286"));
}
