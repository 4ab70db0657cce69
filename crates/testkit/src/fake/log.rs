//! Every input event the fake desktop got, with its time.

use std::time::Instant;

use deskhand_platform::Button;
use deskhand_protocol::Point;

/// Events kept; later ones are counted only.
const LIMIT: usize = 200_000;

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputEvent {
    /// The pointer went there.
    Move(Point),
    /// A button went down (true) or up.
    Button(Button, bool),
    /// The wheel turned.
    Wheel(i32, i32),
    /// A key went down (true) or up.
    Key(String, bool),
    /// An element was acted on: role, name and the action.
    Element(String),
}

impl std::fmt::Display for InputEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let way = |down: &bool| if *down { "down" } else { "up" };
        match self {
            InputEvent::Move(p) => write!(f, "move {},{}", p.x, p.y),
            InputEvent::Button(b, down) => write!(f, "button {b:?} {}", way(down)),
            InputEvent::Wheel(dx, dy) => write!(f, "wheel {dx},{dy}"),
            InputEvent::Key(k, down) => write!(f, "key {k} {}", way(down)),
            InputEvent::Element(what) => write!(f, "element {what}"),
        }
    }
}

/// An event and when it came.
#[derive(Clone, Debug)]
pub struct Logged {
    /// When.
    pub at: Instant,
    /// What.
    pub event: InputEvent,
}

/// The log.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) events: Vec<Logged>,
    pub(crate) dropped: usize,
}

impl Log {
    pub(crate) fn push(&mut self, event: InputEvent) {
        if self.events.len() < LIMIT {
            self.events.push(Logged { at: Instant::now(), event });
        } else {
            self.dropped += 1;
        }
    }
}
