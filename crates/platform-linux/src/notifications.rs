//! Notifications through org.freedesktop.Notifications.

use std::collections::HashMap;

use deskhand_platform::{Notifications, PlatformError, Result, Scope, Urgency};
use zbus::zvariant::Value;

use crate::bus::{Bus, no_service};

const DOING: &str = "showing a notification";
const NAME: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";
/// How to get the service.
pub(crate) const FIX: &str =
    "install and start a notification service (for example `dunst`), or use a desktop that has one";

/// The notification facet on the session bus.
pub(crate) struct BusNotifications {
    bus: Bus,
}

impl BusNotifications {
    pub(crate) fn new(bus: Bus) -> Self {
        Self { bus }
    }

    /// The service's name and version.
    pub(crate) fn probe(&self, scope: &Scope) -> Result<String> {
        let reply = self.bus.call(DOING, scope, |conn| {
            let reply = conn.call_method(Some(NAME), PATH, Some(NAME), "GetServerInformation", &())?;
            let (name, _, version, _): (String, String, String, String) = reply.body().deserialize()?;
            Ok(format!("{name} {version}"))
        })?;
        sort(reply)
    }
}

fn unsupported(why: impl std::fmt::Display) -> PlatformError {
    PlatformError::Unsupported { what: "notifications".into(), why: format!("{why}; {FIX}") }
}

fn sort<T>(reply: Option<zbus::Result<T>>) -> Result<T> {
    match reply {
        None => Err(unsupported("there is no session bus (DBUS_SESSION_BUS_ADDRESS is not set)")),
        Some(Ok(value)) => Ok(value),
        Some(Err(e)) if no_service(&e) => Err(unsupported("no notification service runs")),
        Some(Err(zbus::Error::InputOutput(e))) if e.kind() == std::io::ErrorKind::TimedOut => {
            Err(PlatformError::Timeout { doing: DOING.into() })
        }
        Some(Err(zbus::Error::MethodError(name, text, _))) => {
            Err(PlatformError::other(DOING, format!("{name}: {}", text.unwrap_or_default())))
        }
        Some(Err(e)) => Err(unsupported(format!("the session bus does not answer ({e})"))),
    }
}

impl Notifications for BusNotifications {
    fn send(&self, title: &str, body: &str, urgency: Urgency, scope: &Scope) -> Result<u32> {
        let (title, body) = (title.to_owned(), body.to_owned());
        let level: u8 = match urgency {
            Urgency::Low => 0,
            Urgency::Normal => 1,
            Urgency::Critical => 2,
        };
        let reply = self.bus.call(DOING, scope, move |conn| {
            let hints = HashMap::from([("urgency", Value::U8(level))]);
            let none: Vec<&str> = Vec::new();
            let body = ("Deskhand", 0u32, "", title.as_str(), body.as_str(), none, hints, -1i32);
            conn.call_method(Some(NAME), PATH, Some(NAME), "Notify", &body)?.body().deserialize::<u32>()
        })?;
        sort(reply)
    }
}
