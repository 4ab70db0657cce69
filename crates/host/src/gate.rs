//! The way of a call: parse → assess → decide → confirm → record → lane → run → verify → evidence → audit.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use deskhand_audit::{Kind, Record, Typed};
use deskhand_platform::{CancelToken, Scope};
use deskhand_protocol::{
    Call, DecisionRecord, Effect, EffectReport, Error, ErrorCode, Evidence, EvidenceLevel, Lane as LaneKind,
    Outcome, RequestId, Result, Timings, ToolMeta,
};
use deskhand_tools::{Ctx, Notebook, Parsed, Watch};
use serde_json::Value;

use crate::confirm::Bound;
use crate::decide::{assess, decide};
use crate::evidence::{Bundle, check_request_id};
use crate::executions::Execution;
use crate::kept::kept;
use crate::{Host, runner, verify};

/// Longest time a call may ask for.
const MAX_TIMEOUT: Duration = Duration::from_secs(600);

/// Who asks.
pub struct Caller<'a> {
    /// For the log.
    pub name: String,
    /// Registers what must happen when the client goes away.
    pub on_gone: &'a dyn Fn(CancelToken),
}

/// A call that may run.
struct Admitted {
    parsed: Box<dyn Parsed>,
    meta: &'static ToolMeta,
    decision: DecisionRecord,
}

/// What the run left behind.
struct Ran {
    result: Result<(Value, Watch)>,
    effect: Option<EffectReport>,
    queued: Duration,
    run: Duration,
    verify: Duration,
}

impl Host {
    /// Runs one call from door to door. Never panics, never hangs past its time, always answers.
    pub fn call(self: &Arc<Self>, call: &Call, caller: &Caller<'_>) -> Outcome {
        let began = Instant::now();
        self.calls.fetch_add(1, Ordering::Relaxed);
        let execution = self.executions.open(&call.request_id, &call.tool, &caller.name);
        (caller.on_gone)(execution.cancel.clone());
        let mut outcome = Outcome {
            request_id: call.request_id.clone(),
            execution_id: execution.id.clone(),
            tool: call.tool.clone(),
            result: None,
            error: None,
            effect: None,
            evidence: None,
            timings: Timings::default(),
        };
        match self.admit(call) {
            Ok(admitted) => self.carry_out(call, admitted, execution, caller, began, &mut outcome),
            Err(error) => {
                self.record(Kind::CallDecided, call, &outcome, caller, None, Some(&error));
                outcome.effect = Some(EffectReport::new(Effect::Refused, error.message.clone()));
                outcome.error = Some(error);
            }
        }
        outcome.timings.total_ms = ms(began.elapsed());
        outcome
    }

    /// Everything that can say no before anything happens.
    fn admit(&self, call: &Call) -> Result<Admitted> {
        check_request_id(call.request_id.as_str())?;
        let tool = deskhand_tools::find(&call.tool).ok_or_else(|| unknown_tool(&call.tool))?;
        let meta = tool.meta();
        let parsed = tool.parse(call.args.clone())?;
        let decision = decide(assess(meta, parsed.assess()));
        if !meta.read_only && self.stopped.load(Ordering::SeqCst) {
            return Err(Error::new(
                ErrorCode::Stopped,
                "an emergency stop holds the desktop; no action runs",
            ));
        }
        if decision.confirm {
            let bound = Bound {
                tool: &call.tool,
                args: &call.args,
                route: call.route.as_ref(),
                project: call.project.as_deref(),
                options: call.options,
            };
            let now = (self.parts.clock)();
            match &call.confirm {
                None => return Err(self.parts.confirm.ask(&bound, now)),
                Some(phrase) => self.parts.confirm.take(phrase, &bound, now)?,
            }
        }
        Ok(Admitted { parsed, meta, decision })
    }

    fn carry_out(
        self: &Arc<Self>,
        call: &Call,
        admitted: Admitted,
        execution: Execution,
        caller: &Caller<'_>,
        began: Instant,
        outcome: &mut Outcome,
    ) {
        let Admitted { parsed, meta, decision } = admitted;
        let asked = call.timeout_ms.map_or(Duration::from_millis(meta.timeout_ms), Duration::from_millis);
        let scope = Scope::new(asked.min(MAX_TIMEOUT), execution.cancel.clone());
        let verify = call.options.verify.unwrap_or(true);
        // Decision and evidence are on disk before anything happens, or nothing happens.
        let opened = self
            .try_record(Kind::CallDecided, call, outcome, caller, Some(&decision), None)
            .and_then(|()| self.open_bundle(call, meta));
        let bundle = match opened {
            Ok(bundle) => bundle,
            Err(error) => {
                outcome.effect = Some(EffectReport::new(Effect::Refused, error.message.clone()));
                outcome.error = Some(error);
                return self.record(Kind::CallDone, call, outcome, caller, None, None);
            }
        };
        let work = Work {
            host: Arc::clone(self),
            call: call.clone(),
            meta,
            parsed,
            bundle: bundle.clone(),
            scope: scope.clone(),
            verify,
        };
        let ran = runner::run(&scope, meta.name, move || {
            let ran = work.run(&execution);
            // The execution ends with the thread that can send events, not with the answer.
            drop(execution);
            ran
        });
        match ran {
            Ok(ran) => settle(ran, meta, outcome),
            Err(error) => outcome.error = Some(error),
        }
        if let Some(error) = &outcome.error {
            self.after_error(error, meta, bundle.as_deref(), outcome);
        }
        outcome.timings.total_ms = ms(began.elapsed());
        if let Some(bundle) = bundle {
            bundle.finish(call, outcome, !verify);
            outcome.evidence = Some(bundle.reference());
        }
        self.record(Kind::CallDone, call, outcome, caller, None, None);
    }

    /// Nothing stays down after an action that did not end well, and the error says where things stand.
    fn after_error(&self, error: &Error, meta: &ToolMeta, bundle: Option<&Bundle>, outcome: &Outcome) {
        if meta.read_only {
            return;
        }
        let released = self.parts.desktop.input.release_all().unwrap_or_default();
        if let Some(bundle) = bundle {
            if error.code == ErrorCode::Aborted {
                bundle.note(&format!(
                    "execution {} was aborted; no further input was sent",
                    outcome.execution_id
                ));
            }
            if !released.is_empty() {
                bundle.note(&format!("released: {}", released.join(", ")));
            }
        }
    }

    fn open_bundle(&self, call: &Call, meta: &ToolMeta) -> Result<Option<Arc<Bundle>>> {
        let level = match call.options.evidence {
            Some(EvidenceLevel::Full) => Evidence::BeforeAfter,
            // What acts is always recorded; what looks may be asked to leave nothing.
            Some(EvidenceLevel::Minimal) if meta.read_only => Evidence::None,
            Some(EvidenceLevel::Minimal) => Evidence::Record,
            None => meta.evidence,
        };
        if level == Evidence::None {
            return Ok(None);
        }
        let bundle = Arc::new(self.parts.evidence.open(call, &self.parts.desktop)?);
        if level == Evidence::BeforeAfter {
            bundle.before()?;
        }
        Ok(Some(bundle))
    }

    fn record(
        &self,
        kind: Kind,
        call: &Call,
        outcome: &Outcome,
        caller: &Caller<'_>,
        decision: Option<&DecisionRecord>,
        error: Option<&Error>,
    ) {
        // Once the action has run, a log that cannot be written must not hide what happened.
        if let Err(e) = self.try_record(kind, call, outcome, caller, decision, error) {
            eprintln!("deskhand-host: {e}");
        }
    }

    fn try_record(
        &self,
        kind: Kind,
        call: &Call,
        outcome: &Outcome,
        caller: &Caller<'_>,
        decision: Option<&DecisionRecord>,
        error: Option<&Error>,
    ) -> Result<()> {
        let error = error.or(outcome.error.as_ref());
        let record = Record {
            ts: (self.parts.clock)(),
            kind,
            request_id: Some(RequestId(call.request_id.0.chars().take(128).collect())),
            execution_id: Some(outcome.execution_id.clone()),
            caller: Some(caller.name.clone()),
            tool: Some(call.tool.chars().take(64).collect()),
            args: (kind == Kind::CallDecided).then(|| kept(&call.args, Typed::Secret)),
            route: call.route.clone().filter(|_| kind == Kind::CallDecided),
            project: call
                .project
                .as_ref()
                .filter(|_| kind == Kind::CallDecided)
                .map(|p| p.chars().take(128).collect()),
            decision: decision.cloned(),
            effect: outcome.effect.as_ref().map(|e| e.effect),
            error: error.map(|e| e.code),
            evidence: outcome.evidence.as_ref().map(|e| e.id.clone()),
            note: error.map(|e| e.message.chars().take(500).collect()),
        };
        self.parts.audit.append(&record).map(|_| ()).map_err(|e| {
            Error::new(ErrorCode::EvidenceFailed, format!("the audit log cannot be written: {e}"))
        })
    }
}

/// The part of a call that runs on its own thread.
struct Work {
    host: Arc<Host>,
    call: Call,
    meta: &'static ToolMeta,
    parsed: Box<dyn Parsed>,
    bundle: Option<Arc<Bundle>>,
    scope: Scope,
    verify: bool,
}

impl Work {
    fn run(self, execution: &Execution) -> Ran {
        let waited = Instant::now();
        let acting = !self.meta.read_only;
        let turn = match self.meta.lane {
            LaneKind::SharedRead => Ok(None),
            LaneKind::ExclusiveDesktop => self.host.lane.enter(&self.scope).map(Some),
        };
        let queued = waited.elapsed();
        let turn = match turn {
            Ok(turn) => turn,
            Err(e) => return Ran::failed(e, queued),
        };
        execution.running();
        let began = Instant::now();
        let desktop = &self.host.parts.desktop;
        let routed = match deskhand_tools::resolve(self.call.route.as_ref(), desktop, acting, &self.scope) {
            Ok(routed) => routed,
            Err(e) => return Ran::failed(e, queued),
        };
        let none = NoNotebook;
        let notebook: &dyn Notebook = self.bundle.as_deref().map_or(&none, |b| b);
        let ctx = Ctx::new(desktop, &self.scope, &routed, &self.host.books, notebook, self.verify);
        if acting {
            ctx.mark_now();
        }
        let result = self.parsed.run(&ctx);
        let run = began.elapsed();
        let marks = ctx.marks();
        let judged = Instant::now();
        let effect = match &result {
            Ok((_, watch)) => verify::judge(watch.clone(), marks, self.verify, began, desktop, &self.scope),
            Err(_) => None,
        };
        if acting && result.is_err() {
            // Before the lane is free again, so that the next action does not find keys held down.
            let _ = desktop.input.release_all();
        }
        drop(turn);
        Ran { result, effect, queued, run, verify: judged.elapsed() }
    }
}

impl Ran {
    fn failed(error: Error, queued: Duration) -> Self {
        Self { result: Err(error), effect: None, queued, run: Duration::ZERO, verify: Duration::ZERO }
    }
}

/// Puts what the run left behind into the answer.
fn settle(ran: Ran, meta: &ToolMeta, outcome: &mut Outcome) {
    outcome.timings.queued_ms = ms(ran.queued);
    outcome.timings.run_ms = ms(ran.run);
    outcome.timings.verify_ms = ms(ran.verify);
    match ran.result {
        Ok((mut result, _)) => {
            // "success" never outlives the verdict that nothing happened.
            let failed = ran
                .effect
                .as_ref()
                .is_some_and(|e| matches!(e.effect, Effect::SuspectedNoop | Effect::Refused));
            if let Some(success) = result.get_mut("success").filter(|_| failed) {
                *success = Value::Bool(false);
            }
            outcome.result = Some(result);
            outcome.effect = ran.effect;
        }
        Err(error) => {
            if !meta.read_only {
                outcome.effect = Some(effect_of(&error));
            }
            outcome.error = Some(error);
        }
    }
}

/// What an action that ended in an error may have done.
fn effect_of(error: &Error) -> EffectReport {
    let typed = error.details.get("typed").and_then(Value::as_u64).unwrap_or(0);
    let sent = typed > 0 || error.details.get("sent") == Some(&Value::Bool(true));
    let effect = match error.code {
        // "Refused" says that nothing was sent.
        _ if sent => Effect::Partial,
        ErrorCode::Aborted => Effect::Partial,
        ErrorCode::Timeout
        | ErrorCode::DisplayUnavailable
        | ErrorCode::AppUnresponsive
        | ErrorCode::Internal => Effect::Unverifiable,
        _ => Effect::Refused,
    };
    EffectReport::new(effect, error.message.clone())
}

/// The tool's name is wrong; names that are nearly it help.
fn unknown_tool(name: &str) -> Error {
    let name: String = name.chars().take(64).collect();
    let near: Vec<&str> =
        deskhand_tools::ALL.iter().map(|t| t.meta().name).filter(|t| near(t, &name)).take(5).collect();
    let error = Error::new(ErrorCode::UnknownTool, format!("there is no tool {name:?}"));
    let error =
        if near.is_empty() { error } else { error.hint(format!("did you mean {}?", near.join(" or "))) };
    error.detail("near", near)
}

fn near(tool: &str, name: &str) -> bool {
    let plain = |s: &str| s.to_lowercase().replace(['-', '_', ' '], "");
    let (t, n) = (plain(tool), plain(name));
    let common = t.chars().zip(n.chars()).take_while(|(a, b)| a == b).count();
    n.len() > 2 && (t.contains(&n) || n.contains(&t) || common >= 4)
}

/// For calls that leave no evidence.
struct NoNotebook;

impl Notebook for NoNotebook {
    fn before(&self) -> Result<()> {
        Ok(())
    }
    fn tree(&self, _: &Value) {}
    fn candidates(&self, _: &deskhand_protocol::Selector, _: &[deskhand_protocol::Candidate]) {}
    fn picture(&self, _: &str, _: &str, _: &[u8]) {}
    fn note(&self, _: &str) {}
}

fn ms(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}
