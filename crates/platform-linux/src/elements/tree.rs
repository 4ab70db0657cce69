//! From a query to a tree: which application, which window, which part.

use std::sync::Arc;
use std::time::{Duration, Instant};

use atspi::Role as Native;
use deskhand_platform::{
    Element, Limit, Node, PlatformError, Result, Root, Scope, Tree, TreeQuery, WindowId,
};
use deskhand_protocol::{Rect, Role};

use super::app::App;
use super::bus::{AxBus, patience};
use super::live;
use super::model::{Model, Place};
use super::{handle, ident, names, read, value};
use crate::lookup::WindowLookup;

/// How long an application may take for its first answer, when it was asked for.
const HELLO: Duration = Duration::from_millis(2500);
/// And when it is one of many.
const HELLO_OF_MANY: Duration = Duration::from_millis(450);
/// And when it did not answer a moment ago.
const HELLO_AGAIN: Duration = Duration::from_millis(800);
/// Applications read side by side.
const SIDE_BY_SIDE: usize = 8;

/// What a part of a tree came from.
pub(super) struct Part {
    pub(super) nodes: Vec<Node>,
    pub(super) limit: Option<Limit>,
    pub(super) how: &'static str,
}

/// How long to wait for the first answer of `app`.
pub(super) fn hello(app: &App) -> Duration {
    if app.is_frozen() { HELLO_AGAIN } else { HELLO }
}

/// Reads what a query asks for.
pub(super) fn tree(
    bus: &AxBus,
    windows: &dyn WindowLookup,
    query: &TreeQuery,
    scope: &Scope,
) -> Result<Tree> {
    let started = Instant::now();
    scope.check("reading the accessibility tree")?;
    let ask = patience(scope, HELLO);
    let part = match &query.root {
        Root::Desktop => return desktop(bus, windows, query, scope, started),
        Root::App(pid) => {
            let app = bus.app_of_pid(*pid, &ask)?;
            one(&app, bus, windows, query, None, hello(&app), scope)?
        }
        Root::Window(id) => {
            let Some((pid, rect, title)) = windows.window(*id) else {
                return Err(PlatformError::WindowNotFound { what: format!("{:#x}", id.0) });
            };
            let app = bus.app_of_pid(pid, &ask)?;
            one(&app, bus, windows, query, Some(Start::Window(*id, rect, &title)), hello(&app), scope)?
        }
        Root::Element(h) => {
            let (name, path) = handle::split(h)?;
            let app = bus.app_of_name(name, &ask)?;
            one(&app, bus, windows, query, Some(Start::Path(path)), hello(&app), scope)?
        }
    };
    let how = part.how.to_owned();
    Ok(Tree {
        nodes: part.nodes,
        limit: part.limit,
        unresponsive: Vec::new(),
        started,
        ended: Instant::now(),
        how,
    })
}

/// Where in an application a reading starts.
#[derive(Clone, Copy)]
pub(super) enum Start<'a> {
    Window(WindowId, Rect, &'a str),
    Path(&'a str),
}

/// Reads one application.
pub(super) fn one(
    app: &App,
    bus: &AxBus,
    windows: &dyn WindowLookup,
    query: &TreeQuery,
    start: Option<Start<'_>>,
    hello: Duration,
    scope: &Scope,
) -> Result<Part> {
    let whole = live::whole(query, scope);
    let path = if let Some(Start::Path(path)) = start { Some(path) } else { None };
    let (mut guard, source) = live::fresh(app, bus, query, hello, path, &whole, scope)?;
    let Some(model) = guard.as_mut() else {
        return Ok(Part { nodes: Vec::new(), limit: Some(Limit::WallTime), how: "nothing" });
    };
    if model.items.is_empty() {
        return Ok(Part { nodes: Vec::new(), limit: Some(Limit::WallTime), how: model.how });
    }
    let frames = model.frames().to_vec();
    let unknown: Vec<u32> = frames.into_iter().filter(|f| model.item(*f).place == Place::Unknown).collect();
    read::extents(&source, model, &unknown)?;
    if model.gtk4 {
        place_windows(model, &windows.windows_of(app.pid));
    }
    place_panes(&source, model)?;
    let first = match start {
        None => model.root,
        Some(Start::Path(path)) => *model
            .by_path
            .get(path)
            .ok_or_else(|| PlatformError::ElementGone { what: format!("{path} of {}", app.label()) })?,
        Some(Start::Window(id, rect, title)) => {
            frame_of(model, rect, title).ok_or_else(|| PlatformError::Unsupported {
                what: format!("the accessibility tree of window {:#x} {title:?}", id.0),
                why: format!("{} tells of no such window on the accessibility bus", app.label()),
            })?
        }
    };
    if model.gtk4 && query.visible_only {
        // Here the places tell what shows.
        let all: Vec<u32> =
            (0..model.items.len() as u32).filter(|i| model.item(*i).place == Place::Unknown).collect();
        read::extents(&source, model, &all)?;
    }
    let (chosen, mut limit) = model.choose(first, query);
    let unknown: Vec<u32> =
        chosen.iter().map(|c| c.item).filter(|i| model.item(*i).place == Place::Unknown).collect();
    let mut whole_read = read::extents(&source, model, &unknown)?;
    if whole_read {
        let ids: Vec<u32> = chosen.iter().map(|c| c.item).collect();
        whole_read = value::values(&source, model, &ids, query.include_text)?;
        if whole_read && query.include_text && app.facts(bus, source.patience).pages {
            whole_read = ident::identifiers(&source, model, &ids)?;
        }
    }
    let nodes = chosen
        .iter()
        .map(|c| Node {
            element: model.element(c.item, app),
            parent: c.parent,
            index: c.index,
            depth: c.depth,
        })
        .collect();
    if !whole_read {
        limit = Some(Limit::WallTime);
    }
    // The model's own limit matters where the query's did not cut anyway.
    Ok(Part { nodes, limit: limit.or(model.limit), how: model.how })
}

/// Titles as people compare them.
fn plain(title: &str) -> String {
    title.trim().replace('…', "...").to_lowercase()
}

fn distance(a: &Rect, b: &Rect) -> i64 {
    [(a.x, b.x), (a.y, b.y), (a.right(), b.right()), (a.bottom(), b.bottom())]
        .iter()
        .map(|(p, q)| (i64::from(*p) - i64::from(*q)).abs())
        .sum()
}

/// The top-level item that is a window of the window system: by title, then by place.
fn frame_of(model: &Model, rect: Rect, title: &str) -> Option<u32> {
    let title = plain(title);
    let fits = |i: &u32| {
        let item = model.item(*i);
        let named = plain(&item.name) == title;
        let far = model.rect(*i).map_or(i64::MAX, |r| distance(&r, &rect));
        (if named { 0 } else { 1 }, if model.shows(item) { 0 } else { 1 }, far)
    };
    let frames = model.frames();
    let best = frames.iter().copied().min_by_key(fits)?;
    let (unnamed, _, far) = fits(&best);
    // Another title and another place: some other window, unless there is only this one.
    (unnamed == 0 || far <= 400 || frames.len() == 1).then_some(best)
}

/// Finds where the windows of a GTK 4 application are: their elements say where they are inside them.
fn place_windows(model: &mut Model, windows: &[(WindowId, Rect, String)]) {
    model.offsets.clear();
    let mut free: Vec<&(WindowId, Rect, String)> = windows.iter().collect();
    for frame in model.frames().to_vec() {
        let (name, size) = (plain(&model.item(frame).name), model.item(frame).place);
        let key = |w: &&(WindowId, Rect, String)| {
            let near = match size {
                Place::At(r) => (r.width - w.1.width).abs() + (r.height - w.1.height).abs(),
                _ => 0,
            };
            (plain(&w.2) != name, near)
        };
        let Some(at) = (0..free.len()).min_by_key(|i| key(&free[*i])) else { break };
        let window = free.remove(at);
        let inside = match size {
            Place::At(r) => (r.x, r.y),
            _ => (0, 0),
        };
        // The frame itself lies in the middle of what its shadow leaves of the window.
        let (dx, dy) = match size {
            Place::At(r) => ((window.1.width - r.width) / 2, (window.1.height - r.height) / 2),
            _ => (0, 0),
        };
        model.offsets.insert(frame, (window.1.x + dx - inside.0, window.1.y + dy - inside.1));
    }
}

/// LibreOffice says where its part of a window is as if no menu bar lay above it, until the pointer has
/// been in it. The panel around that part tells the truth.
fn place_panes(source: &read::Source<'_>, model: &mut Model) -> Result<()> {
    let panes: Vec<(u32, u32)> = (0..model.items.len() as u32)
        .filter(|i| model.item(*i).role == Native::RootPane as u32)
        .filter_map(|i| Some((i, model.item(i).parent?)))
        .collect();
    for (pane, panel) in panes {
        let before = model.item(pane).place;
        read::extents(source, model, &[panel, pane])?;
        if before != Place::Unknown && before != model.item(pane).place {
            // Everything inside was told relative to that.
            let mut below = model.item(pane).children.clone();
            while let Some(i) = below.pop() {
                model.item_mut(i).place = Place::Unknown;
                below.extend(model.item(i).children.iter().copied());
            }
        }
        match (model.item(panel).place, model.item(pane).place) {
            (Place::At(out), Place::At(own))
                if (out.width, out.height) == (own.width, own.height) && out != own =>
            {
                model.offsets.insert(pane, (out.x - own.x, out.y - own.y));
            }
            _ => {
                model.offsets.remove(&pane);
            }
        }
    }
    Ok(())
}

fn desktop(
    bus: &AxBus,
    windows: &dyn WindowLookup,
    query: &TreeQuery,
    scope: &Scope,
    started: Instant,
) -> Result<Tree> {
    let apps = bus.apps(&patience(scope, HELLO))?;
    let mut parts: Vec<Option<Result<Part>>> = Vec::new();
    let mut unresponsive = Vec::new();
    let (asked, skipped): (Vec<_>, Vec<_>) = apps.into_iter().partition(|a| !a.is_frozen());
    unresponsive.extend(skipped.iter().map(|a| a.label()));
    // Room for the desktop above them.
    let below = TreeQuery {
        max_depth: query.max_depth.saturating_sub(1),
        max_nodes: query.max_nodes.saturating_sub(1),
        ..query.clone()
    };
    for group in asked.chunks(SIDE_BY_SIDE) {
        std::thread::scope(|s| {
            let threads: Vec<_> = group
                .iter()
                .map(|a| s.spawn(|| one(a, bus, windows, &below, None, HELLO_OF_MANY, scope)))
                .collect();
            parts.extend(threads.into_iter().map(|t| t.join().ok()));
        });
    }
    let mut nodes = vec![Node { element: desktop_element(), parent: None, index: 0, depth: 0 }];
    let mut limit = None;
    if query.max_depth == 0 {
        (parts, limit) = (Vec::new(), (!asked.is_empty()).then_some(Limit::Depth));
    }
    for (index, (app, part)) in asked.iter().zip(parts).enumerate() {
        match part {
            Some(Ok(part)) => {
                let room = (query.max_nodes as usize).saturating_sub(nodes.len());
                limit = limit.or(part.limit);
                if part.nodes.len() > room {
                    limit = Some(Limit::Nodes);
                }
                let base = nodes.len() as u32;
                nodes.extend(part.nodes.into_iter().take(room).map(|mut n| {
                    n.index = if n.parent.is_none() { index as u32 } else { n.index };
                    n.parent = Some(n.parent.map_or(0, |p| p + base));
                    n.depth += 1;
                    n
                }));
            }
            Some(Err(e @ (PlatformError::Cancelled | PlatformError::AxUnavailable { .. }))) => return Err(e),
            Some(Err(PlatformError::AppUnresponsive { .. } | PlatformError::Timeout { .. })) | None => {
                unresponsive.push(app.label());
            }
            // It ended meanwhile.
            Some(Err(_)) => {}
        }
    }
    nodes.truncate(query.max_nodes as usize);
    Ok(Tree { nodes, limit, unresponsive, started, ended: Instant::now(), how: "desktop".into() })
}

/// The desktop itself, above the applications.
fn desktop_element() -> Element {
    Element {
        handle: handle::make("org.a11y.atspi.Registry", names::ROOT),
        role: Role::Group,
        native_role: "desktop frame".into(),
        name: "desktop".into(),
        description: String::new(),
        label: String::new(),
        identifier: String::new(),
        rect: None,
        states: names::states(0, false),
        actions: Vec::new(),
        value: None,
        has_text: false,
        editable_text: false,
        secure: false,
        pid: 0,
    }
}

/// The application of a handle, with its path.
pub(super) fn app_of<'h>(
    bus: &AxBus,
    handle: &'h deskhand_platform::Handle,
    scope: &Scope,
) -> Result<(Arc<App>, &'h str)> {
    let (name, path) = handle::split(handle)?;
    let app = bus.app_of_name(name, &patience(scope, HELLO))?;
    Ok((app, path))
}
