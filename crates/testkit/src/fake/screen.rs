//! Pixels.

use std::sync::Arc;
use std::time::Instant;

use deskhand_platform::{
    Area, Change, Display, Frame, Highlight, Mark, PlatformError, Result, Scope, Screen,
};
use deskhand_protocol::Rect;

use super::Fake;
use super::draw::Canvas;

/// Most rectangles in one change.
const RECTS: usize = 32;

impl Screen for Fake {
    fn displays(&self) -> Result<Vec<Display>> {
        self.works("display", "listing displays")?;
        Ok(self.lock().displays.clone())
    }

    fn capture(&self, area: Area, scope: &Scope) -> Result<Frame> {
        self.enter("screen_capture", "capturing the screen", scope)?;
        let world = self.lock();
        let all = world.desktop();
        let outside = |what: String| PlatformError::OutOfRange { what };
        let (rect, scale) = match area {
            Area::All => (all, None),
            Area::Display(id) => {
                let display = world.displays.iter().find(|d| d.id == id);
                let display = display.ok_or_else(|| outside(format!("display {id}")))?;
                (display.bounds, Some(display.scale))
            }
            Area::Region(r) => {
                let text = format!("the region {}x{} at {},{}", r.width, r.height, r.x, r.y);
                (r.intersect(&all).ok_or_else(|| outside(text))?, None)
            }
            Area::Window(id) => {
                let gone = || PlatformError::WindowNotFound { what: id.0.to_string() };
                let win = &world.wins[world.win(id).ok_or_else(gone)?];
                if win.minimized {
                    return Err(PlatformError::NotActionable {
                        what: win.title.clone(),
                        reason: "minimized".into(),
                    });
                }
                (
                    win.bounds
                        .intersect(&all)
                        .ok_or_else(|| outside(format!("the window {:?}", win.title)))?,
                    None,
                )
            }
        };
        // Displays of different scales cannot share one frame: then it is given in logical pixels.
        let inside = || world.displays.iter().find(|d| d.bounds.contains_rect(&rect)).map(|d| d.scale);
        let scale = scale.or_else(inside).unwrap_or(1.0);
        let mut canvas = Canvas::new(rect, scale);
        world.draw(&mut canvas);
        Ok(Frame {
            size: canvas.size(),
            data: Arc::new(canvas.data),
            area: rect,
            scale,
            taken: Instant::now(),
        })
    }

    fn mark(&self) -> Result<Mark> {
        self.works("display", "marking changes")?;
        Ok(self.lock().damage.mark())
    }

    fn wait_change(&self, since: Mark, within: Option<Rect>, scope: &Scope) -> Result<Option<Change>> {
        self.works("display", "waiting for a change")?;
        self.wait(scope, |w| {
            let mut change: Option<Change> = None;
            for (mark, at, rect) in w.damage.since(since) {
                let rect = match within {
                    Some(area) => rect.intersect(&area),
                    None => Some(*rect),
                };
                let Some(rect) = rect else { continue };
                let change =
                    change.get_or_insert_with(|| Change { rects: Vec::new(), at: *at, mark: Mark(*mark) });
                change.mark = Mark(*mark);
                if change.rects.iter().any(|r| r.contains_rect(&rect)) {
                    continue;
                }
                let room = change.rects.len() < RECTS;
                match change.rects.last_mut() {
                    Some(last) if !room || last.intersect(&rect).is_some() => *last = last.union(&rect),
                    _ => change.rects.push(rect),
                }
            }
            change
        })
    }

    fn highlight(&self, highlight: &Highlight) -> Result<()> {
        self.works("display", "highlighting")?;
        self.with(|w| {
            w.highlights.retain(|(until, _)| *until > Instant::now());
            w.highlights.push((Instant::now() + highlight.time, highlight.clone()));
            w.damage.push(highlight.rect);
        });
        let weak = Arc::downgrade(&self.0);
        let (time, rect) = (highlight.time, highlight.rect);
        std::thread::spawn(move || {
            std::thread::sleep(time);
            if let Some(shared) = weak.upgrade() {
                Fake(shared).with(|w| w.damage.push(rect));
            }
        });
        Ok(())
    }
}
