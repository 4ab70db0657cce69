//! An application's tree in memory, and the part of it a query asks for.

use std::collections::HashMap;
use std::time::Instant;

use atspi::{Role as Native, State};
use deskhand_platform::{Element, Limit, TreeQuery};
use deskhand_protocol::{Rect, Role};

use super::app::App;
use super::handle;
use super::names::{self, has, iface};

/// Longest name or description given out, in characters.
const NAME_CHARS: usize = 256;

/// Where an element is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Place {
    /// Not asked yet, or not sure any more.
    #[default]
    Unknown,
    /// Nowhere.
    None,
    /// Here, as the application says it.
    At(Rect),
}

/// One element.
#[derive(Clone, Debug, Default)]
pub(super) struct Item {
    pub(super) path: String,
    pub(super) parent: Option<u32>,
    pub(super) children: Vec<u32>,
    pub(super) role: u32,
    pub(super) states: u64,
    pub(super) ifaces: u8,
    /// Children as the application counts them; may be two thousand million.
    pub(super) child_count: i32,
    pub(super) name: String,
    pub(super) description: String,
    pub(super) place: Place,
    /// Whether its parent was heard to list it; until then it only says so itself.
    pub(super) listed: bool,
    /// Text or number, when it was asked for.
    pub(super) value: Option<String>,
    /// The application's own id, once it was asked for.
    pub(super) identifier: Option<String>,
}

impl Item {
    pub(super) fn is(&self, state: State) -> bool {
        has(self.states, state)
    }

    pub(super) fn can(&self, bit: u8) -> bool {
        self.ifaces & bit != 0
    }
}

/// A tree.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) items: Vec<Item>,
    pub(super) by_path: HashMap<String, u32>,
    pub(super) root: u32,
    pub(super) built: Instant,
    /// Items that were removed and still take room.
    pub(super) removed: usize,
    pub(super) limit: Option<Limit>,
    /// How often its places were checked.
    pub(super) checks: usize,
    /// GTK 4: what to add to places inside a top-level window, by the window's index in `items`.
    pub(super) offsets: HashMap<u32, (i32, i32)>,
    /// Items that came in one answer, however many were asked for.
    pub(super) given: usize,
    pub(super) gtk4: bool,
    /// Whether it holds a huge table, of which only the cells that show are here.
    pub(super) has_sheet: bool,
    pub(super) how: &'static str,
}

/// One chosen element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chosen {
    pub(super) item: u32,
    /// Index of the parent among the chosen.
    pub(super) parent: Option<u32>,
    pub(super) index: u32,
    pub(super) depth: u32,
}

impl Model {
    pub(super) fn new(gtk4: bool) -> Self {
        Self {
            items: Vec::new(),
            by_path: HashMap::new(),
            root: 0,
            built: Instant::now(),
            removed: 0,
            limit: None,
            checks: 0,
            offsets: HashMap::new(),
            given: 0,
            gtk4,
            has_sheet: false,
            how: "walk",
        }
    }

    pub(super) fn item(&self, i: u32) -> &Item {
        &self.items[i as usize]
    }

    pub(super) fn item_mut(&mut self, i: u32) -> &mut Item {
        &mut self.items[i as usize]
    }

    /// Adds an item under its path; the one that is there already stays.
    pub(super) fn add(&mut self, item: Item) -> u32 {
        if let Some(i) = self.by_path.get(&item.path) {
            return *i;
        }
        let i = self.items.len() as u32;
        self.by_path.insert(item.path.clone(), i);
        self.items.push(item);
        i
    }

    /// Takes an item and what is below it out of the tree.
    pub(super) fn remove(&mut self, i: u32) {
        let mut stack = vec![i];
        while let Some(i) = stack.pop() {
            let item = &mut self.items[i as usize];
            stack.append(&mut item.children);
            item.parent = None;
            let path = std::mem::take(&mut item.path);
            self.by_path.remove(&path);
            self.removed += 1;
        }
    }

    /// Whether an element shows, by what its toolkit tells: GTK 4.8 tells that it is visible, and gives
    /// no place to what is scrolled away or inside something closed.
    pub(super) fn shows(&self, item: &Item) -> bool {
        item.is(State::Showing) || (self.gtk4 && item.is(State::Visible) && item.place != Place::None)
    }

    /// Levels between an item and the root.
    pub(super) fn depth(&self, mut i: u32) -> u32 {
        let mut depth = 0;
        while let Some(p) = self.item(i).parent
            && depth < 10_000
        {
            (i, depth) = (p, depth + 1);
        }
        depth
    }

    /// The items a query asks for, parents before children.
    pub(super) fn choose(&self, start: u32, query: &TreeQuery) -> (Vec<Chosen>, Option<Limit>) {
        let kept = query.visible_only.then(|| self.with_showing_inside(start));
        let (mut out, mut limit) = (Vec::new(), None);
        let mut stack = vec![Chosen { item: start, parent: None, index: 0, depth: 0 }];
        while let Some(next) = stack.pop() {
            if out.len() >= query.max_nodes as usize {
                return (out, Some(Limit::Nodes));
            }
            let me = out.len() as u32;
            out.push(next);
            let children = &self.item(next.item).children;
            let wanted = |c: &u32| kept.as_ref().is_none_or(|k| k[*c as usize]);
            if next.depth >= query.max_depth {
                if children.iter().any(wanted) {
                    limit = Some(Limit::Depth);
                }
                continue;
            }
            let below = children.iter().enumerate().filter(|(_, c)| wanted(c));
            stack.extend(below.rev().map(|(index, c)| Chosen {
                item: *c,
                parent: Some(me),
                index: index as u32,
                depth: next.depth + 1,
            }));
        }
        (out, limit)
    }

    /// Which items show or have something below them that shows.
    fn with_showing_inside(&self, start: u32) -> Vec<bool> {
        let mut kept = vec![false; self.items.len()];
        let (mut order, mut stack) = (Vec::new(), vec![start]);
        while let Some(i) = stack.pop() {
            order.push(i);
            stack.extend(&self.item(i).children);
        }
        for i in order.into_iter().rev() {
            let item = self.item(i);
            kept[i as usize] = self.shows(item) || item.children.iter().any(|c| kept[*c as usize]);
        }
        kept
    }

    /// The top-level windows.
    pub(super) fn frames(&self) -> &[u32] {
        self.items.get(self.root as usize).map_or(&[], |r| &r.children)
    }

    /// Where an item is on the screen.
    pub(super) fn rect(&self, i: u32) -> Option<Rect> {
        let Place::At(mut rect) = self.item(i).place else { return None };
        if !self.offsets.is_empty() {
            let mut at = Some(i);
            while let Some(j) = at {
                if let Some((dx, dy)) = self.offsets.get(&j) {
                    rect.x += dx;
                    rect.y += dy;
                    break;
                }
                at = self.item(j).parent;
            }
        }
        Some(rect)
    }

    /// An item in the words of the contract.
    pub(super) fn element(&self, i: u32, app: &App) -> Element {
        let item = self.item(i);
        let role = names::role(item.role, item.states);
        let usual = item.can(iface::ACTION).then(|| names::usual_action(role)).flatten();
        Element {
            handle: handle::make(&app.bus, &item.path),
            role,
            native_role: names::native_role(item.role).to_owned(),
            name: cut(&item.name, NAME_CHARS),
            description: cut(&item.description, NAME_CHARS),
            label: String::new(),
            identifier: item.identifier.clone().unwrap_or_default(),
            rect: self.rect(i),
            states: names::states(item.states, self.shows(item)),
            actions: usual.map(str::to_owned).into_iter().collect(),
            value: item.value.clone(),
            has_text: item.can(iface::TEXT),
            editable_text: item.can(iface::EDITABLE) && item.is(State::Editable),
            secure: names::is_secure(item.role),
            pid: app.pid,
        }
    }

    /// Whether a text of the item would tell more than its name.
    pub(super) fn text_worth_reading(&self, i: u32) -> bool {
        let item = self.item(i);
        item.can(iface::TEXT)
            && !names::is_secure(item.role)
            && self.shows(item)
            && (item.is(State::Editable) || item.name.is_empty() || item.role == Native::Terminal as u32)
    }

    /// Whether its number is worth reading.
    pub(super) fn number_worth_reading(&self, i: u32) -> bool {
        let item = self.item(i);
        item.can(iface::VALUE)
            && matches!(
                names::role(item.role, item.states),
                Role::Slider | Role::SpinButton | Role::ProgressBar | Role::Splitter
            )
    }
}

/// At most `chars` characters.
pub(super) fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((at, _)) => text[..at].to_owned(),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deskhand_platform::Root;
    use std::time::Duration;

    /// (name, parent, showing)
    fn model(items: &[(&str, Option<u32>, bool)]) -> Model {
        let mut m = Model::new(false);
        for (name, parent, showing) in items {
            let states = if *showing { names::bit(State::Showing) } else { 0 };
            let i = m.add(Item {
                path: format!("/{name}"),
                name: (*name).into(),
                parent: *parent,
                states,
                ..Item::default()
            });
            if let Some(p) = parent {
                m.item_mut(*p).children.push(i);
            }
        }
        m
    }

    fn chosen(m: &Model, depth: u32, nodes: u32, visible: bool) -> (String, Option<Limit>) {
        let query = TreeQuery {
            root: Root::Desktop,
            max_depth: depth,
            max_nodes: nodes,
            max_wall: Duration::ZERO,
            include_text: false,
            visible_only: visible,
        };
        let (c, limit) = m.choose(0, &query);
        (c.iter().map(|c| m.item(c.item).name.as_str()).collect::<Vec<_>>().join(" "), limit)
    }

    #[test]
    fn bounds_and_order() {
        let m = model(&[
            ("app", None, false),
            ("win", Some(0), true),
            ("menu", Some(1), false),
            ("item", Some(2), false),
            ("box", Some(1), false),
            ("ok", Some(4), true),
        ]);
        let all = "app win menu item box ok";
        for (depth, nodes, visible, names, limit) in [
            (9, 99, false, all, None),
            (9, 6, false, all, None),
            (9, 3, false, "app win menu", Some(Limit::Nodes)),
            (1, 99, false, "app win", Some(Limit::Depth)),
            (3, 99, false, all, None),
            (9, 99, true, "app win box ok", None),
            (9, 0, false, "", Some(Limit::Nodes)),
        ] {
            assert_eq!(
                chosen(&m, depth, nodes, visible),
                (names.to_owned(), limit),
                "{depth} {nodes} {visible}"
            );
        }
    }

    #[test]
    fn removing_takes_the_branch() {
        let mut m = model(&[("a", None, true), ("b", Some(0), true), ("c", Some(1), true)]);
        m.item_mut(0).children.clear();
        m.remove(1);
        assert_eq!((m.by_path.len(), m.removed), (1, 2));
    }

    #[test]
    fn cut_keeps_characters_whole() {
        assert_eq!(cut("日本語", 2), "日本");
        assert_eq!(cut("ab", 2), "ab");
    }
}
