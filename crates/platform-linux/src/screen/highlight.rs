//! A frame on the user's screen: four thin windows that let every click through.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use deskhand_platform::{Highlight, PlatformError, Result};
use deskhand_protocol::Rect;
use x11rb::connection::Connection;
use x11rb::protocol::shape::{self, ConnectionExt as _, SK, SO};
use x11rb::protocol::xproto::{
    ClipOrdering, ConfigureWindowAux, ConnectionExt as _, CreateWindowAux, StackMode, Window, WindowClass,
};

use crate::x11::{Conn, Reply};

const DOING: &str = "drawing a highlight";
/// Frames shown at once; one more takes the place of the oldest.
const MOST: usize = 16;
/// Longest time a frame stays.
const LONGEST: Duration = Duration::from_secs(60);

struct Shown {
    conn: Arc<Conn>,
    windows: [Window; 4],
    until: Instant,
}

impl Shown {
    fn remove(&self) {
        for window in self.windows {
            let _ = self.conn.x.destroy_window(window);
        }
        let _ = self.conn.x.flush();
    }
}

#[derive(Default)]
struct State {
    shown: VecDeque<Shown>,
    running: bool,
}

/// The frames that are on the screen now.
#[derive(Clone, Default)]
pub(crate) struct Highlights(Arc<Mutex<State>>);

impl Highlights {
    /// Draws a frame around `rect` (physical), kept inside `desktop`, and returns when it is there.
    pub(crate) fn show(
        &self,
        conn: &Arc<Conn>,
        rect: Rect,
        desktop: Rect,
        highlight: &Highlight,
    ) -> Result<()> {
        let t = i32::try_from(highlight.thickness).unwrap_or(i32::MAX).clamp(1, 32);
        let inside = Rect::new(desktop.x + t, desktop.y + t, desktop.width - 2 * t, desktop.height - 2 * t);
        let Some(r) = rect.intersect(&inside) else {
            return Err(PlatformError::OutOfRange { what: format!("highlight {:?}", highlight.rect) });
        };
        let sides = [
            Rect::new(r.x - t, r.y - t, r.width + 2 * t, t),
            Rect::new(r.x - t, r.bottom(), r.width + 2 * t, t),
            Rect::new(r.x - t, r.y, t, r.height),
            Rect::new(r.right(), r.y, t, r.height),
        ];
        let through = conn.has(shape::X11_EXTENSION_NAME)?;
        let mut windows = [0; 4];
        for (side, window) in sides.iter().zip(&mut windows) {
            *window = conn.id()?;
            let look = CreateWindowAux::new()
                .override_redirect(1)
                .background_pixel(highlight.color & 0xff_ffff)
                .save_under(1);
            let send = || -> std::result::Result<(), x11rb::errors::ConnectionError> {
                conn.x.create_window(
                    x11rb::COPY_DEPTH_FROM_PARENT,
                    *window,
                    conn.root,
                    side.x as i16,
                    side.y as i16,
                    side.width as u16,
                    side.height as u16,
                    0,
                    WindowClass::INPUT_OUTPUT,
                    x11rb::COPY_FROM_PARENT,
                    &look,
                )?;
                if through {
                    conn.x.shape_rectangles(
                        SO::SET,
                        SK::INPUT,
                        ClipOrdering::UNSORTED,
                        *window,
                        0,
                        0,
                        &[],
                    )?;
                }
                conn.x.map_window(*window)?;
                conn.x.configure_window(*window, &ConfigureWindowAux::new().stack_mode(StackMode::ABOVE))?;
                Ok(())
            };
            send().map_err(|e| PlatformError::display(DOING, e))?;
        }
        conn.x.get_input_focus().wait(DOING)?;
        let until = Instant::now() + highlight.time.min(LONGEST);
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.shown.len() == MOST
            && let Some(oldest) = state.shown.pop_front()
        {
            oldest.remove();
        }
        state.shown.push_back(Shown { conn: Arc::clone(conn), windows, until });
        if !state.running {
            let this = self.clone();
            std::thread::Builder::new()
                .name("highlights".into())
                .stack_size(64 * 1024)
                .spawn(move || this.run())
                .map_err(|e| PlatformError::other(DOING, e))?;
            state.running = true;
        }
        Ok(())
    }

    /// Takes frames away when their time is over; ends with the last one.
    fn run(&self) {
        loop {
            let next = {
                let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                let now = Instant::now();
                state.shown.retain(|s| {
                    if s.until <= now {
                        s.remove();
                    }
                    s.until > now
                });
                let Some(next) = state.shown.iter().map(|s| s.until).min() else {
                    state.running = false;
                    return;
                };
                next
            };
            // A frame shown meanwhile may end sooner: look at least every 50 ms.
            let left = next.saturating_duration_since(Instant::now());
            std::thread::sleep(left.min(Duration::from_millis(50)));
        }
    }

    /// Takes all frames away now.
    pub(crate) fn clear(&self) {
        for shown in self.0.lock().unwrap_or_else(PoisonError::into_inner).shown.drain(..) {
            shown.remove();
        }
    }
}
