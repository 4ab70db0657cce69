//! Getting text into an application: by the element itself, by paste, by keys; never twice.

use std::time::{Duration, Instant};

use deskhand_platform::{
    CancelToken, Element, ElementAction, Key, Modifier, PlatformError, SavedClipboard, Scope,
};
use deskhand_protocol::{Error, Layer, Result, Role};

use super::typed::{Reader, Verdict};
use crate::Ctx;
use crate::route::Pin;

/// The focus is looked at again at least this often.
const GUARD_EVERY: Duration = Duration::from_millis(200);
/// Most characters between two looks at the focus.
const GUARD_CHARS: usize = 32;
/// How long an application may take to ask for what is pasted.
const PASTE_WAIT: Duration = Duration::from_secs(2);
/// When the text cannot be read, the application gets this long after it asked, then the clipboard
/// is put back.
const PASTE_REST: Duration = Duration::from_millis(120);
/// Putting the clipboard back must work even when the call was aborted.
const RESTORE: Duration = Duration::from_secs(2);

/// A way of typing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// The element inserts it.
    Insert,
    /// Clipboard and Ctrl+V, clipboard put back.
    Paste,
    /// Key events.
    Keys,
}

impl Way {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Way::Insert => "insert",
            Way::Paste => "paste",
            Way::Keys => "keys",
        }
    }

    pub(crate) fn layer(self) -> Layer {
        if self == Way::Insert { Layer::Element } else { Layer::Semantic }
    }
}

/// The fastest way that is exact for this element and this text.
pub(crate) fn best_way(element: Option<&Element>, text: &str) -> Way {
    let Some(e) = element else { return Way::Keys };
    // A secret is neither put on the clipboard nor trusted to an insertion that cannot be read back.
    if e.secure || matches!(e.role, Role::Terminal | Role::Cell | Role::Table | Role::PasswordField) {
        return Way::Keys;
    }
    let breaks = text.contains(['\n', '\t']);
    if breaks && single_line(e) {
        return Way::Keys;
    }
    if breaks && paragraph(e) {
        return Way::Paste;
    }
    if e.editable_text {
        return Way::Insert;
    }
    let texty = matches!(
        e.role,
        Role::TextField
            | Role::TextArea
            | Role::ComboBox
            | Role::Document
            | Role::Paragraph
            | Role::SpinButton
    );
    if e.states.editable || (e.has_text && texty) { Way::Paste } else { Way::Keys }
}

/// One paragraph of a larger text: an inserted line break would stay inside it instead of starting
/// the next paragraph.
pub(crate) fn paragraph(e: &Element) -> bool {
    e.role == Role::Paragraph || e.native_role.eq_ignore_ascii_case("paragraph")
}

/// A field where Enter does something else than start a new line.
pub(crate) fn single_line(e: &Element) -> bool {
    !e.states.multi_line
        && matches!(
            e.role,
            Role::TextField | Role::PasswordField | Role::ComboBox | Role::SpinButton | Role::Cell
        )
}

/// What is typed, and where.
pub(crate) struct Job<'a> {
    pub(crate) text: &'a str,
    pub(crate) element: Option<&'a Element>,
    /// Between two key events.
    pub(crate) delay: Duration,
    /// Whether another way may be tried when one did nothing at all.
    pub(crate) may_switch: bool,
    /// Where the focus must stay.
    pub(crate) pin: &'a Pin,
}

/// What came of it.
pub(crate) struct Typed {
    pub(crate) way: Way,
    pub(crate) verdict: Verdict,
    /// Ways that did nothing.
    pub(crate) tried: Vec<&'static str>,
}

/// Types. An error says how many characters had been sent.
pub(crate) fn run(ctx: &Ctx<'_>, job: &Job<'_>, way: Way) -> Result<Typed> {
    let mut way = way;
    let mut tried = Vec::new();
    loop {
        job.pin.check(ctx)?;
        let reader = Reader::new(ctx, job);
        let attempt = match way {
            Way::Insert => insert(ctx, job, &reader),
            Way::Paste => paste(ctx, job, &reader),
            Way::Keys => keys(ctx, job, &reader),
        };
        let next = if way == Way::Insert { Way::Paste } else { Way::Keys };
        let can_switch = job.may_switch && way != Way::Keys;
        match attempt {
            Ok(Verdict::Nothing { .. }) | Err(Trouble::Unused(_)) if can_switch => {
                tried.push(way.as_str());
                way = next;
            }
            Ok(verdict) => return Ok(Typed { way, verdict, tried }),
            Err(Trouble::Unused(e) | Trouble::Failed(e)) => return Err(e),
        }
    }
}

/// Why a way did not work.
enum Trouble {
    /// Nothing was typed: another way may be tried.
    Unused(Error),
    /// Something may have been typed, or nothing will work.
    Failed(Error),
}

impl From<PlatformError> for Trouble {
    fn from(e: PlatformError) -> Self {
        match e {
            PlatformError::NotActionable { .. } | PlatformError::Unsupported { .. } => Self::Unused(e.into()),
            e => Self::Failed(e.into()),
        }
    }
}

fn insert(ctx: &Ctx<'_>, job: &Job<'_>, reader: &Reader) -> Result<Verdict, Trouble> {
    let Some(element) = job.element else {
        return Err(Trouble::Failed(super::args::wrong(
            "method",
            "\"insert\" needs a target, or a text field with the focus",
        )));
    };
    ctx.scope.check("inserting text")?;
    ctx.mark_now();
    let report = ctx.desktop.elements.act(
        &element.handle,
        &ElementAction::InsertText(job.text.to_owned()),
        ctx.scope,
    )?;
    if !ctx.verify {
        return Ok(match report.done {
            Some(false) => Verdict::Nothing { why: format!("{} did nothing", report.how) },
            _ => Verdict::Unread { why: format!("{} was sent", report.how) },
        });
    }
    Ok(reader.arrived(ctx, job, Instant::now())?)
}

fn keys(ctx: &Ctx<'_>, job: &Job<'_>, reader: &Reader) -> Result<Verdict, Trouble> {
    ctx.mark_now();
    let total = job.text.chars().count();
    // All in one go, because lent keys are dear to get; what must stop it (an abort, a focus that went
    // elsewhere) is looked at after every character or every few of them.
    let stop = CancelToken::new();
    let scope = Scope::new(ctx.scope.remaining(), stop.clone());
    let (mut sent, mut looked, mut since) = (0, Instant::now(), 0);
    let mut why: Option<Error> = None;
    let mut progress = |n: usize| {
        sent = n;
        since += 1;
        if let Err(e) = ctx.scope.check("typing") {
            why.get_or_insert(e.into());
        } else if n < total && (since >= GUARD_CHARS || looked.elapsed() >= GUARD_EVERY) {
            if let Err(e) = job.pin.check(ctx) {
                why.get_or_insert(e);
            }
            (looked, since) = (Instant::now(), 0);
        }
        if why.is_some() {
            stop.cancel();
        }
    };
    let typed = ctx.desktop.input.type_keys(job.text, job.delay, &mut progress, &scope);
    if sent > 0 {
        ctx.sending();
    }
    // The reason comes before the fact that it was stopped.
    if let Some(e) = why.or_else(|| typed.err().map(Error::from)) {
        return Err(Trouble::Failed(e.detail("typed", sent).detail("of", total)));
    }
    if !ctx.verify {
        return Ok(Verdict::Unread { why: format!("{sent} characters were sent as keys") });
    }
    Ok(reader.arrived(ctx, job, Instant::now())?)
}

fn paste(ctx: &Ctx<'_>, job: &Job<'_>, reader: &Reader) -> Result<Verdict, Trouble> {
    let clipboard = &*ctx.desktop.clipboard;
    let unused = |e: PlatformError| match e {
        PlatformError::Cancelled => Trouble::Failed(e.into()),
        e => Trouble::Unused(e.into()),
    };
    let saved = clipboard.save(&ctx.scope.within(PASTE_WAIT)).map_err(unused)?;
    let _back = Restore { ctx, saved };
    clipboard.write_text(job.text, ctx.scope).map_err(unused)?;
    let reads = clipboard.times_read();
    ctx.scope.check("pasting")?;
    job.pin.check(ctx).map_err(Trouble::Failed)?;
    ctx.mark_now();
    ctx.sending();
    let modifier = if cfg!(target_os = "macos") { Modifier::Cmd } else { Modifier::Ctrl };
    ctx.desktop
        .input
        .chord(&[Key::Modifier(modifier), Key::Char('v')], ctx.scope)
        .map_err(|e| Trouble::Failed(e.into()))?;
    let wait = ctx.scope.within(PASTE_WAIT);
    while clipboard.times_read() <= reads {
        if let Err(e) = wait.sleep(Duration::from_millis(2), "waiting for the paste") {
            return match e {
                PlatformError::Cancelled => Err(Trouble::Failed(e.into())),
                _ => Ok(Verdict::Nothing { why: "nothing asked for the pasted text".into() }),
            };
        }
    }
    // The clipboard is put back only after the text has arrived: some applications ask twice, and a
    // clipboard manager may have asked first.
    if reader.can_read() {
        Ok(reader.arrived(ctx, job, Instant::now())?)
    } else {
        ctx.scope.sleep(PASTE_REST, "pasting")?;
        Ok(Verdict::Unread { why: "the text was handed over; the field cannot be read back".into() })
    }
}

/// Puts the clipboard back on every way out.
struct Restore<'c, 'a> {
    ctx: &'c Ctx<'a>,
    saved: SavedClipboard,
}

impl Drop for Restore<'_, '_> {
    fn drop(&mut self) {
        if let Err(e) = self.ctx.desktop.clipboard.restore(&self.saved, &Scope::timeout(RESTORE)) {
            self.ctx.notebook.note(&format!("the clipboard could not be put back: {e}"));
        }
    }
}
