//! The desktop facets on Linux: X11 by x11rb, accessibility by AT-SPI.
//!
//! [`connect`] never fails: what is missing (no display, no window manager, no accessibility bus)
//! answers with its error when it is called, and works again when it is there again. One folder or file
//! per facet:
//!
//! | module | facet |
//! |---|---|
//! | `screen` | monitors, MIT-SHM captures, XDamage changes, highlights |
//! | `input` | XTEST mouse and keyboard, keymap lookup, keycodes lent to characters no layout has |
//! | `elements` | the accessibility tree |
//! | `windows` | EWMH |
//! | `apps` | desktop files, processes |
//! | `clipboard` | the CLIPBOARD selection |
//! | `notifications`, `session` | services on the session bus, idle time, the machine |
//! | `capabilities` | what of all this works |
//!
//! `x11` holds the connections, `bus` the session bus, `process` the only `Command::new`, `lookup` what
//! `elements` may ask of `windows`. `unsafe` is in `screen::shm` and
//! `memory` alone.

mod apps;
mod bus;
mod capabilities;
mod clipboard;
mod elements;
mod input;
mod lookup;
pub mod memory;
mod notifications;
mod process;
mod screen;
mod session;
mod windows;
mod x11;

use std::sync::Arc;

use deskhand_platform::{Desktop, Elements};

pub use elements::AtspiElements;
pub use lookup::WindowLookup;

/// Which desktop to serve.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The X display (`:99`); default: the environment's `DISPLAY`.
    pub display: Option<String>,
}

/// The desktop of `options`, with the session bus the environment names.
#[must_use]
pub fn connect(options: &Options) -> Desktop {
    connect_with_bus(options, None)
}

/// The desktop of `options`, with the session bus at `session_bus` (a D-Bus address; default: the
/// environment's `DBUS_SESSION_BUS_ADDRESS`).
#[must_use]
pub fn connect_with_bus(options: &Options, session_bus: Option<String>) -> Desktop {
    let link = || Arc::new(x11::Link::new(options.display.clone()));
    let bus = bus::Bus::Session(session_bus.clone());
    let (shared, displays) = (link(), Arc::new(screen::Displays::default()));
    let screen = Arc::new(screen::X11Screen::new(Arc::clone(&shared), Arc::clone(&displays)));
    let windows = Arc::new(windows::X11Windows::new(Arc::clone(&shared), Arc::clone(&displays)));
    let input = Arc::new(input::X11Input::new(link(), Arc::clone(&displays)));
    let apps = Arc::new(apps::X11Apps::new(Arc::clone(&shared), Arc::clone(&windows)));
    let clipboard = Arc::new(clipboard::X11Clipboard::new(Arc::clone(&shared)));
    let notifications = Arc::new(notifications::BusNotifications::new(bus.clone()));
    let session = Arc::new(session::X11Session::new(Arc::clone(&shared), displays, bus.clone()));
    let lookup: Arc<dyn WindowLookup> = Arc::<windows::X11Windows>::clone(&windows);
    let elements: Arc<dyn Elements> = Arc::new(AtspiElements::with_bus(session_bus, lookup));
    let capabilities = Arc::new(capabilities::X11Capabilities {
        link: shared,
        screen: Arc::clone(&screen),
        clipboard: Arc::clone(&clipboard),
        notifications: Arc::clone(&notifications),
        session: Arc::clone(&session),
        elements: Arc::clone(&elements),
        bus,
    });
    Desktop { screen, input, elements, windows, apps, clipboard, notifications, session, capabilities }
}
