//! `wonce top`: the fleet live on a terminal, or one page of it.

use std::io::IsTerminal;

use clap::Args;
use uuid::Uuid;
use wonce_tui::live::Window;
use wonce_tui::model::Mouse;
use wonce_tui::net::Hosts;
use wonce_tui::once::once;
use wonce_tui::run::{Settings, run};

use super::connect::{Actor, Connect};
use super::render::{self, Paint};
use super::{Error, Finding, print};
use crate::config::Console;

#[derive(Debug, Args)]
pub(super) struct Top {
    /// Print one page and end; with --json as a document
    #[arg(long)]
    once: bool,
    /// How far back counts and percentiles reach: 1m, 5m, 15m or 1h
    #[arg(long, default_value = "5m", value_parser = window)]
    window: Window,
    #[command(flatten)]
    actor: Actor,
    #[command(flatten)]
    connect: Connect,
}

impl Top {
    pub(super) async fn run(self) -> Result<Finding, Error> {
        let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        if !self.once && !is_terminal {
            let reason = "the live console needs a terminal; `wonce top --once` prints one page without";
            return Err(Error::Console(reason.to_owned()));
        }
        let token = self.connect.token().map(str::to_owned);
        let hosts = Hosts::new(self.connect.targets()?, token).map_err(|e| Error::Console(e.to_string()))?;
        if !self.once {
            let Console { mouse, keymap } = self.connect.console()?;
            let settings = Settings {
                window: self.window,
                keymap,
                mouse: if mouse { Mouse::Taken } else { Mouse::Left },
                actor: self.actor.name(),
                session: Uuid::new_v4().to_string(),
            };
            let shown = run(hosts, settings).await;
            return shown.map(|()| Finding::Fine).map_err(|e| Error::Stdout { reason: e.to_string() });
        }
        let seen = once(hosts, self.window).await.map_err(|e| Error::Console(e.to_string()))?;
        if self.connect.json {
            let json = serde_json::to_string(&seen).map_err(|e| Error::Stdout { reason: e.to_string() })?;
            return print(&json);
        }
        print(&render::top::overview(&seen, Paint::of_stdout()))
    }
}

fn window(text: &str) -> Result<Window, String> {
    Window::of_label(text).ok_or_else(|| "it is 1m, 5m, 15m or 1h".to_owned())
}
