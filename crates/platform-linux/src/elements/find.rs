//! Single elements: as they are now, with the focus, at a point.

use std::time::Duration;

use atspi::State;
use deskhand_platform::{Element, Handle, Node, PlatformError, Result, Root, Scope, TreeQuery};
use deskhand_protocol::Point;

use super::app::App;
use super::bus::{AxBus, patience};
use super::conn::{Reply, lock};
use super::model::{Item, Model, Place};
use super::names::{ACCESSIBLE, COMPONENT, VALUE, bit, iface};
use super::object::Object;
use super::read::{SCREEN, references};
use super::tree::{self, Start};
use super::wire::{Args, Variant};
use super::{act, handle, names, value};
use crate::lookup::WindowLookup;

/// The relation "is labelled by".
const LABELLED_BY: u32 = 2;

/// A query for one element, or for an application when depth is not zero.
fn query(depth: u32) -> TreeQuery {
    TreeQuery {
        root: Root::Desktop,
        max_depth: depth,
        max_nodes: 20_000,
        max_wall: Duration::from_secs(3),
        include_text: false,
        visible_only: depth > 0,
    }
}

/// An element as it is now, with what a dump leaves out.
pub(super) fn read(
    bus: &AxBus,
    windows: &dyn WindowLookup,
    handle: &Handle,
    scope: &Scope,
) -> Result<Element> {
    let object = Object::of(bus, handle, scope)?;
    describe(&object, windows)
}

fn describe(object: &Object<'_>, windows: &dyn WindowLookup) -> Result<Element> {
    let kind = object.kind()?;
    let get = |name: &str| (names::PROPERTIES, "Get", Args::default().str(ACCESSIBLE).str(name));
    let replies = object.many(&[
        get("Name"),
        get("Description"),
        get("AccessibleId"),
        (ACCESSIBLE, "GetAttributes", Args::default()),
        (ACCESSIBLE, "GetRelationSet", Args::default()),
    ]);
    let text = |i: usize| super::read::text(replies.get(i).and_then(Option::as_ref)).unwrap_or_default();
    let facts = object.app.facts(object.bus, &patience(object.scope, super::object::ANSWER));
    // The same words as in a dump: through a model of one.
    let mut model = Model::new(facts.gtk4);
    let me = model.add(Item {
        path: object.path.clone(),
        role: kind.role,
        states: kind.states,
        ifaces: kind.ifaces,
        name: text(0),
        description: text(1),
        place: if kind.can(iface::COMPONENT) { object.place() } else { Place::None },
        ..Item::default()
    });
    let mut element = model.element(me, &object.app);
    if facts.gtk4 || facts.office {
        element.rect = rect_in_tree(object, windows);
    }
    element.identifier = text(2);
    if let Some(mut r) = replies[3].as_ref().and_then(Reply::ok) {
        r.array(8, |r| {
            r.align(8);
            let (key, value) = (r.str(), r.str());
            if key == "id" && element.identifier.is_empty() {
                element.identifier = value.to_owned();
            }
        });
    }
    if let Some(label) = replies[4].as_ref().and_then(|r| label(r, &object.app)) {
        let name = object.other(&label).property(ACCESSIBLE, "Name", |v| match v {
            Variant::Str(s) => Some(s.to_owned()),
            _ => None,
        });
        element.label = name.ok().flatten().unwrap_or_default();
    }
    if kind.can(iface::ACTION) {
        element.actions = act::actions(object).unwrap_or_default();
        if let Some(best) = act::default_action(&element.actions) {
            element.actions.swap(0, best);
        }
    }
    if kind.can(iface::VALUE) {
        let take = |v: Variant<'_>| if let Variant::Double(d) = v { Some(d) } else { None };
        element.value = object.property(VALUE, "CurrentValue", take).ok().flatten().map(value::number);
    }
    Ok(element)
}

fn rect_in_tree(object: &Object<'_>, windows: &dyn WindowLookup) -> Option<deskhand_protocol::Rect> {
    let app = &object.app;
    let start = Some(Start::Path(&object.path));
    let part = tree::one(app, object.bus, windows, &query(0), start, tree::hello(app), object.scope).ok()?;
    part.nodes.into_iter().next()?.element.rect
}

/// The path of the element that labels, from `a(ua(so))`.
fn label(reply: &Reply, app: &App) -> Option<String> {
    let mut found = None;
    reply.ok()?.array(8, |r| {
        r.align(8);
        let relation = r.u32();
        r.array(8, |r| {
            let (name, path) = r.reference();
            if relation == LABELLED_BY && found.is_none() && name == &*app.bus {
                found = Some(path.to_owned());
            }
        });
    });
    found
}

/// The element with the focus.
pub(super) fn focused(bus: &AxBus, windows: &dyn WindowLookup, scope: &Scope) -> Result<Option<Element>> {
    let last = lock(&bus.hub.focus).clone();
    if let Some((name, path)) = last {
        // What the last event named, if it still has it.
        let found = Object::of(bus, &handle::make(&name, &path), scope).and_then(|o| {
            if o.states()? & bit(State::Focused) != 0 { describe(&o, windows).map(Some) } else { Ok(None) }
        });
        match found {
            Ok(Some(element)) if element.states.focused => return Ok(Some(element)),
            Err(e @ (PlatformError::Cancelled | PlatformError::AxUnavailable { .. })) => return Err(e),
            _ => {}
        }
    }
    for app in bus.apps(&patience(scope, Duration::from_millis(1000)))? {
        if app.is_frozen() || !has_active_window(bus, &app, scope) {
            continue;
        }
        let part = match tree::one(&app, bus, windows, &query(1000), None, Duration::from_millis(450), scope)
        {
            Ok(part) => part,
            Err(e @ PlatformError::Cancelled) => return Err(e),
            Err(_) => continue,
        };
        // The deepest: containers often say they have it too.
        let best = part.nodes.into_iter().filter(|n| n.element.states.focused).max_by_key(|n| n.depth);
        if let Some(node) = best {
            return read(bus, windows, &node.element.handle, scope).map(Some);
        }
    }
    Ok(None)
}

fn has_active_window(bus: &AxBus, app: &std::sync::Arc<App>, scope: &Scope) -> bool {
    let scope = scope.within(Duration::from_millis(450));
    let root = Object { bus, app: std::sync::Arc::clone(app), path: app.root.clone(), scope: &scope };
    let Ok(reply) = root.call(ACCESSIBLE, "GetChildren", Args::default()) else { return false };
    let active = |path: &String| root.other(path).states().is_ok_and(|s| s & bit(State::Active) != 0);
    references(&reply, &app.bus).iter().take(64).any(active)
}

/// The deepest element at a point.
pub(super) fn at(
    bus: &AxBus,
    windows: &dyn WindowLookup,
    point: Point,
    pid: u32,
    scope: &Scope,
) -> Result<Option<Element>> {
    let app = bus.app_of_pid(pid, &patience(scope, Duration::from_millis(1000)))?;
    let part = tree::one(&app, bus, windows, &query(1000), None, tree::hello(&app), scope)?;
    let inside = |n: &&Node| n.element.states.showing && n.element.rect.is_some_and(|r| r.contains(point));
    // Smallest rectangle, the deepest and last of equal ones.
    let smallest = part.nodes.iter().filter(inside).min_by_key(|n| {
        let r = n.element.rect.unwrap_or_default();
        (i64::from(r.width) * i64::from(r.height), std::cmp::Reverse(n.depth))
    });
    let gtk4 = app.facts(bus, &patience(scope, Duration::from_millis(500))).gtk4;
    let frames = part.nodes.iter().filter(|n| n.depth == 1).filter(inside);
    if !gtk4 {
        for frame in frames {
            let object = Object::of(bus, &frame.element.handle, scope)?;
            if let Some(found) = descend(&object, point) {
                let element = describe(&object.other(&found), windows)?;
                let fits = element.rect.is_some_and(|r| r.contains(point));
                // Some toolkits stop at a container: the tree may know something smaller inside it.
                let deeper = smallest.filter(|s| is_below(&part.nodes, s, &element.handle));
                if fits && deeper.is_none() {
                    return Ok(Some(element));
                }
            }
        }
    }
    smallest.map(|n| read(bus, windows, &n.element.handle, scope)).transpose()
}

fn descend(from: &Object<'_>, point: Point) -> Option<String> {
    let mut path = from.path.clone();
    let mut found = None;
    for _ in 0..64 {
        let args = Args::default().i32(point.x).i32(point.y).u32(SCREEN);
        let reply = from.other(&path).try_call(COMPONENT, "GetAccessibleAtPoint", args).ok();
        let next = reply.as_ref().and_then(|r| super::walk::reference(r, &from.app.bus));
        match next {
            Some(next) if next != path => {
                path.clone_from(&next);
                found = Some(next);
            }
            _ => break,
        }
    }
    found
}

/// Whether a node lies below the element of a handle.
fn is_below(nodes: &[Node], node: &Node, above: &Handle) -> bool {
    let mut parent = node.parent;
    while let Some(p) = parent {
        let n = &nodes[p as usize];
        if n.element.handle == *above {
            return true;
        }
        parent = n.parent;
    }
    false
}
