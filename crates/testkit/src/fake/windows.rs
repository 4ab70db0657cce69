//! Top-level windows.

use std::time::Duration;

use deskhand_platform::{PlatformError, Result, Scope, Window, WindowChange, WindowId, Windows};
use deskhand_protocol::{Point, Rect};

use super::Fake;
use super::world::World;

/// How long a window may think about closing.
const CLOSING: Duration = Duration::from_millis(500);

impl Windows for Fake {
    fn list(&self) -> Result<Vec<Window>> {
        self.works("window_manager", "listing windows")?;
        let world = self.lock();
        Ok((0..world.wins.len()).map(|w| world.window(w)).collect())
    }

    fn active(&self) -> Result<Option<Window>> {
        self.works("window_manager", "asking for the active window")?;
        let world = self.lock();
        Ok(world.active.and_then(|id| world.win(id)).map(|w| world.window(w)))
    }

    fn activate(&self, id: WindowId, scope: &Scope) -> Result<()> {
        self.enter("window_manager", "activating a window", scope)?;
        self.with(|world| {
            world.found(id)?;
            match world.blocker(id) {
                Some(modal) => {
                    world.activate(id);
                    let title = world.win(modal).map(|w| world.wins[w].title.clone()).unwrap_or_default();
                    Err(PlatformError::NotActionable {
                        what: format!("window {}", id.0),
                        reason: format!("the dialog {title:?} is in the way"),
                    })
                }
                None => {
                    world.activate(id);
                    Ok(())
                }
            }
        })
    }

    fn change(&self, id: WindowId, change: WindowChange, scope: &Scope) -> Result<Option<Window>> {
        self.enter("window_manager", "changing a window", scope)?;
        self.with(|world| world.change(id, change))?;
        if change == WindowChange::Close {
            // One that does not close is told as it is, after a while.
            self.wait(&scope.within(CLOSING), |w| w.win(id).is_none().then_some(()))?;
        }
        let world = self.lock();
        Ok(world.win(id).map(|w| world.window(w)))
    }

    fn at(&self, point: Point) -> Result<Option<Window>> {
        self.works("display", "asking for the window at a point")?;
        let world = self.lock();
        Ok(world.hit(point).map(|(w, _)| world.window(w)))
    }
}

impl World {
    fn found(&self, id: WindowId) -> Result<usize> {
        self.win(id).ok_or_else(|| PlatformError::WindowNotFound { what: id.0.to_string() })
    }

    pub(crate) fn window(&self, w: usize) -> Window {
        let win = &self.wins[w];
        let covered =
            |d: &Rect| d.intersect(&win.bounds).map_or(0, |r| i64::from(r.width) * i64::from(r.height));
        let display = self.displays.iter().max_by_key(|d| covered(&d.bounds)).map_or(0, |d| d.id);
        Window {
            id: win.id,
            title: win.title.clone(),
            app: self.scene.windows[win.spec].app.clone(),
            pid: Some(win.pid),
            bounds: win.bounds,
            content: win.content(),
            focused: self.active == Some(win.id),
            minimized: win.minimized,
            maximized: win.maximized,
            modal: win.modal,
            dialog: win.dialog,
            transient_for: win.owner,
            display,
        }
    }

    fn change(&mut self, id: WindowId, change: WindowChange) -> Result<()> {
        let w = self.found(id)?;
        let before = self.wins[w].bounds;
        let screen = self.window(w).display;
        let screen = self.displays.iter().find(|d| d.id == screen).map_or(before, |d| d.bounds);
        let win = &mut self.wins[w];
        match change {
            WindowChange::Maximize => {
                if !win.maximized {
                    win.normal = win.bounds;
                }
                win.bounds = screen;
                win.maximized = true;
                win.minimized = false;
            }
            WindowChange::Minimize => {
                win.minimized = true;
                if self.active == Some(id) {
                    self.active = self.wins.iter().find(|w| !w.minimized).map(|w| w.id);
                }
            }
            WindowChange::Restore => {
                if win.minimized {
                    win.minimized = false;
                } else {
                    win.maximized = false;
                    win.bounds = win.normal;
                }
            }
            WindowChange::Bounds { x, y, width, height } => {
                for (field, v) in [("width", width), ("height", height)] {
                    if v.is_some_and(|v| v <= 0) {
                        return Err(PlatformError::Invalid {
                            field: field.into(),
                            why: "must be more than 0".into(),
                        });
                    }
                }
                let b = win.bounds;
                win.bounds = Rect::new(
                    x.unwrap_or(b.x),
                    y.unwrap_or(b.y),
                    width.unwrap_or(b.width),
                    height.unwrap_or(b.height),
                );
                win.normal = win.bounds;
                win.maximized = false;
            }
            WindowChange::Close => {
                let spec = &self.scene.windows[win.spec];
                let pid = win.pid;
                let stubborn = spec.stubborn || self.blocker(id).is_some();
                if !stubborn && !self.proc(pid).is_some_and(|p| p.frozen) {
                    self.close(id);
                }
                return Ok(());
            }
        }
        let after = self.wins[w].bounds;
        self.damage.push(before);
        self.damage.push(after);
        Ok(())
    }
}
