//! The accessibility facet on AT-SPI 2.
//!
//! - `conn`, `wire`: a D-Bus client that keeps many small calls in flight
//! - `bus`, `app`: the accessibility bus, the applications on it, the fastest way to each
//! - `read`, `walk`, `value`: reading a tree; `model`: the tree in memory; `live`: keeping it good
//! - `tree`: queries; `object`, `act`, `text`, `find`: single elements
//! - `events`: the stream of events

mod act;
mod app;
mod bus;
mod conn;
mod events;
mod find;
mod handle;
mod ident;
mod live;
mod model;
mod names;
mod object;
mod read;
mod text;
mod tree;
mod value;
mod walk;
mod wire;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use deskhand_platform::{
    ActReport, Element, ElementAction, ElementEvent, Elements, Handle, Mark, PlatformError, Result, Scope,
    TextRead, Tree, TreeQuery,
};
use deskhand_protocol::Point;

use self::bus::{AxBus, Place};
use self::conn::lock;
use self::events::Hub;
use crate::lookup::WindowLookup;

/// The accessibility tree of this desktop. Connects when first used, and again after the bus died.
pub struct AtspiElements {
    windows: Arc<dyn WindowLookup>,
    place: Place,
    hub: Arc<Hub>,
    bus: Mutex<Option<Arc<AxBus>>>,
}

impl AtspiElements {
    /// On the bus the environment names (`AT_SPI_BUS_ADDRESS`, else asked of the session bus).
    #[must_use]
    pub fn new(windows: Arc<dyn WindowLookup>) -> Self {
        Self::with_bus(None, windows)
    }

    /// On the accessibility bus that belongs to a session bus, or as [`AtspiElements::new`] does.
    #[must_use]
    pub fn with_bus(session_bus_address: Option<String>, windows: Arc<dyn WindowLookup>) -> Self {
        let place = session_bus_address.map_or(Place::Environment, Place::Session);
        Self { windows, place, hub: Arc::default(), bus: Mutex::default() }
    }

    fn bus(&self, scope: &Scope) -> Result<Arc<AxBus>> {
        scope.check("connecting to the accessibility bus")?;
        let mut slot = lock(&self.bus);
        if let Some(bus) = slot.as_ref().filter(|b| !b.conn.is_dead()) {
            return Ok(Arc::clone(bus));
        }
        *slot = None;
        let bus = Arc::new(AxBus::connect(&self.place, &self.hub, scope.cancel_token())?);
        *slot = Some(Arc::clone(&bus));
        Ok(bus)
    }
}

impl Elements for AtspiElements {
    fn tree(&self, query: &TreeQuery, scope: &Scope) -> Result<Tree> {
        tree::tree(&*self.bus(scope)?, &*self.windows, query, scope)
    }

    fn read(&self, handle: &Handle, scope: &Scope) -> Result<Element> {
        find::read(&*self.bus(scope)?, &*self.windows, handle, scope)
    }

    fn act(&self, handle: &Handle, action: &ElementAction, scope: &Scope) -> Result<ActReport> {
        act::act(&*self.bus(scope)?, handle, action, scope)
    }

    fn text(&self, handle: &Handle, limit_bytes: usize, scope: &Scope) -> Result<TextRead> {
        text::text(&*self.bus(scope)?, handle, limit_bytes, scope)
    }

    fn focused(&self, scope: &Scope) -> Result<Option<Element>> {
        find::focused(&*self.bus(scope)?, &*self.windows, scope)
    }

    fn at(&self, point: Point, pid: u32, scope: &Scope) -> Result<Option<Element>> {
        find::at(&*self.bus(scope)?, &*self.windows, point, pid, scope)
    }

    fn mark(&self) -> Result<Mark> {
        // Connected, so that what happens after the mark is seen.
        self.bus(&Scope::timeout(Duration::from_secs(3)))?;
        Ok(self.hub.mark())
    }

    fn wait_event(&self, since: Mark, pid: Option<u32>, scope: &Scope) -> Result<Option<ElementEvent>> {
        // A scope that has ended is no error here: what came already is still told.
        let bus = match self.bus(scope) {
            Ok(bus) => bus,
            Err(PlatformError::Timeout { .. }) => match lock(&self.bus).clone() {
                Some(bus) => bus,
                None => return Ok(None),
            },
            Err(e) => return Err(e),
        };
        let pid_of = |name: &str| bus.pid_of(name, &bus::patience(scope, Duration::from_millis(200)));
        self.hub.wait(since, pid, pid_of, scope)
    }
}
