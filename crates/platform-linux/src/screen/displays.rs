//! Monitors and the desktop they make up.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use deskhand_platform::{Display, Result};
use deskhand_protocol::Rect;
use x11rb::protocol::randr::ConnectionExt as _;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _};

use crate::x11::{Conn, Reply, Scale};

/// A display with its place in physical pixels.
#[derive(Clone, Debug)]
pub(crate) struct Monitor {
    pub(crate) display: Display,
    pub(crate) physical: Rect,
}

/// The displays at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) scale: Scale,
    /// The whole X screen, physical pixels.
    pub(crate) root: Rect,
    pub(crate) monitors: Vec<Monitor>,
}

impl Layout {
    /// The rectangle around all displays, physical pixels.
    pub(crate) fn desktop(&self) -> Rect {
        self.monitors
            .iter()
            .map(|m| m.physical)
            .reduce(|a, b| a.union(&b))
            .and_then(|r| r.intersect(&self.root))
            .unwrap_or(self.root)
    }

    /// The display with most of a physical rectangle (the first when none has any).
    pub(crate) fn with_most_of(&self, rect: &Rect) -> u32 {
        let shared =
            |m: &Monitor| m.physical.intersect(rect).map_or(0, |r| i64::from(r.width) * i64::from(r.height));
        let mut best = (0, 0);
        for m in &self.monitors {
            if shared(m) > best.0 {
                best = (shared(m), m.display.id);
            }
        }
        best.1
    }
}

/// Gives displays ids that last: the primary one is 0, the others keep theirs while they are there.
#[derive(Default)]
pub(crate) struct Displays {
    ids: Mutex<HashMap<String, u32>>,
}

impl Displays {
    /// The displays now, primary first. Three questions, one wait.
    pub(crate) fn layout(&self, conn: &Conn) -> Result<Layout> {
        const DOING: &str = "reading the displays";
        let geometry = conn.x.get_geometry(conn.root);
        let resources =
            conn.x.get_property(false, conn.root, AtomEnum::RESOURCE_MANAGER, AtomEnum::STRING, 0, 16 * 1024);
        let monitors = if conn.has(x11rb::protocol::randr::X11_EXTENSION_NAME)? {
            conn.x.randr_get_monitors(conn.root, true).wait_opt(DOING)?.map(|r| r.monitors)
        } else {
            None
        };
        let geometry = geometry.wait(DOING)?;
        let scale = Scale::from_resources(&resources.wait(DOING)?.value);
        conn.set_scale(scale);
        let root = Rect::new(0, 0, i32::from(geometry.width), i32::from(geometry.height));
        let mut found: Vec<(String, Rect, bool)> = Vec::new();
        let monitors = monitors.unwrap_or_default();
        let names: Vec<_> = monitors.iter().map(|m| conn.x.get_atom_name(m.name)).collect();
        for (monitor, name) in monitors.iter().zip(names) {
            let rect =
                Rect::new(monitor.x.into(), monitor.y.into(), monitor.width.into(), monitor.height.into());
            let name = name
                .wait_opt(DOING)?
                .map_or_else(String::new, |n| String::from_utf8_lossy(&n.name).into_owned());
            if let Some(rect) = rect.intersect(&root) {
                found.push((name, rect, monitor.primary));
            }
        }
        if found.is_empty() {
            found.push(("screen".into(), root, true));
        }
        // Where nobody is primary the first one counts as it, so that there is always exactly one.
        found.sort_by_key(|(_, r, primary)| (!*primary, r.x, r.y));
        let monitors = self
            .number(&found)
            .into_iter()
            .zip(found)
            .enumerate()
            .map(|(i, (id, (name, physical, _)))| Monitor {
                display: Display {
                    id,
                    name,
                    bounds: scale.down(physical),
                    scale: scale.factor(),
                    primary: i == 0,
                },
                physical,
            })
            .collect();
        Ok(Layout { scale, root, monitors })
    }

    fn number(&self, found: &[(String, Rect, bool)]) -> Vec<u32> {
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        ids.retain(|name, _| found.iter().skip(1).any(|(n, ..)| n == name));
        let mut out = vec![0];
        for (name, ..) in found.iter().skip(1) {
            let id = ids.get(name).copied().filter(|id| !out.contains(id)).unwrap_or_else(|| {
                (1..).find(|n| !out.contains(n) && !ids.values().any(|v| v == n)).unwrap_or(u32::MAX)
            });
            ids.insert(name.clone(), id);
            out.push(id);
        }
        out
    }
}
