//! The log screen: followed until somebody moves in it, and from there to the event.

use super::*;

fn logged(model: &mut Model, round: u64, message: &str) {
    let now = model.now;
    let data = format!(
        r#"{{"dropped":0,"lines":[{{"at":"","level":"info","message":"{message}","fields":{{}}}}]}}"#
    );
    let message = wonce_api::live::Message::parse("log", &data).expect("a batch").expect("known");
    update(model, now, Msg::Logged { round, place: 0, report: Report::Message(now, Box::new(message)) });
    model.look();
}

fn round(cmds: &[Cmd]) -> Option<u64> {
    cmds.iter().find_map(|cmd| match cmd {
        Cmd::FollowLogs { round, wanted: Some(_) } => Some(*round),
        _ => None,
    })
}

#[test]
fn the_log_is_followed_only_while_it_is_shown_and_anew_at_another_level() {
    let mut model = full();
    let first = round(&press(&mut model, &[Key::Char('7')])).expect("it is followed");
    logged(&mut model, first, "one");
    assert_eq!(model.log_lines().count(), 1);
    let second = round(&press(&mut model, &[Key::Char('V')])).expect("it is followed anew");
    logged(&mut model, first, "late");
    assert_eq!(model.log_lines().count(), 0, "a late line of another wish is none of this one");
    logged(&mut model, second, "two");
    assert_eq!(model.log_lines().count(), 1);
    let left = press(&mut model, &[Key::Char('1')]);
    assert!(left.iter().any(|cmd| matches!(cmd, Cmd::FollowLogs { wanted: None, .. })), "{left:?}");
}

#[test]
fn the_newest_line_stays_chosen_until_somebody_moves_up_and_again_at_the_end() {
    let mut model = full();
    let follows = round(&press(&mut model, &[Key::Char('7')])).expect("it is followed");
    for message in ["one", "two", "three"] {
        logged(&mut model, follows, message);
    }
    assert_eq!(model.chosen().as_deref(), Some("3"));
    press(&mut model, &[Key::Char('k')]);
    logged(&mut model, follows, "four");
    assert_eq!(model.chosen().as_deref(), Some("2"));
    press(&mut model, &[Key::Char('G')]);
    logged(&mut model, follows, "five");
    assert_eq!(model.chosen().as_deref(), Some("5"));
    press(&mut model, &[Key::Char('f')]);
    logged(&mut model, follows, "six");
    assert_eq!(model.log_lines().count(), 5, "the screen is held still");
    press(&mut model, &[Key::Char('f')]);
    model.look();
    assert_eq!(model.log_lines().count(), 6);
}

#[test]
fn a_line_leads_to_its_event() {
    let mut model = full();
    show(&mut model, Screen::Logs { handler: None, level: wonce_api::live::LogLevel::Info });
    press(&mut model, &[Key::Enter]);
    assert!(matches!(model.screen(), Screen::Logs { .. }), "the newest line is about a sink");
    press(&mut model, &[Key::Char('k'), Key::Char('k'), Key::Enter]);
    let event = Screen::Event { handler: "payments.capture".to_owned(), key: "p-81990".to_owned() };
    assert_eq!(model.screen(), &event);
}
