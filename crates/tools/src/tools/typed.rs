//! Whether typed text is there: the text before, the text after, and what lies between.

use std::time::{Duration, Instant};

use deskhand_platform::{Element, Mark, PlatformError, Root};
use deskhand_protocol::{Effect, EffectReport, Role};

use super::typing::{Job, paragraph, single_line};
use crate::{Ctx, aim};

/// Longest text that is compared.
const LIMIT: usize = 1 << 20;
/// Applications drain their queue late: as long as text keeps coming, it is waited for; this long
/// without any more means that it is over.
const QUIET: Duration = Duration::from_millis(1000);
/// Not longer than this in all.
const LONGEST: Duration = Duration::from_secs(20);
/// Between two looks, when no event comes.
const POLL: Duration = Duration::from_millis(25);

/// What can be said about typed text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is there, exactly.
    Exact { why: String },
    /// Something arrived, but not exactly this.
    Part { why: String },
    /// Nothing arrived.
    Nothing { why: String },
    /// Cannot be read.
    Unread { why: String },
    /// Enter or Tab in the text does things of its own; the host should look for changes.
    Look,
}

impl Verdict {
    /// As a report; `None` when the host should look.
    pub(crate) fn report(self) -> Option<EffectReport> {
        Some(match self {
            Self::Exact { why } => EffectReport::new(Effect::Confirmed, why),
            Self::Part { why } => EffectReport::new(Effect::Partial, why),
            Self::Nothing { why } => EffectReport::new(Effect::SuspectedNoop, why),
            Self::Unread { why } => EffectReport::new(Effect::Unverifiable, why),
            Self::Look => return None,
        })
    }
}

/// Reads an element's text before and after.
pub(crate) struct Reader {
    before: Option<String>,
    why_not: &'static str,
    mark: Option<Mark>,
}

impl Reader {
    /// Reads the text as it is now. Secrets are never read.
    pub(crate) fn new(ctx: &Ctx<'_>, job: &Job<'_>) -> Self {
        let mark = ctx.desktop.elements.mark().ok();
        let no = |why_not| Self { before: None, why_not, mark };
        match job.element {
            None => no("nothing that can be read has the focus"),
            Some(e) if e.secure => no("password fields are never read"),
            Some(_) if !ctx.verify => no("verify is off"),
            Some(e) if !e.has_text => no("the field does not give its text"),
            Some(e) => match text(ctx, e) {
                Some(before) => Self { before: Some(before), why_not: "", mark },
                None => no("the field's text cannot be read or is longer than 1 MiB"),
            },
        }
    }

    pub(crate) fn can_read(&self) -> bool {
        self.before.is_some()
    }

    /// Waits for the text to arrive and compares.
    pub(crate) fn arrived(
        &self,
        ctx: &Ctx<'_>,
        job: &Job<'_>,
        since: Instant,
    ) -> Result<Verdict, PlatformError> {
        let (Some(before), Some(element)) = (&self.before, job.element) else {
            return Ok(if job.element.is_some_and(|e| e.secure) || !ctx.verify {
                Verdict::Unread { why: self.why_not.to_owned() }
            } else {
                Verdict::Look
            });
        };
        if job.text.contains(['\n', '\t']) && single_line(element) {
            return Ok(Verdict::Look);
        }
        if element.role == Role::Cell {
            return self.in_cell(ctx, job, before, element);
        }
        let total = job.text.chars().count();
        let mut mark = self.mark;
        let (mut last, mut moved) = (before.clone(), Instant::now());
        loop {
            let after = match text(ctx, element) {
                Some(after) => after,
                None => {
                    ctx.scope.check("reading the text back")?;
                    return Ok(Verdict::Look);
                }
            };
            if inserted(before, &after, job.text) {
                return Ok(Verdict::Exact { why: format!("read back: all {total} characters are there") });
            }
            if let Some(verdict) = in_paragraphs(ctx, job, element, &after) {
                return Ok(verdict);
            }
            if after != last {
                (last, moved) = (after, Instant::now());
            }
            if moved.elapsed() >= QUIET || since.elapsed() >= LONGEST {
                return Ok(compare(before, &last, total));
            }
            mark = self.pause(ctx, mark, element.pid)?;
        }
    }

    /// Text typed on a cell goes into an editor that opens over it, and into the cell only with Enter.
    fn in_cell(
        &self,
        ctx: &Ctx<'_>,
        job: &Job<'_>,
        before: &str,
        cell: &Element,
    ) -> Result<Verdict, PlatformError> {
        if job.text.contains(['\n', '\t']) {
            return Ok(Verdict::Look);
        }
        let total = job.text.chars().count();
        let wait = ctx.scope.within(QUIET);
        let mut mark = self.mark;
        while !wait.remaining().is_zero() {
            if text(ctx, cell).is_some_and(|after| inserted(before, &after, job.text)) {
                return Ok(Verdict::Exact { why: format!("read back: all {total} characters are there") });
            }
            let editor = ctx.desktop.elements.focused(&wait).ok().flatten();
            let editor =
                editor.filter(|e| e.handle != cell.handle && e.pid == cell.pid && e.has_text && !e.secure);
            if editor.is_some_and(|e| text(ctx, &e).is_some_and(|t| t.contains(job.text))) {
                return Ok(Verdict::Exact {
                    why: format!("read back: all {total} characters are in the cell's editor"),
                });
            }
            mark = self.pause(ctx, mark, cell.pid)?;
        }
        Ok(Verdict::Look)
    }

    /// Until the next event of the application, or a short while.
    fn pause(&self, ctx: &Ctx<'_>, mark: Option<Mark>, pid: u32) -> Result<Option<Mark>, PlatformError> {
        ctx.scope.check("waiting for the text to arrive")?;
        let Some(since) = mark else {
            ctx.scope.sleep(POLL, "waiting for the text to arrive")?;
            return Ok(None);
        };
        match ctx.desktop.elements.wait_event(since, Some(pid), &ctx.scope.within(POLL)) {
            // One event per character would mean one reading per character.
            Ok(Some(event)) => {
                ctx.scope.sleep(Duration::from_millis(3), "waiting for the text to arrive")?;
                Ok(Some(ctx.desktop.elements.mark().unwrap_or(event.mark)))
            }
            Ok(None) => Ok(mark),
            Err(PlatformError::Cancelled) => Err(PlatformError::Cancelled),
            Err(_) => Ok(None),
        }
    }
}

/// The whole text, or `None` when it cannot be read or is too long.
fn text(ctx: &Ctx<'_>, element: &Element) -> Option<String> {
    let read = ctx.desktop.elements.text(&element.handle, LIMIT, ctx.scope).ok()?;
    (!read.truncated).then_some(read.text)
}

/// Several lines in a text whose paragraphs are elements of their own: the first line is in the
/// element, the last one where the focus is now, the others in between.
fn in_paragraphs(ctx: &Ctx<'_>, job: &Job<'_>, element: &Element, first: &str) -> Option<Verdict> {
    let (start, _) = job.text.split_once('\n').filter(|_| paragraph(element))?;
    let end = job.text.rsplit('\n').next().unwrap_or_default();
    let now = ctx.desktop.elements.focused(ctx.scope).ok().flatten()?;
    if !first.ends_with(start) || now.handle == element.handle || !text(ctx, &now)?.starts_with(end) {
        return None;
    }
    Some(if in_document(ctx, job.text) {
        Verdict::Exact {
            why: format!("read back: all {} characters are in the document", job.text.chars().count()),
        }
    } else {
        Verdict::Unread {
            why: "read back: the first and the last line are there; those between cannot be read".to_owned(),
        }
    })
}

/// Whether the paragraphs of the document in front hold the text, one line each.
fn in_document(ctx: &Ctx<'_>, wanted: &str) -> bool {
    let Ok(Some(window)) = ctx.desktop.windows.active() else { return false };
    let Ok(tree) = aim::read(ctx, Root::Window(window.id), false) else { return false };
    let lines: Vec<&str> = tree
        .nodes
        .iter()
        .filter(|n| paragraph(&n.element))
        .map(|n| n.element.value.as_deref().unwrap_or(""))
        .collect();
    lines.join("\n").contains(wanted)
}

fn compare(before: &str, after: &str, total: usize) -> Verdict {
    if before == after {
        return Verdict::Nothing { why: format!("read back: none of {total} characters is there") };
    }
    let grown = after.chars().count().saturating_sub(before.chars().count()).min(total);
    Verdict::Part {
        why: format!("read back: the text grew by {grown} of {total} characters, or was changed on the way"),
    }
}

/// Whether `after` is `before` with `text` put in somewhere (over a selection, or over nothing).
pub(crate) fn inserted(before: &str, after: &str, text: &str) -> bool {
    // Editors of web pages keep spaces as non-breaking ones.
    let plain = |s: &str| s.replace('\u{a0}', " ");
    let (before, after, text) = (plain(before), plain(after), plain(text));
    let (b, a, t) = (before.as_bytes(), after.as_bytes(), text.as_bytes());
    if a.len() < t.len() {
        return false;
    }
    let ahead = b.iter().zip(a).take_while(|(x, y)| x == y).count();
    let behind = b.iter().rev().zip(a.iter().rev()).take_while(|(x, y)| x == y).count();
    // The part after the text must end `before` as well, so it cannot be longer than what is shared.
    let first = (a.len() - t.len()).saturating_sub(behind);
    let last = ahead.min(a.len() - t.len());
    (first..=last).any(|at| {
        let tail = a.len() - t.len() - at;
        at + tail <= b.len() && a[at..at + t.len()] == *t
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inserted_knows_where() {
        let cases = [
            ("", "abc", "abc", true),
            ("xab", "xababa", "aba", true),
            ("hello world", "hello big world", "big ", true),
            ("hello world", "hello there", "there", true),
            ("old", "new", "new", true),
            ("aaaa", "aaaaa", "a", true),
            ("", "ab", "abc", false),
            ("abc", "abc", "x", false),
            ("abc", "abcx y", "xy", false),
            ("old", "oldnewer", "new", false),
            ("", "a b", "a\u{a0}b", true),
            ("", "中文😀", "中文😀", true),
            ("中", "中文😀", "文😀", true),
            ("abc", "zzabcx", "x", false),
        ];
        for (before, after, text, want) in cases {
            assert_eq!(inserted(before, after, text), want, "{before:?} {after:?} {text:?}");
        }
    }

    #[test]
    fn what_did_not_arrive_is_counted() {
        assert!(matches!(compare("a", "a", 3), Verdict::Nothing { .. }));
        let Verdict::Part { why } = compare("a", "axy", 3) else { panic!("not a part") };
        assert!(why.contains("2 of 3"), "{why}");
    }
}
