//! Readings that later calls may refer to, for a short while and a few times.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use deskhand_platform::{Node, Tree};
use deskhand_protocol::{ElementId, ElementRef, Error, ErrorCode, Result, ScreenshotId, SnapshotId};
use deskhand_vision::Mapping;

use crate::fingerprint;

/// How long a snapshot may be referred to.
const SNAPSHOT_TTL: Duration = Duration::from_secs(60);
/// How many times.
const SNAPSHOT_USES: u32 = 200;
/// How many are kept.
const SNAPSHOTS: usize = 16;
/// How many elements they may have together; the newest is kept whatever its size.
const ELEMENTS: usize = 20_000;
/// How long coordinates may be given in a screenshot's space.
const SHOT_TTL: Duration = Duration::from_secs(600);
/// How many screenshots are remembered (their sizes, not their pixels).
const SHOTS: usize = 256;

/// One reading of a tree.
pub struct Snapshot {
    /// Its id.
    pub id: SnapshotId,
    /// The tree.
    pub tree: Tree,
    /// Whether only showing elements were read.
    pub visible_only: bool,
    taken: Instant,
    uses: AtomicU32,
}

impl Snapshot {
    /// A reference to the element at `index`.
    #[must_use]
    pub fn element_ref(&self, index: usize) -> ElementRef {
        ElementRef {
            element_id: ElementId(format!("e{index}")),
            snapshot_id: self.id.clone(),
            fingerprint: fingerprint::of(&self.tree, index),
            rect: self.tree.nodes[index].element.rect.unwrap_or_default(),
        }
    }

    /// The element a reference names.
    #[must_use]
    pub fn node(&self, id: &ElementId) -> Option<(usize, &Node)> {
        let index: usize = id.0.strip_prefix('e')?.parse().ok()?;
        Some((index, self.tree.nodes.get(index)?))
    }
}

/// A screenshot that was handed out.
#[derive(Clone, Debug)]
pub struct Shot {
    /// Its id.
    pub id: ScreenshotId,
    /// Where its pixels are on the desktop.
    pub mapping: Mapping,
    /// The display it shows, when it shows only one.
    pub display: Option<u32>,
    taken: Instant,
}

/// What later calls may name: snapshots and screenshots.
#[derive(Default)]
pub struct Books {
    snapshots: Mutex<VecDeque<Arc<Snapshot>>>,
    shots: Mutex<VecDeque<Shot>>,
}

impl Books {
    /// Keeps a tree; the oldest is forgotten when there are too many.
    pub fn keep_tree(&self, tree: Tree, visible_only: bool) -> Arc<Snapshot> {
        let snapshot = Arc::new(Snapshot {
            id: SnapshotId::fresh(),
            tree,
            visible_only,
            taken: Instant::now(),
            uses: AtomicU32::new(0),
        });
        let mut all = self.snapshots.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|s| s.taken.elapsed() < SNAPSHOT_TTL);
        let mut room = ELEMENTS.saturating_sub(snapshot.tree.nodes.len());
        let fits = all.iter().rev().take(SNAPSHOTS - 1).take_while(|s| {
            let fits = s.tree.nodes.len() <= room;
            room = room.saturating_sub(s.tree.nodes.len());
            fits
        });
        let drop = all.len() - fits.count();
        all.drain(..drop);
        all.push_back(Arc::clone(&snapshot));
        snapshot
    }

    /// A snapshot by its id, if it is still good.
    pub fn snapshot(&self, id: &SnapshotId) -> Result<Arc<Snapshot>> {
        let all = self.snapshots.lock().unwrap_or_else(PoisonError::into_inner);
        let stale = |why: String| {
            Error::new(ErrorCode::StaleSnapshot, format!("snapshot {id} {why}"))
                .detail("snapshotId", id.0.clone())
        };
        let found =
            all.iter().find(|s| s.id == *id).ok_or_else(|| stale("is not known (any more)".into()))?;
        if found.taken.elapsed() >= SNAPSHOT_TTL {
            return Err(stale(format!("is older than {} s", SNAPSHOT_TTL.as_secs())));
        }
        if found.uses.fetch_add(1, Ordering::Relaxed) >= SNAPSHOT_USES {
            return Err(stale(format!("was used {SNAPSHOT_USES} times already")));
        }
        Ok(Arc::clone(found))
    }

    /// Remembers a screenshot's place.
    pub fn keep_shot(&self, mapping: Mapping, display: Option<u32>) -> ScreenshotId {
        let id = ScreenshotId::fresh();
        let mut all = self.shots.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= SHOTS {
            all.pop_front();
        }
        all.push_back(Shot { id: id.clone(), mapping, display, taken: Instant::now() });
        id
    }

    /// A screenshot by its id.
    pub fn shot(&self, id: &ScreenshotId) -> Result<Shot> {
        let all = self.shots.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().find(|s| s.id == *id && s.taken.elapsed() < SHOT_TTL).cloned().ok_or_else(|| {
            Error::new(ErrorCode::StaleSnapshot, format!("screenshot {id} is not known (any more)"))
                .hint("take a new screenshot and use its screenshotId")
                .detail("screenshotId", id.0.clone())
        })
    }

    /// Whether no snapshot is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.snapshots.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Frees what has expired; called when the host is idle.
    pub fn forget_expired(&self) {
        self.snapshots
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|s| s.taken.elapsed() < SNAPSHOT_TTL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(nodes: usize) -> Tree {
        let element = deskhand_platform::Element {
            handle: deskhand_platform::Handle(String::new()),
            role: deskhand_protocol::Role::Group,
            native_role: String::new(),
            name: String::new(),
            description: String::new(),
            label: String::new(),
            identifier: String::new(),
            rect: None,
            states: deskhand_platform::States::default(),
            actions: Vec::new(),
            value: None,
            has_text: false,
            editable_text: false,
            secure: false,
            pid: 1,
        };
        let node = Node { element, parent: None, index: 0, depth: 0 };
        let now = Instant::now();
        Tree {
            nodes: vec![node; nodes],
            limit: None,
            unresponsive: Vec::new(),
            started: now,
            ended: now,
            how: String::new(),
        }
    }

    #[test]
    fn only_so_many_snapshots_and_elements_are_kept() {
        let books = Books::default();
        let ids: Vec<_> = (0..SNAPSHOTS + 3).map(|_| books.keep_tree(tree(1), true).id.clone()).collect();
        assert!(books.snapshot(&ids[2]).is_err());
        assert!(books.snapshot(&ids[3]).is_ok());
        let big = books.keep_tree(tree(ELEMENTS - 2), true).id.clone();
        assert!(books.snapshot(&big).is_ok());
        assert!(books.snapshot(ids.last().unwrap()).is_ok(), "two small ones fit beside it");
        assert!(books.snapshot(&ids[3]).is_err());
        let huge = books.keep_tree(tree(ELEMENTS + 5), true).id.clone();
        assert!(books.snapshot(&huge).is_ok() && books.snapshot(&big).is_err());
    }

    #[test]
    fn a_snapshot_is_good_for_so_many_uses() {
        let books = Books::default();
        let id = books.keep_tree(tree(1), true).id.clone();
        for _ in 0..SNAPSHOT_USES {
            books.snapshot(&id).unwrap();
        }
        assert_eq!(books.snapshot(&id).err().map(|e| e.code), Some(ErrorCode::StaleSnapshot));
    }
}
