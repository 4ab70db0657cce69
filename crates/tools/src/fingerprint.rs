//! role + label + rect, and a hash of what lies below.

use std::hash::{DefaultHasher, Hash, Hasher};

use deskhand_platform::Tree;
use deskhand_protocol::Fingerprint;

/// How much of the subtree counts: levels and elements.
pub(crate) const DEPTH: u32 = 2;
pub(crate) const NODES: usize = 64;

/// The fingerprint of the element at `index`: `head.subtree`.
pub(crate) fn of(tree: &Tree, index: usize) -> Fingerprint {
    let root = &tree.nodes[index];
    let mut head = DefaultHasher::new();
    let e = &root.element;
    (e.role, label(&e.name, &e.label), e.rect).hash(&mut head);
    let mut below = DefaultHasher::new();
    let children = tree.nodes[index + 1..].iter().take_while(|n| n.depth > root.depth);
    for node in children.filter(|n| n.depth - root.depth <= DEPTH).take(NODES) {
        (node.depth - root.depth, node.element.role, node.element.name.trim_end()).hash(&mut below);
    }
    Fingerprint(format!("{:08x}.{:08x}", head.finish() as u32, below.finish() as u32))
}

/// Whether the element seen `then` is the one seen `now`. What lies below only counts when both
/// readings saw all of it.
pub(crate) fn same(then: &Fingerprint, now: &Fingerprint, whole: bool) -> bool {
    if whole {
        return then == now;
    }
    then.0.split('.').next() == now.0.split('.').next()
}

fn label<'a>(name: &'a str, label: &'a str) -> &'a str {
    if name.is_empty() { label } else { name.trim_end() }
}
