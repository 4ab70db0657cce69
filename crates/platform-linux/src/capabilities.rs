//! What works here, found out by doing it.

use std::sync::Arc;
use std::time::Duration;

use deskhand_platform::{
    Area, Capabilities, Elements, PlatformError, Result, Root, Scope, Screen as _, Session as _, TreeQuery,
};
use deskhand_protocol::{Check, CheckStatus, ErrorCode, Rect};
use x11rb::connection::Connection;
use x11rb::protocol::xproto::ConnectionExt as _;
use x11rb::protocol::{damage, xtest};

use crate::bus::Bus;
use crate::clipboard::X11Clipboard;
use crate::notifications::{self, BusNotifications};
use crate::process;
use crate::screen::X11Screen;
use crate::session::X11Session;
use crate::windows;
use crate::x11::{Conn, Link, Reply};

/// Longest time for one check.
const EACH: Duration = Duration::from_secs(2);

/// The report of an X11 desktop about itself.
pub(crate) struct X11Capabilities {
    pub(crate) link: Arc<Link>,
    pub(crate) screen: Arc<X11Screen>,
    pub(crate) clipboard: Arc<X11Clipboard>,
    pub(crate) notifications: Arc<BusNotifications>,
    pub(crate) session: Arc<X11Session>,
    pub(crate) elements: Arc<dyn Elements>,
    pub(crate) bus: Bus,
}

fn pass(id: &str, summary: impl Into<String>) -> Check {
    Check {
        id: id.into(),
        status: CheckStatus::Pass,
        summary: summary.into(),
        fix: String::new(),
        code: None,
    }
}

fn warn(id: &str, summary: impl Into<String>, fix: impl Into<String>) -> Check {
    Check { id: id.into(), status: CheckStatus::Warn, summary: summary.into(), fix: fix.into(), code: None }
}

fn fail(id: &str, summary: impl Into<String>, fix: impl Into<String>, code: ErrorCode) -> Check {
    Check {
        id: id.into(),
        status: CheckStatus::Fail,
        summary: summary.into(),
        fix: fix.into(),
        code: Some(code),
    }
}

const NO_DISPLAY: &str =
    "`deskhand up --detach` starts a host on a private desk; or set DISPLAY to a running X server";

/// A failed check of an X facet; without a display they all fail for that one reason.
fn failed(id: &str, error: &PlatformError, fix: &str) -> Check {
    let fix = if error.code() == ErrorCode::DisplayUnavailable { NO_DISPLAY } else { fix };
    fail(id, error.to_string(), fix, error.code())
}

impl X11Capabilities {
    fn conn(&self) -> Result<Arc<Conn>> {
        let conn = self.link.get()?;
        conn.sync("checking the display")?;
        Ok(conn)
    }

    fn display(&self) -> Check {
        let name = self.link.display_name();
        match self.screen.displays() {
            Ok(displays) => {
                let sizes: Vec<String> =
                    displays.iter().map(|d| format!("{}×{}", d.bounds.width, d.bounds.height)).collect();
                let vendor = self
                    .conn()
                    .map(|c| String::from_utf8_lossy(&c.x.setup().vendor).into_owned())
                    .unwrap_or_default();
                pass("display", format!("display {name} ({vendor}): {}", sizes.join(", ")))
            }
            Err(e) if name.is_empty() => {
                fail("display", "there is no display (DISPLAY is not set)", NO_DISPLAY, e.code())
            }
            Err(e) => fail("display", format!("display {name}: {e}"), NO_DISPLAY, e.code()),
        }
    }

    fn capture(&self, scope: &Scope) -> Check {
        const ID: &str = "screen_capture";
        match self.screen.capture(Area::Region(Rect::new(0, 0, 16, 16)), scope) {
            Ok(_) if !self.conn().is_ok_and(|c| c.has(damage::X11_EXTENSION_NAME).unwrap_or(false)) => warn(
                ID,
                "pixels can be read, but changes are not told (no DAMAGE extension)",
                "use an X server with the DAMAGE extension; without it effects cannot be verified by pixels",
            ),
            Ok(_) => pass(ID, "pixels can be read and changes are told"),
            Err(e) => failed(ID, &e, "use an X server with 24-bit colour"),
        }
    }

    fn input(&self) -> Check {
        const ID: &str = "input";
        const FIX: &str = "use an X server with the XTEST extension";
        let check = || -> Result<Check> {
            let conn = self.conn()?;
            if !conn.has(xtest::X11_EXTENSION_NAME)? {
                return Ok(fail(ID, "the X server lacks the XTEST extension", FIX, ErrorCode::Unsupported));
            }
            let wayland = conn.x.query_extension(b"XWAYLAND").wait("checking the display")?.present;
            if wayland {
                return Ok(fail(
                    ID,
                    "this is Xwayland: input reaches X11 programs only, not the Wayland session",
                    "log in to an X11 session, or use a private desk (`deskhand up --detach --desk`)",
                    ErrorCode::Unsupported,
                ));
            }
            Ok(pass(ID, "mouse and keyboard events can be sent (XTEST)"))
        };
        check().unwrap_or_else(|e| failed(ID, &e, FIX))
    }

    fn manager(&self) -> Check {
        const ID: &str = "window_manager";
        const FIX: &str = "start a window manager on the display (for example `openbox &`)";
        match self.conn().and_then(|c| windows::manager(&c)) {
            Ok(Some(name)) => pass(ID, format!("{name} manages the windows")),
            Ok(None) => fail(ID, "no window manager runs", FIX, ErrorCode::Unsupported),
            Err(e) => failed(ID, &e, FIX),
        }
    }

    /// The accessibility bus: its address, the switch, and the registry's answer.
    fn ax(&self, scope: &Scope, deep: bool) -> Check {
        const ID: &str = "ax";
        const FIX: &str =
            "install at-spi2-core and start the session with a session bus (`dbus-run-session`)";
        let reply = self.bus.call("checking accessibility", scope, |conn| {
            let name = Some("org.a11y.Bus");
            let address: String = conn
                .call_method(name, "/org/a11y/bus", Some("org.a11y.Bus"), "GetAddress", &())?
                .body()
                .deserialize()?;
            let properties = Some("org.freedesktop.DBus.Properties");
            let question = ("org.a11y.Status", "IsEnabled");
            let reply = conn.call_method(name, "/org/a11y/bus", properties, "Get", &question)?;
            let value: zbus::zvariant::OwnedValue = reply.body().deserialize()?;
            Ok((address, bool::try_from(value).unwrap_or(false)))
        });
        let broken = |why: String| fail(ID, why, FIX, ErrorCode::AxUnavailable);
        let (address, enabled) = match reply {
            Ok(None) => {
                return broken("there is no session bus (DBUS_SESSION_BUS_ADDRESS is not set)".into());
            }
            Ok(Some(Err(e))) => return broken(format!("the accessibility bus does not answer: {e}")),
            Err(e) => return broken(format!("the accessibility bus does not answer: {e}")),
            Ok(Some(Ok(found))) => found,
        };
        if address.is_empty() {
            return broken("the accessibility service gives no bus address".into());
        }
        if deep {
            let query = TreeQuery {
                root: Root::Desktop,
                max_depth: 1,
                max_nodes: 64,
                max_wall: EACH,
                include_text: false,
                visible_only: false,
            };
            if let Err(e) = self.elements.tree(&query, scope) {
                return fail(ID, format!("the accessibility registry does not answer: {e}"), FIX, e.code());
            }
        }
        if enabled {
            return pass(ID, "the accessibility bus answers and is switched on");
        }
        warn(
            ID,
            "the accessibility bus answers, but programs are not told to use it",
            "switch it on: `busctl --user set-property org.a11y.Bus /org/a11y/bus org.a11y.Status IsEnabled b true`",
        )
    }

    fn clipboard(&self, scope: &Scope) -> Check {
        const ID: &str = "clipboard";
        match self.clipboard.probe(scope) {
            Ok(None) => pass(ID, "the clipboard works; nobody owns it now (it is empty)"),
            Ok(Some(formats)) => pass(ID, format!("the clipboard works ({} formats on it)", formats.len())),
            Err(e) => failed(
                ID,
                &e,
                "the program that owns the clipboard hangs: close it, or copy something in another program",
            ),
        }
    }

    fn notifications(&self, scope: &Scope) -> Check {
        const ID: &str = "notifications";
        match self.notifications.probe(scope) {
            Ok(name) => pass(ID, format!("{name} shows notifications")),
            Err(e) => fail(ID, e.to_string(), notifications::FIX, e.code()),
        }
    }

    fn session(&self, scope: &Scope) -> Check {
        const ID: &str = "session";
        match (self.session.idle(), self.session.locked(scope)) {
            (Err(e), _) | (_, Err(e)) => failed(ID, &e, "use an X server with MIT-SCREEN-SAVER"),
            (Ok(_), Ok(Some(true))) => {
                warn(ID, "the screen is locked: input goes to the lock screen", "unlock the screen")
            }
            (Ok(idle), Ok(locked)) => {
                let lock = if locked.is_some() { "not locked" } else { "nothing tells about a lock" };
                pass(ID, format!("idle for {} s; {lock}", idle.as_secs()))
            }
        }
    }
}

/// Fonts, by fontconfig.
fn fonts() -> [Check; 2] {
    const FIX: &str = "install fonts, for example: apt install fontconfig fonts-dejavu-core";
    const CJK_FIX: &str = "apt install fonts-wqy-microhei (or fonts-noto-cjk)";
    let count = |args: &[&str]| {
        process::output("fc-list", args, EACH).map(|t| t.lines().filter(|l| !l.trim().is_empty()).count())
    };
    let fonts = match count(&[":", "family"]) {
        Some(0) => {
            fail("fonts", "no fonts are installed: programs draw no text", FIX, ErrorCode::Unsupported)
        }
        Some(n) => pass("fonts", format!("{n} font faces")),
        None => warn("fonts", "fc-list is missing or does not answer: cannot tell about fonts", FIX),
    };
    let cjk = match count(&[":lang=zh", "family"]) {
        Some(0) => warn("fonts_cjk", "no Chinese font: such text shows as boxes", CJK_FIX),
        Some(n) => pass("fonts_cjk", format!("{n} faces with Chinese characters")),
        None => warn("fonts_cjk", "fc-list is missing or does not answer: cannot tell about fonts", FIX),
    };
    [fonts, cjk]
}

fn browser() -> Check {
    let known =
        ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "firefox", "firefox-esr"];
    match known.iter().find(|b| process::find_program(b).is_some()) {
        Some(name) => pass("browser", format!("{name} is installed")),
        None => warn("browser", "no browser is installed", "apt install chromium"),
    }
}

impl Capabilities for X11Capabilities {
    fn checks(&self, scope: &Scope) -> Vec<Check> {
        let each = || scope.within(EACH);
        let [fonts, cjk] = fonts();
        vec![
            self.display(),
            self.capture(&each()),
            self.input(),
            self.manager(),
            self.ax(&each(), true),
            // Longer than a clipboard owner's own limit, so that a silent one is told as such.
            self.clipboard(&scope.within(2 * EACH)),
            self.notifications(&each()),
            fonts,
            cjk,
            browser(),
            self.session(&each()),
        ]
    }

    fn quick(&self, scope: &Scope) -> Vec<Check> {
        let short = scope.within(Duration::from_millis(200));
        vec![self.display(), self.capture(&short), self.input(), self.manager(), self.ax(&short, false)]
    }

    fn display_name(&self) -> String {
        self.link.display_name()
    }
}
