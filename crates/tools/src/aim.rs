//! From a target to an element that is there now.

use std::time::Duration;

use deskhand_platform::{Element, ElementAction, Handle, Root, Tree, TreeQuery, Window, WindowId};
use deskhand_protocol::{
    Candidate, ElementRef, Error, ErrorCode, Point, Rect, Result, Role, Selector, Target,
};
use serde_json::json;

use crate::route::{blocking_modal, modal_blocking, window_json};
use crate::{Ctx, fingerprint, frontmost, select};

/// Bounds of the reading a selector is resolved in.
const MAX_NODES: u32 = 6000;
const MAX_DEPTH: u32 = 64;
const MAX_WALL: Duration = Duration::from_secs(4);
/// Edges this far apart in all are the same place: shadows and rounding.
const SAME_PLACE: u64 = 16;
/// How long a covered window may take to come to the front.
const RAISE: Duration = Duration::from_secs(2);
/// How many candidates are returned and kept when nothing else is asked for.
pub(crate) const CANDIDATES: usize = 10;
/// Labels in answers are short: text is read by `read_text` only.
pub(crate) const LABEL: usize = 80;

/// An element that was found and is there now.
pub(crate) struct Aim {
    /// The element as it is now.
    pub(crate) element: Element,
    /// The reference to it.
    pub(crate) reference: ElementRef,
    /// The window it lies in, when that can be told.
    pub(crate) window: Option<Window>,
}

impl Aim {
    /// role "label" for reports.
    pub(crate) fn words(&self) -> String {
        words(&self.element)
    }

    /// The platform's name of it.
    pub(crate) fn handle(&self) -> &Handle {
        &self.element.handle
    }

    /// An error when a modal dialog, its state or its place keeps it from being acted on.
    pub(crate) fn check_actionable(&self, ctx: &Ctx<'_>) -> Result<()> {
        if let Some(window) = &self.window
            && let Some(modal) = blocking_modal(window, &ctx.desktop.windows.list()?)
        {
            return Err(modal_blocking(window, modal));
        }
        if !self.element.states.enabled {
            return Err(not_actionable(&self.words(), "disabled"));
        }
        Ok(())
    }

    /// The point to act at by coordinates and the topmost window there; an error when the element
    /// does not show or something covers it.
    pub(crate) fn place(&self, ctx: &Ctx<'_>) -> Result<(Point, Option<WindowId>)> {
        let words = self.words();
        let mut rect = self.element.rect.filter(|r| !r.is_empty());
        let on_screen = |r: &deskhand_protocol::Rect| -> Result<bool> {
            Ok(ctx.desktop.screen.displays()?.iter().any(|d| d.bounds.contains(r.center())))
        };
        let hidden = match &rect {
            None => true,
            Some(r) => !self.element.states.showing || !on_screen(r)?,
        };
        if hidden {
            // Scrolled out of sight: ask the application to bring it in, once.
            let _ = ctx.desktop.elements.act(
                self.handle(),
                &ElementAction::ScrollTo,
                &ctx.scope.within(Duration::from_secs(1)),
            );
            let now = ctx.desktop.elements.read(self.handle(), ctx.scope)?;
            if !now.states.showing {
                return Err(not_actionable(&words, "it does not show"));
            }
            rect = now.rect.filter(|r| !r.is_empty());
        }
        let rect = rect.ok_or_else(|| not_actionable(&words, "it has no place on the screen"))?;
        let point = rect.center();
        if !on_screen(&rect)? {
            return Err(not_actionable(&words, "it lies outside the screen"));
        }
        let raise = !ctx.route.leaves_focus();
        let top = uncovered(ctx, &words, point, self.window.as_ref(), self.element.pid, raise)?;
        Ok((point, top))
    }
}

/// The topmost window at a point, when that is where `what` lies: `window` itself or an unmanaged
/// pop-up (a menu, a drop-down) of its process. Another window of the same program is as wrong a
/// place as any. With `raise`, a window that is covered is brought to the front once.
pub(crate) fn uncovered(
    ctx: &Ctx<'_>,
    what: &str,
    point: Point,
    window: Option<&Window>,
    pid: u32,
    raise: bool,
) -> Result<Option<WindowId>> {
    let ours = |top: &Window| match window {
        Some(window) => top.id == window.id || (top.title.is_empty() && top.pid.is_none_or(|p| p == pid)),
        None => top.pid.is_none_or(|p| p == pid),
    };
    let mut raise = window.filter(|_| raise);
    loop {
        let Some(top) = ctx.desktop.windows.at(point)? else { return Ok(None) };
        if ours(&top) {
            return Ok(Some(top.id));
        }
        let Some(window) = raise.take() else { return Err(covered(what, &top)) };
        match ctx.desktop.windows.activate(window.id, &ctx.scope.within(RAISE)) {
            Err(e @ deskhand_platform::PlatformError::Cancelled) => return Err(e.into()),
            // Whatever came of it: the second look tells.
            _ => ctx.scope.check("bringing the window to the front")?,
        }
    }
}

/// The error for a place another window lies over.
pub(crate) fn covered(what: &str, top: &Window) -> Error {
    not_actionable(what, &format!("covered by {:?} ({})", top.title, top.app))
        .detail("covering", window_json(top))
}

/// role "label".
pub(crate) fn words(e: &Element) -> String {
    format!("{} {:?}", e.role, label(e))
}

/// The name of an element or of what labels it, in short.
pub(crate) fn label(e: &Element) -> String {
    short(if e.name.is_empty() { &e.label } else { &e.name }, LABEL)
}

/// At most `most` characters, with an ellipsis when some are missing.
pub(crate) fn short(text: &str, most: usize) -> String {
    let text = text.trim_end();
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most - 1).chain(['…']).collect(),
    }
}

pub(crate) fn not_actionable(what: &str, reason: &str) -> Error {
    Error::new(ErrorCode::NotActionable, format!("{what} cannot be acted on: {reason}"))
        .detail("reason", reason)
}

/// Finds the element a target names, fresh and checked.
pub(crate) fn aim(ctx: &Ctx<'_>, target: &Target) -> Result<Aim> {
    let (element, reference, top) = match target {
        Target::ElementRef(reference) => {
            let (element, top) = check_fresh(ctx, reference).map_err(|e| modal_instead(ctx, reference, e))?;
            (element, reference.clone(), top)
        }
        Target::Selector(selector) => {
            let found = find(ctx, selector, true, CANDIDATES)?;
            let best = found.candidates.iter().find(|c| c.chosen);
            match best {
                Some(best) => {
                    let index = found.chosen.unwrap_or_default();
                    let tree = &found.snapshot.tree;
                    (tree.nodes[index].element.clone(), best.element.clone(), top_of(tree, index))
                }
                None => return Err(not_found(ctx, selector, &found)),
            }
        }
    };
    let window = window_of(ctx, &element, top.as_ref());
    if let Some(wanted) = &ctx.route.window {
        let other_app = wanted.pid.is_some_and(|pid| pid != element.pid);
        let other_window =
            window.as_ref().is_some_and(|w| w.id != wanted.id && w.transient_for != Some(wanted.id));
        if other_app || other_window {
            let place = window
                .as_ref()
                .map_or_else(|| format!("process {}", element.pid), |w| format!("{:?}", w.title));
            return Err(not_actionable(
                &words(&element),
                &format!("it lies in {place}, the call is routed to {:?}", wanted.title),
            )
            .hint("route the call to the window the element lies in"));
        }
    }
    Ok(Aim { element, reference, window })
}

/// The outcome of a search.
pub(crate) struct Found {
    /// The reading it was made in.
    pub(crate) snapshot: std::sync::Arc<crate::Snapshot>,
    /// Best first.
    pub(crate) candidates: Vec<Candidate>,
    /// Near misses, best first, when nothing fits.
    pub(crate) near_misses: Vec<Candidate>,
    /// The chosen one in the snapshot's tree.
    pub(crate) chosen: Option<usize>,
    /// How many fit in all.
    pub(crate) total: usize,
}

/// Elements that fit and near misses, in one reading.
pub(crate) struct Search {
    /// The reading.
    pub(crate) tree: Tree,
    /// Best first.
    pub(crate) hits: Vec<select::Scored>,
    /// Best first.
    pub(crate) misses: Vec<select::Scored>,
}

/// Searches without keeping anything: the routed window or app, else the app in front.
pub(crate) fn search(ctx: &Ctx<'_>, selector: &Selector, visible_only: bool) -> Result<Search> {
    let tree = read(ctx, root(ctx)?, visible_only)?;
    let (hits, misses) = select::select(&tree, selector)?;
    if let (Some(routed), true) = (&ctx.route.window, hits.is_empty())
        && let Some(found) = search_popups(ctx, selector, visible_only, routed)?
    {
        return Ok(found);
    }
    Ok(Search { tree, hits, misses })
}

/// Context menus and drop-downs of some toolkits are top-level parts of the application, not of the
/// window they belong to: what lies in no managed window, or in a dialog of the routed one, counts too.
fn search_popups(
    ctx: &Ctx<'_>,
    selector: &Selector,
    visible_only: bool,
    routed: &Window,
) -> Result<Option<Search>> {
    let Some(pid) = routed.pid else { return Ok(None) };
    let tree = match ctx.desktop.elements.tree(&query(Root::App(pid), visible_only), ctx.scope) {
        Ok(tree) => tree,
        Err(deskhand_platform::PlatformError::Cancelled) => {
            return Err(deskhand_platform::PlatformError::Cancelled.into());
        }
        Err(_) => return Ok(None),
    };
    let windows = ctx.desktop.windows.list()?;
    let ours = |index: usize| {
        let Some(top) = top_of(&tree, index) else { return true };
        let mut titled = windows
            .iter()
            .filter(|w| w.pid == Some(pid) && w.title.trim_end() == top.name.trim_end())
            .peekable();
        titled.peek().is_none() || titled.any(|w| w.id == routed.id || w.transient_for == Some(routed.id))
    };
    let (mut hits, misses) = select::select(&tree, selector)?;
    hits.retain(|s| ours(s.index));
    Ok((!hits.is_empty()).then_some(Search { tree, hits, misses }))
}

/// Searches, keeps the reading as a snapshot and the candidates (at most `limit`) as evidence.
pub(crate) fn find(ctx: &Ctx<'_>, selector: &Selector, visible_only: bool, limit: usize) -> Result<Found> {
    let Search { tree, hits, misses } = search(ctx, selector, visible_only)?;
    let snapshot = ctx.books.keep_tree(tree, visible_only);
    let list = |scored: &[select::Scored], choose: bool| -> Vec<Candidate> {
        scored
            .iter()
            .take(limit)
            .enumerate()
            .map(|(i, s)| {
                let e = &snapshot.tree.nodes[s.index].element;
                Candidate {
                    element: snapshot.element_ref(s.index),
                    role: e.role.as_str().to_owned(),
                    label: label(e),
                    score: (s.score * 1000.0).round() / 1000.0,
                    reasons: s.reasons.clone(),
                    chosen: choose && i == 0,
                }
            })
            .collect()
    };
    let candidates = list(&hits, true);
    let near_misses = if candidates.is_empty() { list(&misses, false) } else { Vec::new() };
    let kept = if candidates.is_empty() { &near_misses } else { &candidates };
    ctx.notebook.candidates(selector, kept);
    let chosen = hits.first().map(|s| s.index);
    Ok(Found { snapshot, candidates, near_misses, chosen, total: hits.len() })
}

/// The window with the focus; none also where there is no window manager to ask.
pub(crate) fn in_front(ctx: &Ctx<'_>) -> Result<Option<Window>> {
    match ctx.desktop.windows.active() {
        Err(deskhand_platform::PlatformError::Unsupported { .. }) => Ok(None),
        other => Ok(other?),
    }
}

/// Where a reading starts for this route.
pub(crate) fn root(ctx: &Ctx<'_>) -> Result<Root> {
    if let Some(window) = &ctx.route.window {
        // A dialog or menu of the app may hold what is looked for; a window that was named by the
        // caller limits the search to it.
        return Ok(Root::Window(window.id));
    }
    if let Some(pid) = ctx.route.pid {
        return Ok(Root::App(pid));
    }
    Ok(in_front(ctx)?.and_then(|w| w.pid).map_or(Root::Desktop, Root::App))
}

pub(crate) fn read(ctx: &Ctx<'_>, root: Root, visible_only: bool) -> Result<Tree> {
    Ok(ctx.desktop.elements.tree(&query(root, visible_only), ctx.scope)?)
}

fn query(root: Root, visible_only: bool) -> TreeQuery {
    TreeQuery {
        root,
        max_depth: MAX_DEPTH,
        max_nodes: MAX_NODES,
        max_wall: MAX_WALL,
        include_text: true,
        visible_only,
    }
}

/// The error for a selector nothing fits.
pub(crate) fn not_found(ctx: &Ctx<'_>, selector: &Selector, found: &Found) -> Error {
    let tree = &found.snapshot.tree;
    let wanted = serde_json::to_string(selector).unwrap_or_default();
    let base = if let Some(limit) = tree.limit {
        Error::new(
            ErrorCode::AxTraversalLimit,
            format!(
                "nothing fits {wanted} in the first {} elements; the reading stopped at its {limit:?} bound",
                tree.nodes.len()
            ),
        )
        .hint("route the call to one window, or use a smaller application view")
    } else {
        Error::new(
            ErrorCode::ElementNotFound,
            format!("nothing fits {wanted} among {} elements", tree.nodes.len()),
        )
    };
    base.detail("candidates", json!(found.near_misses)).detail("frontmost", frontmost(ctx.desktop))
}

/// The element a reference names, if it still is what it was.
/// (and the window-like element it lies in).
pub(crate) fn check_fresh(ctx: &Ctx<'_>, reference: &ElementRef) -> Result<(Element, Option<Element>)> {
    let snapshot = ctx.books.snapshot(&reference.snapshot_id)?;
    let stale = |why: &str| {
        Error::new(ErrorCode::StaleSnapshot, format!("element {} {why}", reference.element_id))
            .detail("elementId", reference.element_id.0.clone())
            .detail("snapshotId", reference.snapshot_id.0.clone())
            .detail("frontmost", frontmost(ctx.desktop))
    };
    let (index, node) =
        snapshot.node(&reference.element_id).ok_or_else(|| stale("is not part of that snapshot"))?;
    let then = fingerprint::of(&snapshot.tree, index);
    if then != reference.fingerprint {
        return Err(stale("does not have that fingerprint in its snapshot"));
    }
    let query = TreeQuery {
        root: Root::Element(node.element.handle.clone()),
        max_depth: fingerprint::DEPTH,
        max_nodes: fingerprint::NODES as u32 + 1,
        max_wall: Duration::from_secs(2),
        include_text: false,
        visible_only: snapshot.visible_only,
    };
    let now = match ctx.desktop.elements.tree(&query, ctx.scope) {
        Ok(tree) if tree.nodes.is_empty() => return Err(stale("is gone")),
        Ok(tree) => tree,
        Err(
            deskhand_platform::PlatformError::ElementGone { .. }
            | deskhand_platform::PlatformError::AppNotFound { .. },
        ) => {
            return Err(stale("is gone"));
        }
        Err(e) => return Err(e.into()),
    };
    let whole = snapshot.tree.limit.is_none();
    if !fingerprint::same(&then, &fingerprint::of(&now, 0), whole) {
        return Err(stale("has changed since the snapshot"));
    }
    let element = now.nodes.into_iter().next().map(|n| n.element).ok_or_else(|| stale("is gone"))?;
    if node.element.states.showing && !element.states.showing {
        return Err(stale("does not show any more"));
    }
    Ok((element, top_of(&snapshot.tree, index)))
}

/// An application busy with its own dialog may not answer; the dialog is what the caller must know of.
fn modal_instead(ctx: &Ctx<'_>, reference: &ElementRef, error: Error) -> Error {
    if !matches!(error.code, ErrorCode::AppUnresponsive | ErrorCode::Timeout) {
        return error;
    }
    let modal = || {
        let snapshot = ctx.books.snapshot(&reference.snapshot_id).ok()?;
        let (index, node) = snapshot.node(&reference.element_id)?;
        let window = window_of(ctx, &node.element, top_of(&snapshot.tree, index).as_ref())?;
        let all = ctx.desktop.windows.list().ok()?;
        blocking_modal(&window, &all).map(|modal| modal_blocking(&window, modal))
    };
    modal().unwrap_or(error)
}

/// The nearest window or dialog above an element.
fn top_of(tree: &Tree, index: usize) -> Option<Element> {
    let mut at = Some(index);
    while let Some(i) = at {
        let node = &tree.nodes[i];
        if matches!(node.element.role, Role::Window | Role::Dialog) {
            return Some(node.element.clone());
        }
        at = node.parent.map(|p| p as usize);
    }
    None
}

/// The window the element at `index` lies in.
pub(crate) fn owner(ctx: &Ctx<'_>, tree: &Tree, index: usize) -> Option<Window> {
    window_of(ctx, &tree.nodes[index].element, top_of(tree, index).as_ref())
}

/// How far the edges of two rectangles are apart, in all.
fn apart(a: &Rect, b: &Rect) -> u64 {
    let gap = |a: i32, b: i32| u64::from(a.abs_diff(b));
    gap(a.x, b.x) + gap(a.y, b.y) + gap(a.right(), b.right()) + gap(a.bottom(), b.bottom())
}

/// The window an element lies in. The tree says which one by title and place; without that, the
/// topmost window of its process around its middle.
fn window_of(ctx: &Ctx<'_>, element: &Element, top: Option<&Element>) -> Option<Window> {
    let all = ctx.desktop.windows.list().ok()?;
    let own = || all.iter().filter(|w| w.pid == Some(element.pid) && !w.minimized);
    if let Some(top) = top {
        let titled = || own().filter(|w| w.title.trim_end() == top.name.trim_end());
        if let Some(routed) = ctx.route.window.as_ref().filter(|r| titled().any(|w| w.id == r.id)) {
            return Some(routed.clone());
        }
        // Of several with one title, the one that lies where the tree says; topmost first.
        let far = |w: &&Window| top.rect.map_or(0, |r| apart(&r, &w.content).min(apart(&r, &w.bounds)));
        if let Some(window) = titled().min_by_key(far) {
            return Some(window.clone());
        }
        // Some programs give the window another name in the tree: its place tells too.
        if let Some(window) = own().min_by_key(far).filter(|w| top.rect.is_some() && far(w) <= SAME_PLACE) {
            return Some(window.clone());
        }
    }
    // A pop-up lies in no managed window; a route says whose it is.
    if let Some(window) = ctx.route.window.as_ref().filter(|w| w.pid == Some(element.pid)) {
        return Some(window.clone());
    }
    let middle = element.rect.map(|r| r.center());
    own().find(|w| middle.is_some_and(|m| w.bounds.contains(m))).or_else(|| own().next()).cloned()
}
