//! The loop that holds the console together: keys, the stream, the clock and answers come in, `update`
//! decides, what it asks for is done, and the screen is drawn: at once for the person, at most four
//! times a second for the stream. Ends with the person, with the terminal or with a signal. Knows
//! nothing of what any of it means.

use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;
use wonce_api::dead_letter::DeadLetterDetail;
use wonce_api::live::LogQuery;

use crate::desk::{Deed, Desk, Done, Question};
use crate::draft::Draft;
use crate::keys::Keymap;
use crate::live::Window;
use crate::model::{Model, Mouse};
use crate::net::{Ask, Clock, Feed, Hosts, MAX_REPORTS, follow};
use crate::term::{Input, Reader, Screen};
use crate::theme::{Surroundings, Theme};
use crate::update::{Cmd, Msg, Scroll, Written, update};
use crate::view::{Hits, draw};

/// Keys that wait; a person does not type faster.
const MAX_INPUTS: usize = 64;
/// Questions and deeds under way; more are put when others have come back.
const MAX_ASKED: usize = 8;
/// Messages of the stream that are taken before a key is looked for again.
const MAX_TAKEN: usize = 8;
/// What the stream says is drawn no more often.
const DRAW_EVERY: Duration = Duration::from_millis(250);

/// How the console is to be.
#[derive(Debug)]
pub struct Settings {
    pub window: Window,
    pub keymap: Keymap,
    pub mouse: Mouse,
    /// Who asks, for the record of actions.
    pub actor: Option<String>,
    /// A text that no other console has.
    pub session: String,
}

/// What the screen lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Nothing,
    /// What the stream said.
    Data,
    /// What the person did.
    Now,
}

/// Shows the fleet until the person leaves.
///
/// # Errors
/// When the terminal cannot be taken or written to.
pub async fn run(hosts: Hosts, settings: Settings) -> io::Result<()> {
    let clock = Clock::new();
    let desk = Desk::new(Ask::new(hosts.clone()), settings.actor);
    let mut model = Model::new(
        Theme::of(&Surroundings::of_process()),
        settings.keymap,
        settings.window,
        settings.session,
    );
    model.mouse = settings.mouse;
    let (say, mut reports) = mpsc::channel(MAX_REPORTS);
    let (typed, mut inputs) = mpsc::channel(MAX_INPUTS);
    let mut screen = Screen::enter()?;
    screen.mouse(model.mouse)?;
    let reader = Reader::start(typed)?;
    let (say_lines, mut lines) = mpsc::channel(MAX_REPORTS);
    let mut console = Console {
        model,
        clock,
        desk,
        logs: LogFollowers { hosts: hosts.clone(), clock, say: say_lines, tasks: JoinSet::new() },
        screen,
        reader,
        interrupt: signal(SignalKind::interrupt())?,
        asked: JoinSet::new(),
        queue: VecDeque::new(),
        hits: Hits::default(),
    };
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    let mut seconds = tokio::time::interval(Duration::from_secs(1));
    seconds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // It ends with the receiver, at the end of this function.
    let follower = tokio::spawn(follow(hosts, Feed::Live, clock, say, |report| report));
    let mut drawn = Instant::now();
    let mut due = Due::Now;
    loop {
        if due == Due::Now || (due == Due::Data && drawn.elapsed() >= DRAW_EVERY) {
            console.draw()?;
            (due, drawn) = (Due::Nothing, Instant::now());
        }
        let later = tokio::time::sleep_until((drawn + DRAW_EVERY).into());
        let step = tokio::select! {
            biased;
            _ = terminate.recv() => Step::End,
            _ = hang_up.recv() => Step::End,
            _ = console.interrupt.recv() => Step::End,
            input = inputs.recv() => console.input(input)?,
            Some(answer) = console.asked.join_next() => console.answered(answer)?,
            _ = seconds.tick() => console.take(Msg::Second, Due::Now)?,
            Some(report) = reports.recv() => {
                let mut step = console.take(Msg::Heard(report), Due::Data)?;
                for _ in 1..MAX_TAKEN {
                    let Ok(report) = reports.try_recv() else { break };
                    step = console.take(Msg::Heard(report), Due::Data)?;
                }
                step
            }
            Some(line) = lines.recv() => console.take(line, Due::Data)?,
            () = later, if due == Due::Data => Step::On(Due::Data),
        };
        match step {
            Step::End => break,
            Step::On(more) => due = due.max(more),
            Step::Edit(letter) => due = console.edit(letter).await?,
        }
    }
    follower.abort();
    Ok(())
}

enum Step {
    On(Due),
    /// The terminal goes to the person's editor.
    Edit(Box<DeadLetterDetail>),
    End,
}

struct Console {
    model: Model,
    clock: Clock,
    desk: Desk,
    logs: LogFollowers,
    screen: Screen,
    reader: Reader,
    interrupt: Signal,
    asked: JoinSet<Msg>,
    /// Questions and deeds that wait for their turn.
    queue: VecDeque<Cmd>,
    hits: Hits,
}

impl Console {
    fn draw(&mut self) -> io::Result<()> {
        self.model.look();
        let model = &self.model;
        self.hits = self.screen.draw(|buffer| draw(model, buffer))?;
        self.model.page_rows = self.hits.fit;
        Ok(())
    }

    fn input(&mut self, input: Option<Input>) -> io::Result<Step> {
        let msg = match input {
            // The terminal is gone, and with it the person.
            None | Some(Input::Gone) => return Ok(Step::End),
            Some(Input::Resized) => return Ok(Step::On(Due::Now)),
            Some(Input::Key(key)) => Msg::Key(key),
            Some(Input::Paste(text)) => Msg::Paste(text),
            Some(Input::WheelUp) => Msg::Scroll(Scroll::Up),
            Some(Input::WheelDown) => Msg::Scroll(Scroll::Down),
            Some(Input::Click { x, y }) => match self.hits.at(x, y) {
                Some(row) => Msg::Click(row.to_owned()),
                None => return Ok(Step::On(Due::Nothing)),
            },
        };
        self.take(msg, Due::Now)
    }

    fn answered(&mut self, answer: Result<Msg, tokio::task::JoinError>) -> io::Result<Step> {
        match answer {
            Ok(msg) => self.take(msg, Due::Now),
            Err(error) => {
                self.model.complain(format!("a question was lost inside the console: {error}"));
                Ok(Step::On(Due::Now))
            }
        }
    }

    fn take(&mut self, msg: Msg, due: Due) -> io::Result<Step> {
        let cmds = update(&mut self.model, self.clock.now(), msg);
        let mut step = Step::On(due);
        for cmd in cmds {
            match cmd {
                Cmd::Edit(letter) => step = Step::Edit(letter),
                Cmd::Forget(draft) => forget(&mut self.model, &draft),
                Cmd::Quit => return Ok(Step::End),
                Cmd::Redraw => self.screen.redraw(),
                Cmd::Suspend => {
                    self.reader.rest();
                    self.screen.suspend()?;
                    self.reader.go_on();
                }
                Cmd::Copy(text) => self.screen.copy(&text)?,
                Cmd::FollowLogs { round, wanted } => self.logs.follow(round, wanted),
                Cmd::Mouse => self.screen.mouse(self.model.mouse)?,
                cmd @ (Cmd::Ask { .. } | Cmd::Act { .. }) => self.queue.push_back(cmd),
            }
        }
        while self.asked.len() < MAX_ASKED {
            let Some(cmd) = self.queue.pop_front() else { break };
            self.ask(cmd);
        }
        Ok(step)
    }

    /// The person's editor has the terminal until it ends.
    async fn edit(&mut self, letter: Box<DeadLetterDetail>) -> io::Result<Due> {
        self.reader.rest();
        Screen::lend();
        let written = written(letter).await;
        // Ctrl-C meant the editor.
        self.interrupt = signal(SignalKind::interrupt())?;
        self.screen.take_again()?;
        self.reader.go_on();
        // No command of what follows ends the console or begins another editor.
        self.take(Msg::Written(written), Due::Now).map(|_| Due::Now)
    }

    fn ask(&mut self, cmd: Cmd) {
        let desk = self.desk.clone();
        match cmd {
            Cmd::Ask { token, question } => drop(self.asked.spawn(answer(desk, token, question))),
            Cmd::Act { deed, reason } => {
                drop(self.asked.spawn(async move { Msg::Acted { result: acted(&desk, deed, reason).await } }))
            }
            Cmd::Quit
            | Cmd::Redraw
            | Cmd::Suspend
            | Cmd::Copy(_)
            | Cmd::Mouse
            | Cmd::Edit(_)
            | Cmd::FollowLogs { .. }
            | Cmd::Forget(_) => {}
        }
    }
}

/// Those who follow the logs of the hosts, one each. They end with this.
struct LogFollowers {
    hosts: Hosts,
    clock: Clock,
    say: mpsc::Sender<Msg>,
    tasks: JoinSet<()>,
}

impl LogFollowers {
    fn follow(&mut self, round: u64, wanted: Option<LogQuery>) {
        self.tasks.abort_all();
        // Those that were ended are let go.
        while self.tasks.try_join_next().is_some() {}
        let Some(query) = wanted else { return };
        for (place, host) in self.hosts.each().enumerate() {
            let label = move |report| Msg::Logged { round, place, report };
            self.tasks.spawn(follow(host, Feed::Logs(query.clone()), self.clock, self.say.clone(), label));
        }
    }
}

async fn answer(desk: Desk, token: u64, question: Question) -> Msg {
    Msg::Answered { token, result: desk.answer(question).await.map_err(|error| error.to_string()) }
}

/// A draft goes when the host has what was written in it.
async fn acted(desk: &Desk, deed: Deed, reason: String) -> Result<Done, String> {
    let draft = match &deed {
        Deed::Edit { draft, .. } => Some(draft.clone()),
        _ => None,
    };
    let mut done = desk.act(deed, reason).await.map_err(|error| error.to_string())?;
    if let Some(Err(error)) = draft.map(|draft| draft.forget()) {
        done.text = format!("{}; {error}", done.text);
    }
    Ok(done)
}

fn forget(model: &mut Model, draft: &Draft) {
    if let Err(error) = draft.forget() {
        model.complain(error.to_string());
    }
}

async fn written(letter: Box<DeadLetterDetail>) -> Result<Written, String> {
    let draft = Draft::of(&letter).map_err(|error| error.to_string())?;
    let data = draft.edited().await.map_err(|error| error.to_string())?;
    Ok(Written { letter, draft, data })
}
