//! Walking: for applications without a cache to ask, and for what is missing from it.

use std::collections::HashSet;

use atspi::{Role as Native, State};
use deskhand_platform::{Limit, Result};

use super::conn::Reply;
use super::model::{Item, Model};
use super::names::{ACCESSIBLE, COMPONENT, NULL, TABLE, iface, iface_bit};
use super::read::{MAX_CHILDREN, SCREEN, Source, children_call, int, place, references, state_bits, text};
use super::wire::{Args, Call};

/// Cells read of a sheet at most.
const MAX_CELLS: i64 = 2048;
/// Ancestors looked at before an item is moved.
const MAX_ABOVE: u32 = 1000;

/// Asks what items are. False when a bound was hit.
pub(super) fn describe(source: &Source<'_>, model: &mut Model, which: &[u32]) -> Result<bool> {
    let paths: Vec<(u32, String)> = which.iter().map(|i| (*i, model.item(*i).path.clone())).collect();
    const EACH: usize = 6;
    let calls: Vec<Call<'_>> = paths
        .iter()
        .flat_map(|(_, p)| {
            [
                source.call(p, ACCESSIBLE, "GetRole", Args::default()),
                source.call(p, ACCESSIBLE, "GetState", Args::default()),
                source.call(p, ACCESSIBLE, "GetInterfaces", Args::default()),
                source.property(p, ACCESSIBLE, "Name"),
                source.property(p, ACCESSIBLE, "Description"),
                source.property(p, ACCESSIBLE, "ChildCount"),
            ]
        })
        .collect();
    let (replies, ended) = source.batch(calls.iter().cloned());
    for ((i, _), r) in paths.iter().zip(replies.chunks(EACH)) {
        let item = model.item_mut(*i);
        if let Some(mut r) = r[0].as_ref().and_then(Reply::ok) {
            item.role = r.u32();
        } else {
            // It went away between its parent's answer and its own.
            item.states |= super::names::bit(State::Defunct);
            continue;
        }
        item.states = r[1].as_ref().and_then(Reply::ok).map(|mut r| state_bits(&mut r)).unwrap_or_default();
        item.ifaces = 0;
        if let Some(mut r) = r[2].as_ref().and_then(Reply::ok) {
            r.array(4, |r| item.ifaces |= iface_bit(r.str()));
        }
        item.name = text(r[3].as_ref()).unwrap_or_default();
        item.description = text(r[4].as_ref()).unwrap_or_default();
        // Some toolkits do not tell; then their children are asked for.
        item.child_count = int(r[5].as_ref()).map_or(-1, |n| n.clamp(-1, i64::from(i32::MAX)) as i32);
    }
    source.settle(model, ended)
}

/// Walks from every item that has fewer children in the model than it says.
pub(super) fn complete(source: &Source<'_>, model: &mut Model) -> Result<()> {
    let (mut counted, mut walked) = (HashSet::new(), HashSet::new());
    loop {
        let (mut uncounted, mut short) = (Vec::new(), Vec::new());
        let mut stack = vec![(model.root, 0)];
        while let Some((i, depth)) = stack.pop() {
            let item = model.item(i);
            let known = item.children.len() as i64;
            if item.child_count < 0 && known == 0 && counted.insert(i) {
                uncounted.push(i);
            } else if i64::from(item.child_count) > known && walked.insert(i) {
                short.push((i, depth));
            }
            stack.extend(item.children.iter().map(|c| (*c, depth + 1)));
        }
        if uncounted.is_empty() && short.is_empty() {
            return Ok(());
        }
        // GetItems does not count the children of menus and tables.
        if !describe(source, model, &uncounted)? {
            return Ok(());
        }
        // What is found may be known already and lack children of its own: look again after it.
        walk(source, model, short)?;
        if model.limit.is_some() {
            return Ok(());
        }
        if model.how == "get_items" {
            model.how = "get_items+walk";
        }
    }
}

/// Reads the children of items, then theirs, level by level, each level in one batch.
pub(super) fn walk(source: &Source<'_>, model: &mut Model, mut level: Vec<(u32, u32)>) -> Result<()> {
    while !level.is_empty() {
        let before = level.len();
        level.retain(|(_, depth)| *depth < source.max_depth);
        if level.len() < before {
            model.limit = model.limit.or(Some(Limit::Depth));
        }
        let (large, small): (Vec<_>, Vec<_>) =
            level.into_iter().partition(|(i, _)| model.item(*i).child_count > MAX_CHILDREN);
        let mut lists: Vec<(u32, u32, Vec<String>)> = Vec::new();
        let paths: Vec<String> = small.iter().map(|(i, _)| model.item(*i).path.clone()).collect();
        let (replies, ended) = source.batch(paths.iter().map(|p| children_call(source, p)));
        for ((i, depth), reply) in small.iter().zip(&replies) {
            if let Some(reply) = reply {
                lists.push((*i, *depth, references(reply, &source.app.bus)));
            }
        }
        if !source.settle(model, ended)? {
            return Ok(());
        }
        let mut sheets = HashSet::new();
        for (i, depth) in large {
            lists.push((i, depth, visible_cells(source, model, i)?));
            model.has_sheet = true;
            sheets.insert(i);
        }
        let mut new = Vec::new();
        for (parent, depth, children) in lists {
            let mut list = Vec::with_capacity(children.len());
            for path in children {
                // What the application gave unasked does not count: what is asked for may lie elsewhere.
                if model.items.len() - model.removed >= source.max_nodes.saturating_add(model.given) {
                    model.limit = Some(Limit::Nodes);
                    break;
                }
                let fresh = !model.by_path.contains_key(&path);
                let c = model.add(Item { path, ..Item::default() });
                if fresh || adopts(model, parent, c) {
                    let item = model.item_mut(c);
                    (item.parent, item.listed) = (Some(parent), true);
                    list.push(c);
                }
                if fresh {
                    new.push((c, depth + 1));
                }
            }
            let before = std::mem::replace(&mut model.item_mut(parent).children, list);
            let kept: HashSet<u32> = model.item(parent).children.iter().copied().collect();
            for c in before {
                if model.item(c).parent == Some(parent) && !kept.contains(&c) {
                    // Another may list it now.
                    model.item_mut(c).listed = false;
                }
            }
        }
        let of_sheet = |i: &u32| model.item(*i).parent.is_some_and(|p| sheets.contains(&p));
        let (cells, others): (Vec<u32>, Vec<u32>) = new.iter().map(|(i, _)| *i).partition(of_sheet);
        if !describe(source, model, &others)? || !describe_cells(source, model, &cells)? {
            return Ok(());
        }
        level = new.into_iter().filter(|(i, _)| wants_children(model.item(*i))).collect();
        if model.limit == Some(Limit::Nodes) {
            return Ok(());
        }
    }
    Ok(())
}

/// Whether `c`, which `parent` lists, becomes its child. One parent each: what another one lists, or is
/// an ancestor, stays where it is. What only *says* that its parent is another (the root pane of
/// LibreOffice names the window, whose children it is not among) is moved.
fn adopts(model: &mut Model, parent: u32, c: u32) -> bool {
    let now = model.item(c).parent;
    if c == model.root || now == Some(parent) || now.is_none() {
        return c != model.root;
    }
    if model.item(c).listed {
        return false;
    }
    // Bounded: what applications say of their parents may go round in a circle.
    let mut above = Some(parent);
    for _ in 0..MAX_ABOVE {
        match above {
            Some(i) if i == c => return false,
            Some(i) => above = model.item(i).parent,
            None => break,
        }
    }
    if above.is_some() {
        return false;
    }
    if let Some(old) = now {
        model.item_mut(old).children.retain(|i| *i != c);
    }
    true
}

fn wants_children(item: &Item) -> bool {
    item.child_count != 0 && !item.is(State::Defunct)
}

/// Asks what cells of a sheet are: hundreds that differ only in name and states.
fn describe_cells(source: &Source<'_>, model: &mut Model, cells: &[u32]) -> Result<bool> {
    let Some(first) = cells.first() else { return Ok(true) };
    if !describe(source, model, &[*first])? {
        return Ok(false);
    }
    let (role, ifaces) = (model.item(*first).role, model.item(*first).ifaces);
    let paths: Vec<(u32, String)> = cells.iter().map(|i| (*i, model.item(*i).path.clone())).collect();
    let calls: Vec<Call<'_>> = paths
        .iter()
        .flat_map(|(_, p)| {
            [source.call(p, ACCESSIBLE, "GetState", Args::default()), source.property(p, ACCESSIBLE, "Name")]
        })
        .collect();
    let (replies, ended) = source.batch(calls.iter().cloned());
    for ((i, _), r) in paths.iter().zip(replies.chunks(2)) {
        let item = model.item_mut(*i);
        (item.role, item.ifaces, item.child_count) = (role, ifaces, 0);
        item.states = r[0].as_ref().and_then(Reply::ok).map(|mut r| state_bits(&mut r)).unwrap_or_default();
        item.name = text(r[1].as_ref()).unwrap_or_default();
    }
    source.settle(model, ended)
}

/// The cells of a huge table that show: from the one in its top left corner to the one at its bottom right.
fn visible_cells(source: &Source<'_>, model: &mut Model, table: u32) -> Result<Vec<String>> {
    let item = model.item(table);
    if !item.can(iface::TABLE) || !model.shows(item) || item.role != Native::Table as u32 {
        model.limit = model.limit.or(Some(Limit::Nodes));
        return Ok(Vec::new());
    }
    let path = item.path.clone();
    let first = [
        source.call(&path, COMPONENT, "GetExtents", Args::default().u32(SCREEN)),
        source.property(&path, TABLE, "NColumns"),
    ];
    let (replies, ended) = source.batch(first.iter().cloned());
    if !source.settle(model, ended)? {
        return Ok(Vec::new());
    }
    let super::model::Place::At(rect) = place(replies[0].as_ref()) else { return Ok(Vec::new()) };
    let columns = int(replies[1].as_ref()).unwrap_or(0);
    let corner = |x, y| {
        source.call(&path, COMPONENT, "GetAccessibleAtPoint", Args::default().i32(x).i32(y).u32(SCREEN))
    };
    let corners = [corner(rect.x + 2, rect.y + 2), corner(rect.right() - 3, rect.bottom() - 3)];
    let (replies, ended) = source.batch(corners.iter().cloned());
    if !source.settle(model, ended)? {
        return Ok(Vec::new());
    }
    let at: Vec<String> = replies.iter().filter_map(|r| reference(r.as_ref()?, &source.app.bus)).collect();
    let (replies, ended) =
        source.batch(at.iter().map(|p| source.call(p, ACCESSIBLE, "GetIndexInParent", Args::default())));
    if !source.settle(model, ended)? {
        return Ok(Vec::new());
    }
    let index: Vec<i64> =
        replies.iter().filter_map(|r| Some(i64::from(r.as_ref()?.ok()?.i32()))).filter(|i| *i >= 0).collect();
    let ([a, b], true) = (index.as_slice(), columns > 0) else { return Ok(Vec::new()) };
    let (rows, cols) = ((a / columns)..=(b / columns), (a % columns)..=(b % columns));
    let cells: Vec<i64> = rows
        .flat_map(|r| cols.clone().map(move |c| r * columns + c))
        .filter(|i| i32::try_from(*i).is_ok())
        .take(MAX_CELLS as usize)
        .collect();
    let calls = cells
        .iter()
        .map(|i| source.call(&path, ACCESSIBLE, "GetChildAtIndex", Args::default().i32(*i as i32)));
    let (replies, ended) = source.batch(calls);
    let out = replies.iter().filter_map(|r| reference(r.as_ref()?, &source.app.bus)).collect();
    source.settle(model, ended)?;
    Ok(out)
}

/// The path of a `(so)` answer.
pub(super) fn reference(reply: &Reply, bus: &str) -> Option<String> {
    let (name, path) = reply.ok()?.reference();
    (path != NULL && !path.is_empty() && name == bus).then(|| path.to_owned())
}
