//! A bounded reading of the tree.

use deskhand_platform::{Element, Limit, Node, TreeQuery};
use deskhand_protocol::Role;

use super::elements::bare;
use super::world::World;

/// A tree being read.
pub(crate) struct Reading<'a> {
    world: &'a World,
    query: &'a TreeQuery,
    pub(crate) nodes: Vec<Node>,
    pub(crate) limit: Option<Limit>,
}

impl<'a> Reading<'a> {
    pub(crate) fn new(world: &'a World, query: &'a TreeQuery, in_time: bool) -> Self {
        Self { world, query, nodes: Vec::new(), limit: (!in_time).then_some(Limit::WallTime) }
    }

    /// Adds a node; its index, or `None` when a bound is hit.
    fn push(&mut self, element: Element, parent: Option<u32>, index: u32, depth: u32) -> Option<u32> {
        if depth > self.query.max_depth {
            self.limit.get_or_insert(Limit::Depth);
            return None;
        }
        if self.nodes.len() as u32 >= self.query.max_nodes {
            self.limit = Some(Limit::Nodes);
            return None;
        }
        // Out of time: the root alone is what could be read.
        if self.limit == Some(Limit::WallTime) && !self.nodes.is_empty() {
            return None;
        }
        self.nodes.push(Node { element, parent, index, depth });
        Some(self.nodes.len() as u32 - 1)
    }

    pub(crate) fn desktop(&mut self) {
        let root = bare("desktop".to_owned(), Role::Other, "main", 0);
        let Some(at) = self.push(root, None, 0, 0) else { return };
        let pids: Vec<u32> = self
            .world
            .procs
            .iter()
            .filter(|p| !p.frozen && self.world.on_bus(p.pid))
            .map(|p| p.pid)
            .collect();
        for (i, pid) in pids.into_iter().enumerate() {
            self.app(pid, Some(at), i as u32, 1);
        }
    }

    pub(crate) fn app(&mut self, pid: u32, parent: Option<u32>, index: u32, depth: u32) {
        let Some(at) = self.push(self.world.ax_app(pid), parent, index, depth) else { return };
        let wins: Vec<usize> =
            (0..self.world.wins.len()).filter(|w| self.world.wins[*w].pid == pid).collect();
        for (i, w) in wins.into_iter().enumerate() {
            self.window(w, Some(at), i as u32, depth + 1);
        }
    }

    pub(crate) fn window(&mut self, w: usize, parent: Option<u32>, index: u32, depth: u32) {
        let Some(at) = self.push(self.world.ax_window(w), parent, index, depth) else { return };
        self.children(w, None, at, depth);
    }

    pub(crate) fn element(&mut self, w: usize, e: usize, parent: Option<u32>, index: u32, depth: u32) {
        let element = self.world.ax_element(w, e, self.query.include_text);
        if self.query.visible_only && !element.states.showing && parent.is_some() {
            return;
        }
        let Some(at) = self.push(element, parent, index, depth) else { return };
        self.children(w, Some(e), at, depth);
    }

    fn children(&mut self, w: usize, of: Option<usize>, at: u32, depth: u32) {
        let els = &self.world.wins[w].els;
        let children = (0..els.len()).filter(|c| els[*c].spec.parent == of && !els[*c].gone);
        for (i, c) in children.enumerate() {
            self.element(w, c, Some(at), i as u32, depth + 1);
        }
    }
}
