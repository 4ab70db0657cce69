//! A tree as clients see it: structure, roles, places, states, short labels; text only when asked for.

use deskhand_platform::{Element, Limit, Root, States, Tree, TreeQuery};
use deskhand_protocol::{ElementId, ErrorCode, Fingerprint, Rect, Result, Role, SnapshotId};
use schemars::JsonSchema;
use serde::Serialize;
use std::time::Duration;

use super::args::bounded;
use crate::{Ctx, Snapshot, aim, fingerprint};

/// Longest value of one element, in characters.
const VALUE: usize = 2000;
/// Most actions that are named.
const ACTIONS: usize = 8;

/// A reading.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TreeView {
    /// Names the reading in an elementRef, for a minute.
    pub(crate) snapshot_id: SnapshotId,
    /// The elements, parents before children.
    pub(crate) nodes: Vec<NodeView>,
    /// How many.
    pub(crate) count: usize,
    /// Present when a bound ended the reading early: the tree is not whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) truncated: Option<Truncated>,
    /// Applications that did not answer and are missing.
    pub(crate) unresponsive: Vec<String>,
    /// How long the reading took, milliseconds.
    pub(crate) took_ms: f64,
    /// How it was read.
    pub(crate) how: String,
}

/// One element. With `snapshotId` its `elementId`, `fingerprint` and `rect` make an elementRef.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NodeView {
    /// Stable inside the snapshot.
    element_id: ElementId,
    /// The parent's elementId; null for the root.
    parent: Option<ElementId>,
    /// Levels below the root.
    depth: u32,
    /// Its role.
    role: Role,
    /// The platform's word, when it says more than the role.
    #[serde(skip_serializing_if = "Option::is_none")]
    native_role: Option<String>,
    /// Its name, at most 80 characters.
    label: String,
    /// Where it is; null when it has no place.
    rect: Option<Rect>,
    /// The states that are true.
    states: Vec<&'static str>,
    /// Names of its actions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    actions: Vec<String>,
    /// Its text or number; only with includeText.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    /// The application's own id of it.
    #[serde(skip_serializing_if = "String::is_empty")]
    identifier: String,
    /// What it looked like.
    fingerprint: Fingerprint,
}

/// Why a reading is not whole.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Truncated {
    /// "maxDepth", "maxNodes" or "maxWallTimeMs".
    limit: &'static str,
    /// Always DESKTOP_AX_TRAVERSAL_LIMIT.
    code: ErrorCode,
    /// What to do.
    hint: String,
}

/// The bounds of a reading, checked.
pub(crate) struct Bounds {
    pub(crate) max_depth: Option<u32>,
    pub(crate) max_nodes: Option<u32>,
    pub(crate) max_wall_time_ms: Option<u64>,
}

impl Bounds {
    /// A query with these bounds.
    pub(crate) fn query(&self, root: Root, include_text: bool, visible_only: bool) -> Result<TreeQuery> {
        Ok(TreeQuery {
            root,
            max_depth: bounded("maxDepth", self.max_depth, 24, 0, 1000)?,
            max_nodes: bounded("maxNodes", self.max_nodes, 1500, 1, 50_000)?,
            max_wall: Duration::from_millis(bounded(
                "maxWallTimeMs",
                self.max_wall_time_ms,
                1500,
                1,
                60_000,
            )?),
            include_text,
            visible_only,
        })
    }
}

/// Reads a tree, keeps it as a snapshot and as evidence, and shows it.
pub(crate) fn keep(ctx: &Ctx<'_>, tree: Tree, query: &TreeQuery) -> TreeView {
    let snapshot = ctx.books.keep_tree(tree, query.visible_only);
    let view = view(&snapshot, query.include_text);
    if let Ok(value) = serde_json::to_value(&view) {
        ctx.notebook.tree(&value);
    }
    view
}

fn view(snapshot: &Snapshot, include_text: bool) -> TreeView {
    let tree = &snapshot.tree;
    let id = |i: usize| ElementId(format!("e{i}"));
    let node = |(i, n): (usize, &deskhand_platform::Node)| {
        let e = &n.element;
        NodeView {
            element_id: id(i),
            parent: n.parent.map(|p| id(p as usize)),
            depth: n.depth,
            role: e.role,
            native_role: native(e),
            label: aim::label(e),
            rect: e.rect,
            states: states(&e.states),
            actions: e.actions.iter().take(ACTIONS).cloned().collect(),
            value: e.value.as_deref().filter(|_| include_text && !e.secure).map(|v| aim::short(v, VALUE)),
            identifier: e.identifier.clone(),
            fingerprint: fingerprint::of(tree, i),
        }
    };
    TreeView {
        snapshot_id: snapshot.id.clone(),
        nodes: tree.nodes.iter().enumerate().map(node).collect(),
        count: tree.nodes.len(),
        truncated: tree.limit.map(truncated),
        unresponsive: tree.unresponsive.clone(),
        took_ms: (tree.ended - tree.started).as_secs_f64() * 1000.0,
        how: tree.how.clone(),
    }
}

/// What a bound that was hit means.
pub(crate) fn truncated(limit: Limit) -> Truncated {
    let limit = match limit {
        Limit::Depth => "maxDepth",
        Limit::Nodes => "maxNodes",
        Limit::WallTime => "maxWallTimeMs",
    };
    Truncated {
        limit,
        code: ErrorCode::AxTraversalLimit,
        hint: format!(
            "the tree is not whole: raise {limit}, or start from a smaller root (route to one window)"
        ),
    }
}

/// The platform's word, unless it is our own in other letters.
fn native(e: &Element) -> Option<String> {
    let same = e.native_role.replace([' ', '-'], "_").eq_ignore_ascii_case(e.role.as_str());
    (!same && !e.native_role.is_empty()).then(|| e.native_role.clone())
}

fn states(s: &States) -> Vec<&'static str> {
    let all = [
        ("enabled", s.enabled),
        ("visible", s.visible),
        ("showing", s.showing),
        ("focusable", s.focusable),
        ("focused", s.focused),
        ("editable", s.editable),
        ("checked", s.checked),
        ("selected", s.selected),
        ("selectable", s.selectable),
        ("expanded", s.expanded),
        ("expandable", s.expandable),
        ("pressed", s.pressed),
        ("modal", s.modal),
        ("active", s.active),
        ("multiLine", s.multi_line),
        ("busy", s.busy),
    ];
    all.into_iter().filter(|(_, on)| *on).map(|(name, _)| name).collect()
}
