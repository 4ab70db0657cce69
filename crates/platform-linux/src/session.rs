//! The user's session and the machine.

use std::sync::Arc;
use std::time::Duration;

use deskhand_platform::{PlatformError, Result, Scope, Session, SystemInfo};
use x11rb::protocol::screensaver::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _};

use crate::bus::Bus;
use crate::screen::Displays;
use crate::x11::{Conn, Link, Reply};

/// Longest wait for each service that might know about the lock.
const ASK: Duration = Duration::from_millis(500);

/// The session facet on X11.
pub(crate) struct X11Session {
    link: Arc<Link>,
    displays: Arc<Displays>,
    bus: Bus,
}

impl X11Session {
    pub(crate) fn new(link: Arc<Link>, displays: Arc<Displays>, bus: Bus) -> Self {
        Self { link, displays, bus }
    }

    /// What the desktop's screen saver says.
    fn saver(&self, scope: &Scope) -> Result<Option<bool>> {
        let services = [
            ("org.freedesktop.ScreenSaver", "/org/freedesktop/ScreenSaver"),
            ("org.gnome.ScreenSaver", "/org/gnome/ScreenSaver"),
            ("org.xfce.ScreenSaver", "/org/xfce/ScreenSaver"),
            ("org.mate.ScreenSaver", "/org/mate/ScreenSaver"),
        ];
        let reply = self.bus.call("asking for the screen lock", &scope.within(ASK), move |conn| {
            for (name, path) in services {
                // Asked first, so that the question does not start a service.
                let owned: bool = conn
                    .call_method(
                        Some("org.freedesktop.DBus"),
                        "/org/freedesktop/DBus",
                        Some("org.freedesktop.DBus"),
                        "NameHasOwner",
                        &name,
                    )?
                    .body()
                    .deserialize()?;
                if owned && let Ok(reply) = conn.call_method(Some(name), path, Some(name), "GetActive", &()) {
                    return reply.body().deserialize::<bool>().map(Some);
                }
            }
            Ok(None)
        });
        told(reply)
    }

    /// What the login manager says of this session.
    fn login(scope: &Scope) -> Result<Option<bool>> {
        let Ok(id) = std::env::var("XDG_SESSION_ID") else { return Ok(None) };
        let reply = Bus::System.call("asking the login manager", &scope.within(ASK), move |conn| {
            const NAME: &str = "org.freedesktop.login1";
            let manager = "org.freedesktop.login1.Manager";
            let path: zbus::zvariant::OwnedObjectPath = conn
                .call_method(
                    Some(NAME),
                    "/org/freedesktop/login1",
                    Some(manager),
                    "GetSession",
                    &id.as_str(),
                )?
                .body()
                .deserialize()?;
            let question = ("org.freedesktop.login1.Session", "LockedHint");
            let reply = conn.call_method(
                Some(NAME),
                &path,
                Some("org.freedesktop.DBus.Properties"),
                "Get",
                &question,
            )?;
            let value: zbus::zvariant::OwnedValue = reply.body().deserialize()?;
            Ok(bool::try_from(value).ok())
        });
        told(reply)
    }
}

/// A service that is missing, broken or slow tells nothing; only an aborted call is an error.
fn told(reply: Result<Option<zbus::Result<Option<bool>>>>) -> Result<Option<bool>> {
    match reply {
        Ok(Some(Ok(answer))) => Ok(answer),
        Ok(_) | Err(PlatformError::Timeout { .. }) => Ok(None),
        Err(e) => Err(e),
    }
}

impl Session for X11Session {
    fn idle(&self) -> Result<Duration> {
        self.link.with(|conn| {
            if !conn.has(screensaver::X11_EXTENSION_NAME)? {
                return Err(PlatformError::Unsupported {
                    what: "the idle time".into(),
                    why: "the X server lacks the MIT-SCREEN-SAVER extension".into(),
                });
            }
            let info = conn.x.screensaver_query_info(conn.root).wait("reading the idle time")?;
            Ok(Duration::from_millis(info.ms_since_user_input.into()))
        })
    }

    fn locked(&self, scope: &Scope) -> Result<Option<bool>> {
        // Either may know; locked wins, because not everybody tells everybody.
        let (saver, login) = (self.saver(scope)?, Self::login(scope)?);
        Ok(match (saver, login) {
            (Some(a), Some(b)) => Some(a || b),
            (a, b) => a.or(b),
        })
    }

    fn system_info(&self) -> Result<SystemInfo> {
        let (memory_total, memory_free) = memory();
        let x = self.link.with(|conn| {
            let displays = self.displays.layout(conn)?.monitors.into_iter().map(|m| m.display).collect();
            Ok((displays, keyboard(conn)?))
        });
        let (displays, keyboard) = x.unwrap_or_default();
        Ok(SystemInfo {
            os: os_name(),
            arch: std::env::consts::ARCH.into(),
            cpus: std::thread::available_parallelism()
                .map_or(1, |n| u32::try_from(n.get()).unwrap_or(u32::MAX)),
            memory_total,
            memory_free,
            displays,
            session_type: "x11".into(),
            keyboard,
        })
    }
}

/// Name and version from os-release, with the kernel's release.
fn os_name() -> String {
    let text =
        ["/etc/os-release", "/usr/lib/os-release"].iter().find_map(|p| std::fs::read_to_string(p).ok());
    let uname = rustix::system::uname();
    let kernel = format!("{} {}", uname.sysname().to_string_lossy(), uname.release().to_string_lossy());
    match text.as_deref().and_then(pretty_name) {
        Some(name) => format!("{name} ({kernel})"),
        None => kernel,
    }
}

fn pretty_name(text: &str) -> Option<String> {
    let value = text.lines().find_map(|l| l.strip_prefix("PRETTY_NAME="))?;
    let value = value.trim().trim_matches(['"', '\'']);
    (!value.is_empty()).then(|| value.to_owned())
}

/// Bytes of memory: all, and what can be used now.
fn memory() -> (u64, u64) {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let field = |name: &str| -> u64 {
        text.lines()
            .find_map(|l| l.strip_prefix(name))
            .and_then(|l| l.split_whitespace().next()?.parse::<u64>().ok())
            .unwrap_or(0)
            .saturating_mul(1024)
    };
    (field("MemTotal:"), field("MemAvailable:"))
}

/// Layout and input method, as far as they are told.
fn keyboard(conn: &Conn) -> Result<Option<String>> {
    const DOING: &str = "reading the keyboard layout";
    let atom = conn.x.intern_atom(true, b"_XKB_RULES_NAMES").wait(DOING)?.atom;
    let mut parts = Vec::new();
    if atom != 0 {
        let reply = conn.x.get_property(false, conn.root, atom, AtomEnum::STRING, 0, 256).wait(DOING)?;
        let words: Vec<String> =
            reply.value.split(|b| *b == 0).map(|w| String::from_utf8_lossy(w).into_owned()).collect();
        if let Some(layout) = words.get(2).filter(|l| !l.is_empty()) {
            let variant = words.get(3).filter(|v| !v.trim_matches(',').is_empty());
            parts.push(variant.map_or(layout.clone(), |v| format!("{layout} ({v})")));
        }
    }
    let method = std::env::var("XMODIFIERS").ok().and_then(|m| m.strip_prefix("@im=").map(str::to_owned));
    parts.extend(method.filter(|m| !m.is_empty() && m != "none").map(|m| format!("input method {m}")));
    Ok((!parts.is_empty()).then(|| parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_is_read() {
        assert_eq!(pretty_name("A=1\nPRETTY_NAME=\"Debian 12\"\n").as_deref(), Some("Debian 12"));
        assert_eq!(pretty_name("NAME=x"), None);
        let (total, free) = memory();
        assert!(total > 0 && free <= total);
        assert!(os_name().contains("Linux"));
    }
}
