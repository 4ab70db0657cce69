//! The session bus with an end to every wait.

use std::sync::mpsc;
use std::time::Duration;

use deskhand_platform::{PlatformError, Result, Scope};
use zbus::blocking::Connection;
use zbus::blocking::connection::Builder;

/// Calls that may hang on a frozen bus at once; each costs a thread until it gives up.
static HANGING: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
const MOST_HANGING: usize = 8;

/// Which bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Bus {
    /// The user's session; by this address or the environment's.
    Session(Option<String>),
    /// The machine's.
    System,
}

impl Bus {
    /// The address; `None` when nothing names one.
    pub(crate) fn address(&self) -> Option<String> {
        match self {
            Self::Session(Some(address)) => Some(address.clone()),
            Self::Session(None) => {
                let named = std::env::var("DBUS_SESSION_BUS_ADDRESS").ok().filter(|a| !a.is_empty());
                named.or_else(|| {
                    let path = format!("{}/bus", std::env::var("XDG_RUNTIME_DIR").ok()?);
                    std::path::Path::new(&path).exists().then(|| format!("unix:path={path}"))
                })
            }
            Self::System => Some("unix:path=/run/dbus/system_bus_socket".into()),
        }
    }

    /// Connects and runs `work`, at most as long as the scope lasts. `Ok(None)` when there is no bus.
    pub(crate) fn call<T: Send + 'static>(
        &self,
        doing: &str,
        scope: &Scope,
        work: impl FnOnce(&Connection) -> zbus::Result<T> + Send + 'static,
    ) -> Result<Option<zbus::Result<T>>> {
        use std::sync::atomic::Ordering;
        let Some(address) = self.address() else { return Ok(None) };
        scope.check(doing)?;
        let limit = scope.remaining();
        if HANGING.load(Ordering::SeqCst) >= MOST_HANGING {
            return Err(PlatformError::Timeout { doing: format!("{doing} (the bus hangs)") });
        }
        let (send, receive) = mpsc::channel();
        HANGING.fetch_add(1, Ordering::SeqCst);
        let spawned =
            std::thread::Builder::new().name("bus-call".into()).stack_size(512 * 1024).spawn(move || {
                let result = Builder::address(address.as_str())
                    .and_then(|b| b.method_timeout(limit).build())
                    .and_then(|conn| work(&conn));
                HANGING.fetch_sub(1, Ordering::SeqCst);
                let _ = send.send(result);
            });
        if let Err(e) = spawned {
            HANGING.fetch_sub(1, Ordering::SeqCst);
            return Err(PlatformError::other(doing, e));
        }
        loop {
            match receive.recv_timeout(scope.remaining().min(Duration::from_millis(20))) {
                Ok(result) => return Ok(Some(result)),
                Err(mpsc::RecvTimeoutError::Timeout) => scope.check(doing)?,
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    return Err(PlatformError::other(doing, "the bus call ended without an answer"));
                }
            }
        }
    }
}

/// Whether an error says that nobody offers the service.
pub(crate) fn no_service(error: &zbus::Error) -> bool {
    match error {
        zbus::Error::MethodError(name, ..) => {
            let name = name.as_str();
            name.ends_with(".ServiceUnknown")
                || name.ends_with(".NameHasNoOwner")
                || name.contains(".Spawn.")
                || name.ends_with(".UnknownMethod")
                || name.ends_with(".NotSupported")
        }
        _ => false,
    }
}
