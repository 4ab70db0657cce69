//! A host over a fake desktop.

use std::sync::Arc;

use deskhand_config::Home;
use deskhand_host::{Caller, Confirm, EvidenceStore, Host, Parts};
use deskhand_platform::CancelToken;
use deskhand_protocol::{Call, CallOptions, ErrorCode, Outcome, RequestId, Route};
use deskhand_testkit::FakeDesktop;
use serde_json::Value;

/// A form with everything the gate's tests touch.
pub(crate) const SCENE: &str = r##"
display 0 1000x800 primary
window "Login" pid=7 app="login" at=100,100 size=400x300 focused
  edit #user "User" value="" at=120,140 size=200x24 focused
  password #pw "Password" value="hunter2" at=120,170 size=200x24
  button #ok "OK" at=120,200 size=80x24 -> set #user "done"
  button #dead "Dead" at=220,200 size=80x24 noop
  button #ask "Ask" at=320,200 size=80x24 -> open "Really?"
hidden window "Really?" pid=7 app="login" modal for="Login" at=150,150 size=200x100
  button #no "No" at=170,200 size=60x24 -> close
window "Other" pid=8 app="other" at=600,100 size=300x300
  edit #notes "Notes" value="" at=620,140 size=200x24
"##;

/// Host, desktop and the folder they live in.
pub(crate) struct Stage {
    pub(crate) fake: FakeDesktop,
    pub(crate) host: Arc<Host>,
    pub(crate) dir: tempfile::TempDir,
}

impl Stage {
    pub(crate) fn new(scene: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().join("home"));
        home.ensure().unwrap();
        let fake = FakeDesktop::parse(scene);
        let host = Host::new(Parts {
            desktop: fake.desktop(),
            evidence: EvidenceStore::new(home.evidence_dir()).unwrap(),
            audit: deskhand_audit::Log::open(&home.audit_file()).unwrap(),
            confirm: Confirm::new([1; 32]),
            clock: || 1_000_000,
            home,
        });
        Self { fake, host, dir }
    }

    /// One call, as it comes.
    pub(crate) fn raw(&self, call: Call) -> Outcome {
        self.host.call(&call, &Caller { name: "test".into(), on_gone: &|_: CancelToken| {} })
    }

    /// One call; when it must be confirmed, it is.
    pub(crate) fn call(&self, tool: &str, args: Value) -> Outcome {
        self.confirmed(call(tool, args))
    }

    /// One call to a place.
    pub(crate) fn routed(&self, tool: &str, args: Value, route: Value) -> Outcome {
        let route: Route = serde_json::from_value(route).unwrap();
        self.confirmed(Call { route: Some(route), ..call(tool, args) })
    }

    pub(crate) fn confirmed(&self, call: Call) -> Outcome {
        let first = self.raw(call.clone());
        match &first.error {
            Some(e) if e.code == ErrorCode::ConfirmRequired => {
                let phrase = e.details["phrase"].as_str().unwrap().to_owned();
                self.raw(Call { confirm: Some(phrase), ..call })
            }
            _ => first,
        }
    }
}

pub(crate) fn call(tool: &str, args: Value) -> Call {
    Call {
        request_id: RequestId::fresh(),
        tool: tool.into(),
        args,
        route: None,
        confirm: None,
        timeout_ms: None,
        project: None,
        options: CallOptions::default(),
    }
}

/// The error's code, or what came instead.
pub(crate) fn code(outcome: &Outcome) -> ErrorCode {
    match &outcome.error {
        Some(e) => e.code,
        None => panic!("no error but {outcome:?}"),
    }
}
