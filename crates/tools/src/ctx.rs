//! What a tool is handed, and what it hands back.

use std::cell::Cell;

use deskhand_platform::{Desktop, Mark, Scope};
use deskhand_protocol::{Candidate, EffectReport, Rect, Result, Selector};
use serde_json::Value;

use crate::{Books, Routed};

/// Where a tool puts what must be kept. The host decides where it goes; every method is bounded
/// and none may wait long.
pub trait Notebook {
    /// Keeps the screen as it is now, once; called before the first event of a coordinate action.
    /// An error means that the action must not run.
    fn before(&self) -> Result<()>;
    /// Keeps a reading of the tree.
    fn tree(&self, value: &Value);
    /// Keeps the candidates of a selector.
    fn candidates(&self, selector: &Selector, candidates: &[Candidate]);
    /// Keeps an encoded picture the tool made (`png` or `jpg`).
    fn picture(&self, name: &str, extension: &str, bytes: &[u8]);
    /// A line for the summary.
    fn note(&self, line: &str);
    /// The text of this call goes to an element that is known and holds no secret: it may be kept.
    /// Until a tool says so, nobody knows where the text goes, and it is kept nowhere.
    fn plain(&self) {}
}

/// Places in the streams of changes from which an effect is looked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Marks {
    /// In the stream of pixel changes.
    pub screen: Option<Mark>,
    /// In the stream of accessibility events.
    pub elements: Option<Mark>,
}

/// What a running tool may use.
pub struct Ctx<'a> {
    /// The desktop.
    pub desktop: &'a Desktop,
    /// Deadline and cancellation.
    pub scope: &'a Scope,
    /// Where the call is meant to go, resolved.
    pub route: &'a Routed,
    /// Snapshots and screenshots that later calls may name.
    pub books: &'a Books,
    /// What must be kept.
    pub notebook: &'a dyn Notebook,
    /// Whether the effect will be judged.
    pub verify: bool,
    marks: Cell<Marks>,
    sent: Cell<bool>,
}

impl<'a> Ctx<'a> {
    /// Puts the parts together.
    #[must_use]
    pub fn new(
        desktop: &'a Desktop,
        scope: &'a Scope,
        route: &'a Routed,
        books: &'a Books,
        notebook: &'a dyn Notebook,
        verify: bool,
    ) -> Self {
        let (marks, sent) = (Cell::default(), Cell::default());
        Self { desktop, scope, route, books, notebook, verify, marks, sent }
    }

    /// The first event that can change something (a press, a key, a wheel) goes out now: an error
    /// from here on must not say that nothing was done.
    pub fn sending(&self) {
        self.sent.set(true);
    }

    /// Whether something was sent.
    #[must_use]
    pub fn sent(&self) -> bool {
        self.sent.get()
    }

    /// Effects are looked for from here on. A tool calls it as late as it can: after the pointer has
    /// moved (hovering changes pixels too) and before the button goes down.
    pub fn mark_now(&self) {
        if self.verify {
            self.marks.set(Marks {
                screen: self.desktop.screen.mark().ok(),
                elements: self.desktop.elements.mark().ok(),
            });
        }
    }

    /// The places marked last.
    #[must_use]
    pub fn marks(&self) -> Marks {
        self.marks.get()
    }
}

/// How the effect of an action is to be judged.
#[derive(Clone, Debug, PartialEq)]
pub enum Watch {
    /// It only looked.
    None,
    /// The tool has seen for itself.
    Own(EffectReport),
    /// The host should look for changes of pixels and accessibility events since the marks.
    Changes {
        /// What is known already: layer, place, what was hit. Its verdict is replaced.
        report: EffectReport,
        /// Only events of this process count.
        pid: Option<u32>,
        /// Only pixels in here count.
        within: Option<Rect>,
    },
}

/// A result and how to judge its effect.
#[derive(Debug)]
pub struct Done<T> {
    /// The result.
    pub output: T,
    /// How to judge it.
    pub watch: Watch,
}

impl<T> Done<T> {
    /// A look.
    pub fn look(output: T) -> Self {
        Self { output, watch: Watch::None }
    }

    /// An action the tool has judged itself.
    pub fn own(output: T, report: EffectReport) -> Self {
        Self { output, watch: Watch::Own(report) }
    }

    /// An action the host should judge.
    pub fn watch(output: T, report: EffectReport, pid: Option<u32>, within: Option<Rect>) -> Self {
        Self { output, watch: Watch::Changes { report, pid, within } }
    }
}
