//! Dead letters: what was discarded comes back, and a payload goes through the person's editor.

use super::*;
use crate::desk::Shelf;
use crate::draft::Draft;
use crate::model::Need;

fn shown_letter(model: &Model) -> Box<DeadLetterDetail> {
    match model.place().page.answer() {
        Some(Answer::Letter(letter)) => letter.clone(),
        other => panic!("no dead letter: {other:?}"),
    }
}

/// What an editor would have left.
fn written(model: &Model, text: &str) -> Written {
    let letter = shown_letter(model);
    let draft = Draft::of(&letter).expect("a file");
    Written { letter, draft, data: text.as_bytes().to_vec() }
}

fn hear(model: &mut Model, result: Result<Written, String>) -> Vec<Cmd> {
    let now = model.now;
    update(model, now, Msg::Written(result))
}

fn fact<'a>(dialog: &'a Dialog, name: &str) -> &'a str {
    dialog.facts.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text)
}

#[test]
fn what_was_discarded_is_listed_and_restored_as_it_was_seen() {
    let mut model = full();
    show(&mut model, Screen::Groups(None));
    press(&mut model, &[Key::Char('d')]);
    let Screen::Letters(_, Shelf::Discarded) = model.screen() else { panic!("{:?}", model.screen()) };
    let discarded = model.screen().clone();
    show(&mut model, discarded);
    press(&mut model, &[Key::Char('u')]);
    assert_eq!(dialog(&model).deed, Deed::Restore { id: 287 });
    press(&mut model, &[Key::Esc, Key::Char('U')]);
    let Deed::Begin { request, .. } = &dialog(&model).deed else { panic!("{:?}", dialog(&model).deed) };
    assert_eq!((request.verb.as_str(), request.expected, request.as_of), ("restore", 271, 287));
    assert!(dialog(&model).command.starts_with("wonce dead restore"), "{}", dialog(&model).command);
    press(&mut model, &[Key::Esc, Key::Char('r'), Key::Char('x')]);
    assert_eq!(model.entry, Entry::Keys, "what is discarded is neither replayed nor discarded");
    press(&mut model, &[Key::Char('d')]);
    assert!(matches!(model.screen(), Screen::Letters(_, Shelf::Open)));
}

#[test]
fn only_a_discard_leads_to_what_it_discarded() {
    let mut model = full();
    show(&mut model, Screen::Operation(7));
    press(&mut model, &[Key::Char('u')]);
    assert_eq!(model.toast.as_ref().map(|toast| toast.tone), Some(Tone::Bad), "7 is a replay");
    let Some(Answer::Operation(mut detail)) = model.place().page.answer().cloned() else { panic!("none") };
    detail.operation.verb = "discard".to_owned();
    model.place_mut().page = Page::Here(model.now, Answer::Operation(detail));
    press(&mut model, &[Key::Char('u')]);
    let Screen::Letters(selection, Shelf::Discarded) = model.screen() else { panic!("{:?}", model.screen()) };
    assert_eq!(selection.operation, Some(7));
}

#[test]
fn an_edit_shows_what_changes_and_keeps_the_draft_until_the_host_has_it() {
    let mut model = full();
    show(&mut model, Screen::Letter(287));
    let asked = press(&mut model, &[Key::Char('e')]);
    assert_eq!(asked.first(), Some(&Cmd::Edit(shown_letter(&model))));
    let new = written(&model, r#"{"payment_id":"p-81990","amount":12,"lines":[1,2]}"#);
    let draft = new.draft.clone();
    hear(&mut model, Ok(new));
    let shown = dialog(&model);
    assert_eq!(shown.needs_reason, Need::Required);
    assert_eq!(fact(shown, "changes"), r#"-   "amount": 12345678901234567890,"#);
    assert!(shown.facts.iter().any(|(_, text)| text == r#"+   "amount": 12,"#), "{:?}", shown.facts);
    assert_eq!(fact(shown, "draft"), draft.path().display().to_string());
    assert_eq!(acts(&press(&mut model, &[Key::Tab, Key::Enter])), 0, "a reason first");
    text(&mut model, "typo");
    let done = press(&mut model, &[Key::Tab, Key::Tab, Key::Enter]);
    let [Cmd::Act { deed: Deed::Edit { id, revision, payload, .. }, reason }] = done.as_slice() else {
        panic!("{done:?}")
    };
    assert_eq!((*id, *revision, reason.as_str()), (287, 0, "typo"));
    assert!(payload.body.contains("\"amount\":12,"));

    press(&mut model, &[Key::Esc]);
    let said = model.toast.clone().expect("said").text;
    assert!(said.contains(&draft.path().display().to_string()), "{said}");
    assert!(draft.path().exists());
    draft.forget().expect("removed");
}

#[test]
fn an_edit_says_that_json_is_none_any_more_and_lets_an_unchanged_draft_go() {
    let mut model = full();
    show(&mut model, Screen::Letter(287));
    let broken = written(&model, "{\"payment_id\":");
    let draft = broken.draft.clone();
    hear(&mut model, Ok(broken));
    assert!(fact(dialog(&model), "size").contains("none any more"), "{:?}", dialog(&model).facts);
    press(&mut model, &[Key::Esc]);
    draft.forget().expect("removed");

    let same = shown_letter(&model).payload.body.clone();
    let same = written(&model, &same);
    let draft = same.draft.clone();
    assert_eq!(hear(&mut model, Ok(same)), [Cmd::Forget(draft.clone())]);
    assert_eq!(model.entry, Entry::Keys);
    draft.forget().expect("removed");
    hear(&mut model, Err("the editor did not end well".to_owned()));
    assert_eq!(model.toast.as_ref().map(|toast| toast.tone), Some(Tone::Bad));
}
