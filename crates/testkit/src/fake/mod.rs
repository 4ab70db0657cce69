//! A desktop in memory, made from a text scene. All facets share one world.

mod apps;
mod capabilities;
mod clipboard;
mod draw;
mod effects;
mod elements;
mod input;
mod keys;
mod layout;
mod log;
mod notifications;
mod screen;
mod see;
mod session;
mod tree;
mod windows;
mod world;

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use deskhand_platform::{Desktop, Element, PlatformError, Result, Scope, WindowId};

use crate::scene::{Effect, Scene, SceneError, parse_effects};
use world::World;

pub use log::{InputEvent, Logged};

/// Threads that wait for `after` effects at one time; more are run at once instead.
const LATER: usize = 64;

/// The world and its bell.
struct Shared {
    world: Mutex<World>,
    changed: Condvar,
}

/// What implements the facets.
#[derive(Clone)]
struct Fake(Arc<Shared>);

/// A fake desktop.
#[derive(Clone)]
pub struct FakeDesktop {
    fake: Fake,
    desktop: Desktop,
}

impl FakeDesktop {
    /// From the text of a scene; an error names the line.
    pub fn try_parse(scene: &str) -> std::result::Result<Self, SceneError> {
        Ok(Self::new(Scene::parse(scene)?))
    }

    /// From the text of a scene that is known to be right.
    ///
    /// # Panics
    /// When it is not, with the line and what is wrong with it.
    #[must_use]
    pub fn parse(scene: &str) -> Self {
        Self::try_parse(scene).unwrap_or_else(|e| panic!("{e}"))
    }

    /// From a scene.
    #[must_use]
    pub fn new(scene: Scene) -> Self {
        let fake = Fake(Arc::new(Shared { world: Mutex::new(World::new(scene)), changed: Condvar::new() }));
        let facet = Arc::new(fake.clone());
        let desktop = Desktop {
            screen: facet.clone(),
            input: facet.clone(),
            elements: facet.clone(),
            windows: facet.clone(),
            apps: facet.clone(),
            clipboard: facet.clone(),
            notifications: facet.clone(),
            session: facet.clone(),
            capabilities: facet,
        };
        Self { fake, desktop }
    }

    /// Its facets.
    #[must_use]
    pub fn desktop(&self) -> Desktop {
        self.desktop.clone()
    }

    /// Every input event so far, with its time.
    #[must_use]
    pub fn log(&self) -> Vec<Logged> {
        self.fake.lock().log.events.clone()
    }

    /// The log as lines, for `expect!`.
    #[must_use]
    pub fn log_text(&self) -> String {
        let world = self.fake.lock();
        let mut out: String = world.log.events.iter().map(|l| format!("{}\n", l.event)).collect();
        if world.log.dropped > 0 {
            out.push_str(&format!("… {} more\n", world.log.dropped));
        }
        out
    }

    /// Forgets the log.
    pub fn clear_log(&self) {
        self.fake.lock().log = log::Log::default();
    }

    /// Changes the desktop as an effect of the scene would, e.g. `close window "Login"`.
    ///
    /// # Panics
    /// When the effect cannot be read.
    pub fn run(&self, effects: &str) {
        let effects = parse_effects(effects).unwrap_or_else(|e| panic!("{e}"));
        self.fake.with(|w| w.run(&effects, None));
    }

    /// The value of `#id` in an open window.
    #[must_use]
    pub fn value(&self, id: &str) -> Option<String> {
        let world = self.fake.lock();
        let (w, e) = world.by_scene_id(id.trim_start_matches('#'))?;
        Some(world.wins[w].els[e].value.clone())
    }

    /// `#id` as the accessibility facet sees it.
    #[must_use]
    pub fn element(&self, id: &str) -> Option<Element> {
        let world = self.fake.lock();
        let (w, e) = world.by_scene_id(id.trim_start_matches('#'))?;
        Some(world.ax_element(w, e, true))
    }

    /// The open window with this title.
    #[must_use]
    pub fn window(&self, title: &str) -> Option<WindowId> {
        self.fake.lock().wins.iter().find(|w| w.title == title).map(|w| w.id)
    }

    /// Notifications that were shown: title and body.
    #[must_use]
    pub fn notifications(&self) -> Vec<(String, String)> {
        self.fake.lock().notifications.clone()
    }
}

impl Fake {
    /// The world, to look at.
    fn lock(&self) -> MutexGuard<'_, World> {
        self.0.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the world, wakes who waits, and starts what comes later.
    fn with<T>(&self, change: impl FnOnce(&mut World) -> T) -> T {
        let (out, later) = {
            let mut world = self.lock();
            let out = change(&mut world);
            (out, std::mem::take(&mut world.later))
        };
        self.0.changed.notify_all();
        for (i, (time, effects, from)) in later.into_iter().enumerate() {
            self.later(if i < LATER { time } else { Duration::ZERO }, effects, from);
        }
        out
    }

    /// Runs effects after a while; not at all when the desktop is gone by then.
    fn later(&self, time: Duration, effects: Vec<Effect>, from: Option<WindowId>) {
        let weak = Arc::downgrade(&self.0);
        std::thread::spawn(move || {
            std::thread::sleep(time);
            if let Some(shared) = weak.upgrade() {
                Fake(shared).with(|w| w.run(&effects, from));
            }
        });
    }

    /// Waits until `look` finds something; `None` at the deadline, an error when cancelled.
    fn wait<T>(&self, scope: &Scope, mut look: impl FnMut(&mut World) -> Option<T>) -> Result<Option<T>> {
        let mut world = self.lock();
        loop {
            if let Some(found) = look(&mut world) {
                return Ok(Some(found));
            }
            if scope.cancel_token().is_cancelled() {
                return Err(PlatformError::Cancelled);
            }
            let left = scope.remaining();
            if left.is_zero() {
                return Ok(None);
            }
            // The token has no bell of ours to ring, so it is looked at often.
            let nap = left.min(Duration::from_millis(5));
            world = self.0.changed.wait_timeout(world, nap).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// What every call on `part` does first: fail when it is broken, take its time when it is slow.
    fn enter(&self, part: &str, doing: &str, scope: &Scope) -> Result<()> {
        self.works(part, doing)?;
        scope.check(doing)?;
        let slow = self.lock().scene.slow;
        if slow.is_zero() { Ok(()) } else { scope.sleep(slow, doing) }
    }

    /// Fails when a part is broken.
    fn works(&self, part: &str, doing: &str) -> Result<()> {
        let world = self.lock();
        if world.broken.contains("display") && !matches!(part, "ax" | "notifications" | "session") {
            return Err(PlatformError::DisplayUnavailable { doing: doing.to_owned(), source: None });
        }
        if !world.broken.contains(part) {
            return Ok(());
        }
        Err(match part {
            "ax" => PlatformError::AxUnavailable { doing: doing.to_owned(), source: None },
            "screen_capture" | "input" => PlatformError::PermissionMissing {
                what: doing.to_owned(),
                fix: format!("take `broken {part}` out of the scene"),
            },
            part => PlatformError::Unsupported {
                what: doing.to_owned(),
                why: format!("the scene says `broken {part}`"),
            },
        })
    }

    /// An application that is frozen costs its time once and is then skipped for a while.
    fn answers(&self, pid: u32, doing: &str, scope: &Scope) -> Result<()> {
        const PATIENCE: Duration = Duration::from_millis(250);
        const SKIP: Duration = Duration::from_secs(5);
        let (app, skip) = match self.lock().proc(pid) {
            Some(p) if p.frozen => {
                (format!("{} (pid {pid})", p.app), p.skip_until.is_some_and(|until| until > Instant::now()))
            }
            _ => return Ok(()),
        };
        if !skip {
            let patient = scope.within(PATIENCE);
            let thawed = self.wait(&patient, |w| (!w.proc(pid).is_some_and(|p| p.frozen)).then_some(()))?;
            if thawed.is_some() {
                return Ok(());
            }
            if let Some(p) = self.lock().proc(pid) {
                p.skip_until = Some(Instant::now() + SKIP);
            }
        }
        Err(PlatformError::AppUnresponsive { app, doing: doing.to_owned() })
    }
}
