//! Keeping a tree good: what events told is read again, and a few places are checked on every reading.
//!
//! Only applications that speak through ATK (GTK 3, LibreOffice, Chromium: those with a socket of their
//! own) tell enough to keep their tree. Qt 5 and GTK 4 are read anew each time.

use std::sync::MutexGuard;
use std::time::{Duration, Instant};

use atspi::State;
use deskhand_platform::{PlatformError, Result, Scope, TreeQuery};
use deskhand_protocol::Role;

use super::app::App;
use super::bus::{AxBus, patience};
use super::conn::{Patience, lock};
use super::events::Notes;
use super::model::{Model, Place};
use super::names::{self, COMPONENT, iface};
use super::read::{self, SCREEN, SILENCE, Source, place};
use super::walk;
use super::wire::Args;

/// A tree older than this is read anew, whatever the events said.
const MAX_AGE: Duration = Duration::from_secs(30);
/// Places checked on every reading.
const WATCHED: usize = 128;
/// Removed items after which the tree is read anew.
const MAX_REMOVED: usize = 1000;

/// Locks the model, for no longer than the scope allows.
fn lock_model<'a>(app: &'a App, patience: &Patience) -> Result<MutexGuard<'a, Option<Model>>> {
    loop {
        match app.model.try_lock() {
            Ok(guard) => return Ok(guard),
            Err(std::sync::TryLockError::Poisoned(p)) => return Ok(p.into_inner()),
            Err(std::sync::TryLockError::WouldBlock) => {}
        }
        if patience.cancel.is_cancelled() {
            return Err(PlatformError::Cancelled);
        }
        if Instant::now() >= patience.deadline {
            return Err(PlatformError::Timeout {
                doing: format!("waiting for another reading of {}", app.label()),
            });
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A tree that is true now, and the source to read more of it. `hello` is how long the application
/// may take for its first answer. `start` is an element to start from.
pub(super) fn fresh<'a>(
    app: &'a App,
    bus: &'a AxBus,
    query: &TreeQuery,
    hello: Duration,
    start: Option<&str>,
    whole: &'a Patience,
    scope: &Scope,
) -> Result<(MutexGuard<'a, Option<Model>>, Source<'a>)> {
    let mut guard = lock_model(app, whole)?;
    app.ping(bus, &patience(scope, hello))?;
    let facts = app.facts(bus, whole);
    let link = app.link(bus, whole);
    let live = link.is_peer();
    let source = Source {
        app,
        bus,
        link,
        patience: whole,
        // What is kept must be whole; what is read for one query need not be.
        max_nodes: if live { 200_000 } else { query.max_nodes as usize },
        max_depth: if live { 1000 } else { query.max_depth },
    };
    // Taken before reading: what comes in meanwhile is for the next time.
    let notes = std::mem::take(&mut *lock(&app.notes));
    let kept = guard.take().filter(|m| live && good_for_more(m, &notes));
    let model = match kept {
        Some(model) => refresh(&source, model, &notes)?,
        None => None,
    };
    *guard = Some(match model {
        Some(model) => model,
        None => {
            let start = start.filter(|s| !live && !facts.gtk4 && *s != app.root);
            read::build(&source, facts.gtk4, start)?
        }
    });
    Ok((guard, source))
}

fn good_for_more(model: &Model, notes: &Notes) -> bool {
    // What moved in a sheet may have brought other cells to sight.
    let stale = notes.all || (notes.moved && model.has_sheet);
    !stale && model.limit.is_none() && model.built.elapsed() < MAX_AGE && model.removed < MAX_REMOVED
}

/// Brings a tree up to date; `None` when it must be read anew.
fn refresh(source: &Source<'_>, mut model: Model, notes: &Notes) -> Result<Option<Model>> {
    model.how = "cache";
    if !notes.children.is_empty() {
        let parents: Vec<u32> = notes.children.iter().filter_map(|p| model.by_path.get(p).copied()).collect();
        // A window came or went; or something below an element that was missed (LibreOffice gives some
        // elements a new name each time they are asked for).
        if parents.contains(&model.root) || parents.len() < notes.children.len() {
            return Ok(None);
        }
        children_again(source, &mut model, &parents)?;
        model.how = "cache+children";
    }
    let mut touched: Vec<u32> = notes.items.iter().filter_map(|p| model.by_path.get(p).copied()).collect();
    if !touched.is_empty() {
        touched.sort_unstable();
        for i in &touched {
            model.item_mut(*i).value = None;
            model.item_mut(*i).place = Place::Unknown;
        }
        if !walk::describe(source, &mut model, &touched)?
            || touched.iter().any(|i| model.item(*i).is(State::Defunct))
        {
            return Ok(None);
        }
    }
    if notes.moved {
        for item in &mut model.items {
            item.place = Place::Unknown;
        }
    }
    Ok(still_there(source, &mut model)?.then_some(model))
}

/// Reads the children of some items again, keeps those that stay.
fn children_again(source: &Source<'_>, model: &mut Model, parents: &[u32]) -> Result<()> {
    let old: Vec<(u32, Vec<u32>)> = parents.iter().map(|p| (*p, model.item(*p).children.clone())).collect();
    walk::describe(source, model, parents)?;
    let level = parents.iter().map(|p| (*p, model.depth(*p))).collect();
    walk::walk(source, model, level)?;
    for (parent, before) in old {
        let now = model.item(parent).children.clone();
        for gone in before.into_iter().filter(|c| !now.contains(c)) {
            if model.item(gone).parent == Some(parent) {
                model.remove(gone);
            }
        }
    }
    Ok(())
}

/// Whether elements are where they were. Scrolling and layout move many at once, and not every toolkit
/// tells. All that show are checked when they are few; else windows, documents, lists and other holders,
/// and a sample of the rest: another one each time, so that what reads go on missing is found in the end.
fn still_there(source: &Source<'_>, model: &mut Model) -> Result<bool> {
    let known = |i: &u32| {
        let item = model.item(*i);
        matches!(item.place, Place::At(_)) && item.can(iface::COMPONENT) && !item.path.is_empty()
    };
    let shows = |i: &u32| known(i) && model.item(*i).is(State::Showing);
    let mut watched: Vec<u32> = (0..model.items.len() as u32).filter(shows).collect();
    if watched.len() > WATCHED {
        let holder = |i: &u32| {
            let item = model.item(*i);
            use Role::{Dialog, Document, List, ScrollArea, Table, TextArea, ToolBar, Tree, Window};
            let role = names::role(item.role, item.states);
            matches!(role, Window | Dialog | Document | ScrollArea | List | Tree | Table | TextArea | ToolBar)
        };
        let (mut holders, rest): (Vec<u32>, Vec<u32>) = watched.into_iter().partition(holder);
        holders.truncate(WATCHED / 2);
        let step = rest.len().div_ceil(WATCHED - holders.len()).max(1);
        let first = model.checks % step;
        holders.extend(rest.into_iter().skip(first).step_by(step));
        watched = holders;
    }
    model.checks = model.checks.wrapping_add(1);
    let calls = watched
        .iter()
        .map(|i| source.call(&model.item(*i).path, COMPONENT, "GetExtents", Args::default().u32(SCREEN)));
    let (replies, ended) = source.batch(calls);
    if ended != super::conn::Ended::Complete {
        return Err(source.app.error(ended, "checking its accessibility tree"));
    }
    Ok(watched.iter().zip(&replies).all(|(i, r)| place(r.as_ref()) == model.item(*i).place))
}

/// How long a whole reading may take.
pub(super) fn whole(query: &TreeQuery, scope: &Scope) -> Patience {
    Patience { silence: SILENCE, ..patience(scope, query.max_wall) }
}
