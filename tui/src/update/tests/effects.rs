//! Effects: of one sink, by state, and from there to the event.

use wonce_core::effect::EffectState;

use super::*;

#[test]
fn a_sink_leads_to_its_effects_and_an_effect_to_its_event() {
    let mut model = full();
    show(&mut model, Screen::Outlets);
    let sink = model.chosen().expect("a sink");
    press(&mut model, &[Key::Enter]);
    assert_eq!(model.screen(), &Screen::Effects(Some(sink), None));
    let effects = model.screen().clone();
    show(&mut model, effects);
    press(&mut model, &[Key::Enter]);
    let event = Screen::Event { handler: "payments.capture".to_owned(), key: "p-81990".to_owned() };
    assert_eq!(model.screen(), &event);
}

#[test]
fn the_states_of_effects_come_one_after_the_other() {
    let mut model = full();
    press(&mut model, &[Key::Char('8')]);
    let mut seen = Vec::new();
    for _ in 0..=EffectState::ALL.len() {
        let asked = press(&mut model, &[Key::Char('t')]);
        let Screen::Effects(None, state) = model.screen() else { panic!("{:?}", model.screen()) };
        assert!(
            asked.iter().any(
                |cmd| matches!(cmd, Cmd::Ask { question: Question::Effects(None, s), .. } if s == state)
            )
        );
        seen.push(*state);
    }
    let all = EffectState::ALL.map(Some).into_iter().chain([None]);
    assert_eq!(seen, all.collect::<Vec<_>>());
}
