//! The model: it takes what the stream said and gives what is drawn.

use wonce_api::live::Message;

use super::{HandlerDetail, HostRow, Link, Moment, Overview, Window};

/// See the module.
#[derive(Debug, Default)]
pub struct Fleet {
    link: Link,
    now: Moment,
}

impl Fleet {
    /// Takes one message of the stream.
    pub fn apply(&mut self, moment: Moment, message: Message) {
        let _ = message;
        self.tick(moment);
    }

    /// Takes what became of the link.
    pub fn link(&mut self, moment: Moment, link: Link) {
        self.tick(moment);
        self.link = link;
    }

    /// Time has passed: ages grow. About once a second.
    pub fn tick(&mut self, moment: Moment) {
        self.now = self.now.max(moment);
    }

    /// The fleet through a window.
    #[must_use]
    pub fn overview(&self, window: Window) -> Overview {
        Overview { window, link: self.link.clone(), ..Overview::default() }
    }

    /// One handler through a window; none when nobody has ever said its name.
    #[must_use]
    pub fn handler(&self, _name: &str, _window: Window) -> Option<HandlerDetail> {
        None
    }

    /// The hosts alone, as in [`Overview::hosts`].
    #[must_use]
    pub fn hosts(&self, window: Window) -> Vec<HostRow> {
        self.overview(window).hosts
    }
}
