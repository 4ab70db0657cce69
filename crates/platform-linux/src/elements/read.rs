//! Reading an application: everything it has cached in one answer, then what is missing from that.

use std::time::Duration;

use atspi::State;
use deskhand_platform::{Limit, Result};
use deskhand_protocol::Rect;

use super::app::{App, Link};
use super::bus::AxBus;
use super::conn::{Ended, Patience, Reply, plain};
use super::model::{Item, Model, Place};
use super::names::{ACCESSIBLE, CACHE, COMPONENT, NULL, PROPERTIES, iface, iface_bit};
use super::wire::{Args, Call, Reader, Variant};

/// More children than this are never listed; of a sheet only the cells that show are read.
pub(super) const MAX_CHILDREN: i32 = 4096;
/// Screen coordinates.
pub(super) const SCREEN: u32 = 0;
/// Longest silence of an application that answered a moment ago.
pub(super) const SILENCE: Duration = Duration::from_millis(1500);

/// What a reading needs.
pub(super) struct Source<'a> {
    pub(super) app: &'a App,
    pub(super) bus: &'a AxBus,
    pub(super) link: Link,
    pub(super) patience: &'a Patience,
    pub(super) max_nodes: usize,
    pub(super) max_depth: u32,
}

impl Source<'_> {
    /// Makes calls of the application; over the bus when its own socket has gone.
    pub(super) fn batch<'c, I>(&self, calls: I) -> (Vec<Option<Reply>>, Ended)
    where
        I: ExactSizeIterator<Item = Call<'c>> + Clone,
    {
        let got = self.link.batch(calls.clone(), self.patience);
        if got.1 == Ended::Dead && self.link.is_peer() && !self.bus.conn.is_dead() {
            let dest = &*self.app.bus;
            let calls: Vec<Call<'_>> = calls.map(|c| Call { dest: Some(dest), ..c }).collect();
            return self.app.bus_link(self.bus).batch(calls.into_iter(), self.patience);
        }
        got
    }

    pub(super) fn call<'c>(&'c self, path: &'c str, iface: &'c str, member: &'c str, args: Args) -> Call<'c> {
        Call { dest: self.link.dest(), path, iface, member, args }
    }

    pub(super) fn property<'c>(&'c self, path: &'c str, iface: &str, name: &str) -> Call<'c> {
        self.call(path, PROPERTIES, "Get", Args::default().str(iface).str(name))
    }

    /// What to do about a batch that did not end well: a bound goes into the model, the rest are errors.
    pub(super) fn settle(&self, model: &mut Model, ended: Ended) -> Result<bool> {
        match ended {
            Ended::Complete => Ok(true),
            Ended::Deadline => {
                model.limit = Some(Limit::WallTime);
                Ok(false)
            }
            other => Err(self.app.error(other, "reading its accessibility tree")),
        }
    }
}

/// Reads the whole application, or from `start` where there is no cache to ask.
pub(super) fn build(source: &Source<'_>, gtk4: bool, start: Option<&str>) -> Result<Model> {
    let mut model = Model::new(gtk4);
    let root = start.unwrap_or(&source.app.root);
    if start.is_none() {
        let call = plain(source.link.dest(), "/org/a11y/atspi/cache", CACHE, "GetItems");
        let (replies, ended) = source.batch(std::iter::once(call));
        if !source.settle(&mut model, ended)? {
            return Ok(model);
        }
        if let Some(reply) = replies.into_iter().next().flatten() {
            take_items(&mut model, &reply, &source.app.bus);
            model.given = model.items.len();
        }
    }
    match model.by_path.get(root) {
        Some(i) => {
            model.root = *i;
            model.how = "get_items";
        }
        None => {
            model.root = model.add(Item { path: root.to_owned(), ..Item::default() });
            let first = [model.root];
            if !super::walk::describe(source, &mut model, &first)? {
                return Ok(model);
            }
        }
    }
    super::walk::complete(source, &mut model)?;
    Ok(model)
}

/// Puts the answer of `GetItems` into the model: the present form and Qt 5's.
pub(super) fn take_items(model: &mut Model, reply: &Reply, bus: &str) {
    let old = reply.sig == "a((so)(so)(so)a(so)assusau)";
    if !old && reply.sig != "a((so)(so)(so)iiassusau)" {
        return;
    }
    let Some(mut r) = reply.ok() else { return };
    // (item, parent's path, index, children's paths in the old form)
    let mut links: Vec<(u32, &str, i32)> = Vec::new();
    let mut lists: Vec<(u32, Vec<&str>)> = Vec::new();
    r.array(8, |r| {
        r.align(8);
        let (name, path) = r.reference();
        r.reference();
        let (_, parent) = r.reference();
        let mut item = Item { path: path.to_owned(), child_count: -1, ..Item::default() };
        let (mut index, mut list) = (-1, Vec::new());
        if old {
            r.array(8, |r| list.push(r.reference().1));
            item.child_count = list.len() as i32;
        } else {
            (index, item.child_count) = (r.i32(), r.i32());
        }
        r.array(4, |r| item.ifaces |= iface_bit(r.str()));
        item.name = r.str().to_owned();
        item.role = r.u32();
        item.description = r.str().to_owned();
        item.states = state_bits(r);
        if r.bad || name != bus || model.by_path.contains_key(path) {
            return;
        }
        let i = model.add(item);
        links.push((i, parent, index));
        if old {
            lists.push((i, list));
        }
    });
    links.sort_by_key(|(_, _, index)| *index);
    for (i, parent, _) in links {
        if let Some(p) = model.by_path.get(parent).copied()
            && p != i
        {
            model.item_mut(i).parent = Some(p);
            model.item_mut(p).children.push(i);
        }
    }
    for (i, list) in lists {
        let children: Vec<u32> =
            list.iter().filter_map(|p| model.by_path.get(*p).copied()).filter(|c| *c != i).collect();
        for c in &children {
            model.item_mut(*c).parent = Some(i);
        }
        model.item_mut(i).children = children;
    }
}

/// The states of an `au`.
pub(super) fn state_bits(r: &mut Reader<'_>) -> u64 {
    let (mut bits, mut shift) = (0u64, 0);
    r.array(4, |r| {
        let word = u64::from(r.u32());
        if shift < 64 {
            bits |= word << shift;
        }
        shift += 32;
    });
    bits
}

/// Paths of an `a(so)` that belong to this application.
pub(super) fn references(reply: &Reply, bus: &str) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(mut r) = reply.ok() {
        r.array(8, |r| {
            let (name, path) = r.reference();
            if path != NULL && (name == bus || name.is_empty()) {
                out.push(path.to_owned());
            }
        });
    }
    out
}

/// A variant's text.
pub(super) fn text(reply: Option<&Reply>) -> Option<String> {
    match reply?.ok()?.variant() {
        Variant::Str(s) => Some(s.to_owned()),
        _ => None,
    }
}

/// A variant's whole number.
pub(super) fn int(reply: Option<&Reply>) -> Option<i64> {
    match reply?.ok()?.variant() {
        Variant::Int(i) => Some(i),
        _ => None,
    }
}

/// Reads the place of an answer of `GetExtents`.
pub(super) fn place(reply: Option<&Reply>) -> Place {
    let Some(mut r) = reply.and_then(Reply::ok) else { return Place::None };
    r.align(8);
    let rect = Rect::new(r.i32(), r.i32(), r.i32(), r.i32());
    // Unmapped widgets of GTK are at the end of the world.
    if r.bad || rect.is_empty() || rect.x <= -1_000_000 || rect.y <= -1_000_000 {
        Place::None
    } else {
        Place::At(rect)
    }
}

/// Asks where items are. False when a bound was hit.
pub(super) fn extents(source: &Source<'_>, model: &mut Model, which: &[u32]) -> Result<bool> {
    let paths: Vec<(u32, String)> = which
        .iter()
        .filter(|i| {
            let item = model.item(**i);
            item.can(iface::COMPONENT) && !item.is(State::Defunct)
        })
        .map(|i| (*i, model.item(*i).path.clone()))
        .collect();
    for i in which {
        model.item_mut(*i).place = Place::None;
    }
    let calls =
        paths.iter().map(|(_, path)| source.call(path, COMPONENT, "GetExtents", Args::default().u32(SCREEN)));
    let (replies, ended) = source.batch(calls);
    for ((i, _), reply) in paths.iter().zip(&replies) {
        model.item_mut(*i).place = if reply.is_some() { place(reply.as_ref()) } else { Place::Unknown };
    }
    source.settle(model, ended)
}

/// The call that asks for the children of an object.
pub(super) fn children_call<'a>(source: &'a Source<'_>, path: &'a str) -> Call<'a> {
    source.call(path, ACCESSIBLE, "GetChildren", Args::default())
}
