//! One object: calls with a time limit and errors in our words.

use std::sync::Arc;
use std::time::{Duration, Instant};

use atspi::State;
use deskhand_platform::{Handle, PlatformError, Result, Scope};

use super::app::{App, gone};
use super::bus::{AxBus, patience};
use super::conn::{Ended, Reply};
use super::names::{self, ACCESSIBLE, COMPONENT, PROPERTIES, has, iface_bit};
use super::read::state_bits;
use super::tree;
use super::wire::{Args, Call, Reader, Variant};

/// Longest wait for one answer.
pub(super) const ANSWER: Duration = Duration::from_millis(1500);

/// An object of an application.
pub(super) struct Object<'a> {
    pub(super) bus: &'a AxBus,
    pub(super) app: Arc<App>,
    pub(super) path: String,
    pub(super) scope: &'a Scope,
}

/// What an object is, for decisions before acting on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub(super) role: u32,
    pub(super) states: u64,
    pub(super) ifaces: u8,
}

impl Kind {
    pub(super) fn can(&self, bit: u8) -> bool {
        self.ifaces & bit != 0
    }

    pub(super) fn is(&self, state: State) -> bool {
        has(self.states, state)
    }

    pub(super) fn secure(&self) -> bool {
        names::is_secure(self.role)
    }
}

impl<'a> Object<'a> {
    /// The object of a handle, whose application answers.
    pub(super) fn of(bus: &'a AxBus, handle: &Handle, scope: &'a Scope) -> Result<Self> {
        let (app, path) = tree::app_of(bus, handle, scope)?;
        match app.ping(bus, &patience(scope, tree::hello(&app))) {
            Err(PlatformError::AppNotFound { .. }) => {
                Err(PlatformError::ElementGone { what: format!("{path}: its application has ended") })
            }
            Err(e) => Err(e),
            Ok(()) => Ok(Self { bus, app, path: path.to_owned(), scope }),
        }
    }

    /// Another object of the same application.
    pub(super) fn other(&self, path: &str) -> Self {
        Self { bus: self.bus, app: Arc::clone(&self.app), path: path.to_owned(), scope: self.scope }
    }

    /// For messages.
    pub(super) fn what(&self) -> String {
        format!("{} of {}", self.path, self.app.label())
    }

    fn make<'c>(&'c self, iface: &'c str, member: &'c str, args: Args) -> Call<'c> {
        Call { dest: Some(&self.app.bus), path: &self.path, iface, member, args }
    }

    fn fault(&self, iface: &str, member: &str, (name, text): &(String, String)) -> PlatformError {
        let unknown = name.ends_with(".UnknownObject") || name.ends_with(".UnknownMethod");
        if gone(name) || name.ends_with(".UnknownObject") || (unknown && iface == ACCESSIBLE) {
            return PlatformError::ElementGone { what: self.what() };
        }
        let reason = format!("{iface}.{member} answered {name}: {text}");
        PlatformError::NotActionable { what: self.what(), reason }
    }

    /// Calls; `Err(None)` when there was no answer in time.
    pub(super) fn try_call(
        &self,
        iface: &str,
        member: &str,
        args: Args,
    ) -> Result<Reply, Option<PlatformError>> {
        self.answered(
            iface,
            member,
            self.bus.conn.call(self.make(iface, member, args), &patience(self.scope, ANSWER)),
        )
    }

    /// Like [`Object::try_call`], for what may open a dialog and answer only when it is closed.
    pub(super) fn try_act(
        &self,
        iface: &str,
        member: &str,
        args: Args,
    ) -> Result<Reply, Option<PlatformError>> {
        let time = patience(self.scope, ANSWER);
        match self.app.act_apart(self.bus, self.make(iface, member, args.clone()), &time) {
            Some(answer) => self.answered(iface, member, answer),
            None => self.try_call(iface, member, args),
        }
    }

    fn answered(
        &self,
        iface: &str,
        member: &str,
        answer: Result<Reply, Ended>,
    ) -> Result<Reply, Option<PlatformError>> {
        match answer {
            Ok(reply) => match &reply.error {
                Some(e) => Err(Some(self.fault(iface, member, e))),
                None => Ok(reply),
            },
            Err(Ended::Cancelled) => Err(Some(PlatformError::Cancelled)),
            Err(Ended::Dead) => Err(Some(self.app.error(Ended::Dead, member))),
            Err(_) => Err(None),
        }
    }

    /// Calls and must have an answer.
    pub(super) fn call(&self, iface: &str, member: &str, args: Args) -> Result<Reply> {
        self.try_call(iface, member, args)
            .map_err(|e| e.unwrap_or_else(|| self.app.error(Ended::Silent, member)))
    }

    /// A property, read by `take`.
    pub(super) fn property<T>(
        &self,
        iface: &str,
        name: &str,
        take: impl Fn(Variant<'_>) -> Option<T>,
    ) -> Result<Option<T>> {
        let reply = self.call(PROPERTIES, "Get", Args::default().str(iface).str(name))?;
        Ok(reply.ok().and_then(|mut r| take(r.variant())))
    }

    /// A whole-number property; zero when it is not told.
    pub(super) fn int(&self, iface: &str, name: &str) -> Result<i32> {
        let take = |v: Variant<'_>| if let Variant::Int(i) = v { i32::try_from(i).ok() } else { None };
        Ok(self.property(iface, name, take)?.unwrap_or(0))
    }

    /// Several calls at once; those that failed are `None`.
    pub(super) fn many(&self, calls: &[(&str, &str, Args)]) -> Vec<Option<Reply>> {
        let calls = calls.iter().map(|(iface, member, args)| self.make(iface, member, args.clone()));
        let (replies, _) = self.bus.conn.batch(calls, 64, &patience(self.scope, ANSWER));
        replies.into_iter().map(|r| r.filter(|r| r.error.is_none())).collect()
    }

    /// A call that answers with a bool.
    pub(super) fn yes(&self, iface: &str, member: &str, args: Args) -> Result<bool> {
        Ok(self.call(iface, member, args)?.ok().is_some_and(|mut r| r.u32() != 0))
    }

    /// Its states now.
    pub(super) fn states(&self) -> Result<u64> {
        let reply = self.call(ACCESSIBLE, "GetState", Args::default())?;
        Ok(reply.ok().map(|mut r| state_bits(&mut r)).unwrap_or_default())
    }

    /// What it is; `ElementGone` when it is not there any more.
    pub(super) fn kind(&self) -> Result<Kind> {
        let role = self.call(ACCESSIBLE, "GetRole", Args::default())?.ok().map_or(0, |mut r| r.u32());
        let states = self.states()?;
        if has(states, State::Defunct) || (role == 0 && states == 0) {
            return Err(PlatformError::ElementGone { what: self.what() });
        }
        let mut ifaces = 0;
        if let Some(mut r) = self.call(ACCESSIBLE, "GetInterfaces", Args::default())?.ok() {
            r.array(4, |r: &mut Reader<'_>| ifaces |= iface_bit(r.str()));
        }
        Ok(Kind { role, states, ifaces })
    }

    /// Looks again and again until `done`, for at most `time`. True when it came.
    pub(super) fn until(&self, time: Duration, mut done: impl FnMut() -> Result<bool>) -> Result<bool> {
        let end = Instant::now() + time;
        loop {
            if done()? {
                return Ok(true);
            }
            if Instant::now() >= end || self.scope.remaining().is_zero() {
                return Ok(false);
            }
            if self.scope.cancel_token().wait(Duration::from_millis(10)) {
                return Err(PlatformError::Cancelled);
            }
        }
    }

    /// Where it is, as its application says.
    pub(super) fn place(&self) -> super::model::Place {
        let reply = self.try_call(COMPONENT, "GetExtents", Args::default().u32(super::read::SCREEN)).ok();
        super::read::place(reply.as_ref())
    }
}
