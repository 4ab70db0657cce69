//! The session bus and the accessibility bus of a desk.

use std::fs;
use std::path::Path;
use std::time::Duration;

use zbus::blocking::connection::Builder;
use zbus::blocking::{Connection, Proxy};

use crate::error::{DeskError, Result};
use crate::locate::Programs;

const LIMIT: Duration = Duration::from_secs(10);

/// Writes the accessibility bus's service file into the runtime folder, where the session bus looks
/// first. Its settings are kept in memory, since switching accessibility on would otherwise change
/// the person's own desktop as well.
pub(crate) fn write_service(runtime: &Path, programs: &Programs) -> Result<()> {
    let dir = runtime.join("dbus-1/services");
    fs::create_dir_all(&dir).map_err(DeskError::io("make", &dir))?;
    let file = dir.join("org.a11y.Bus.service");
    let text = format!(
        "[D-BUS Service]\nName=org.a11y.Bus\nExec=/usr/bin/env GSETTINGS_BACKEND=memory {}\n",
        programs.a11y
    );
    fs::write(&file, text).map_err(DeskError::io("write", &file))
}

/// Connects to the desk's session bus.
pub(crate) fn connect(address: &str) -> Result<Connection> {
    let no = |e: zbus::Error| DeskError::start("the session bus", e);
    Builder::address(address).map_err(no)?.method_timeout(LIMIT).build().map_err(no)
}

/// Tells the bus which variables services started by it are to have.
pub(crate) fn tell_services(bus: &Connection, env: &[(String, String)]) -> Result<()> {
    let no = |e: zbus::Error| DeskError::start("the session bus", e);
    let env: std::collections::HashMap<&str, &str> =
        env.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    Proxy::new(bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
        .and_then(|proxy| proxy.call::<_, _, ()>("UpdateActivationEnvironment", &(env,)))
        .map_err(no)
}

/// Starts the accessibility bus and tells applications that somebody listens.
pub(crate) fn enable(bus: &Connection) -> Result<()> {
    let no = |e: &dyn std::fmt::Display| DeskError::start("the accessibility bus", e);
    let proxy = |interface| Proxy::new(bus, "org.a11y.Bus", "/org/a11y/bus", interface).map_err(|e| no(&e));
    let address: String = proxy("org.a11y.Bus")?.call("GetAddress", &()).map_err(|e| no(&e))?;
    if address.is_empty() {
        return Err(no(&"it has no address"));
    }
    let status = proxy("org.a11y.Status")?;
    for property in ["IsEnabled", "ScreenReaderEnabled"] {
        status.set_property(property, true).map_err(|e| no(&e))?;
    }
    Ok(())
}
