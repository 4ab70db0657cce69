//! A fake desk with the host's part of a call: route, context, notebook.

use std::cell::RefCell;
use std::time::Duration;

use deskhand_platform::{CancelToken, Scope};
use deskhand_protocol::{Candidate, Effect, EffectReport, Error, ErrorCode, Result, Route, Selector};
use deskhand_testkit::FakeDesktop;
use deskhand_tools::{Books, Ctx, Notebook, Watch, find, resolve};
use serde_json::{Value, json};

/// Long enough for a loaded machine; only there to end a hang.
const HANG: Duration = Duration::from_secs(60);

/// What a tool wrote down.
#[derive(Default)]
pub(crate) struct Notes {
    pub(crate) before: RefCell<u32>,
    pub(crate) trees: RefCell<Vec<Value>>,
    pub(crate) candidates: RefCell<Vec<Vec<Candidate>>>,
    pub(crate) pictures: RefCell<Vec<(String, usize)>>,
    pub(crate) lines: RefCell<Vec<String>>,
    /// The text of the call may be kept.
    pub(crate) plain: RefCell<bool>,
    /// What happens on the desktop while the picture before is taken.
    pub(crate) meanwhile: RefCell<Option<(FakeDesktop, String)>>,
    /// Evidence cannot be written.
    pub(crate) full_disk: bool,
}

impl Notebook for Notes {
    fn before(&self) -> Result<()> {
        if self.full_disk {
            return Err(Error::new(ErrorCode::EvidenceFailed, "no space left"));
        }
        *self.before.borrow_mut() += 1;
        if let Some((fake, effects)) = self.meanwhile.borrow_mut().take() {
            fake.run(&effects);
        }
        Ok(())
    }
    fn tree(&self, value: &Value) {
        self.trees.borrow_mut().push(value.clone());
    }
    fn candidates(&self, _: &Selector, candidates: &[Candidate]) {
        self.candidates.borrow_mut().push(candidates.to_vec());
    }
    fn picture(&self, name: &str, extension: &str, bytes: &[u8]) {
        self.pictures.borrow_mut().push((format!("{name}.{extension}"), bytes.len()));
    }
    fn note(&self, line: &str) {
        self.lines.borrow_mut().push(line.to_owned());
    }
    fn plain(&self) {
        *self.plain.borrow_mut() = true;
    }
}

/// A desk.
pub(crate) struct Desk {
    pub(crate) fake: FakeDesktop,
    pub(crate) books: Books,
    pub(crate) notes: Notes,
    pub(crate) cancel: CancelToken,
    pub(crate) time: Duration,
    pub(crate) verify: bool,
}

impl Desk {
    pub(crate) fn new(scene: &str) -> Self {
        Self {
            fake: FakeDesktop::parse(scene),
            books: Books::default(),
            notes: Notes::default(),
            cancel: CancelToken::new(),
            time: HANG,
            verify: true,
        }
    }

    /// Something happens during the next action, after it has looked and before it has sent anything.
    pub(crate) fn meanwhile(&self, effects: &str) {
        *self.notes.meanwhile.borrow_mut() = Some((self.fake.clone(), effects.to_owned()));
    }

    /// Calls a tool as the host does.
    pub(crate) fn call(&self, tool: &str, args: Value) -> Result<(Value, Watch)> {
        self.routed(tool, args, &Value::Null)
    }

    /// Calls a tool with a route.
    pub(crate) fn routed(&self, tool: &str, args: Value, route: &Value) -> Result<(Value, Watch)> {
        let tool = find(tool).unwrap_or_else(|| panic!("no tool {tool}"));
        let parsed = tool.parse(args)?;
        let desktop = self.fake.desktop();
        let scope = Scope::new(self.time, self.cancel.clone());
        let route: Option<Route> = serde_json::from_value(route.clone()).unwrap();
        let routed = resolve(route.as_ref(), &desktop, !tool.meta().read_only, &scope)?;
        let ctx = Ctx::new(&desktop, &scope, &routed, &self.books, &self.notes, self.verify);
        let out = parsed.run(&ctx);
        assert_eq!(
            desktop.input.held(),
            Vec::<String>::new(),
            "{} leaves something held down",
            tool.meta().name
        );
        out
    }

    /// Calls a tool that must work; its result.
    #[track_caller]
    pub(crate) fn ok(&self, tool: &str, args: Value) -> Value {
        self.call(tool, args).unwrap_or_else(|e| panic!("{tool}: {e} {:?}", e.details)).0
    }

    /// Calls a tool that must fail; its error.
    #[track_caller]
    pub(crate) fn err(&self, tool: &str, args: Value) -> Error {
        match self.call(tool, args) {
            Err(e) => e,
            Ok((value, _)) => panic!("{tool} should have failed: {value}"),
        }
    }

    /// Calls a tool whose effect it judges itself.
    #[track_caller]
    pub(crate) fn own(&self, tool: &str, args: Value) -> (Value, EffectReport) {
        match self.call(tool, args) {
            Ok((value, Watch::Own(report))) => (value, report),
            other => panic!("{tool}: {other:?}"),
        }
    }

    /// Checks the effect a tool reports itself.
    #[track_caller]
    pub(crate) fn effect(&self, tool: &str, args: Value, want: Effect) -> Value {
        let (value, report) = self.own(tool, args);
        assert_eq!(report.effect, want, "{tool}: {}", report.why);
        value
    }

    /// Calls a tool the host must judge.
    #[track_caller]
    pub(crate) fn watched(&self, tool: &str, args: Value) -> (Value, EffectReport) {
        match self.call(tool, args) {
            Ok((value, Watch::Changes { report, .. })) => (value, report),
            other => panic!("{tool}: {other:?}"),
        }
    }
}

/// `{selector: {byTitle: {equals: …}}}`
pub(crate) fn titled(title: &str) -> Value {
    json!({"selector": {"byTitle": {"equals": title}}})
}

/// Middle of an element by its scene id.
pub(crate) fn middle(desk: &Desk, id: &str) -> (i32, i32) {
    let p = desk.fake.element(id).and_then(|e| e.rect).unwrap().center();
    (p.x, p.y)
}
