//! `app_close` (control seed §3.5.4; settled question 1).

use deskhand_protocol::{
    Category, Effect, EffectReport, Error, ErrorCode, Evidence, Lane, Layer, Level, Needs, Result, Risk,
    ToolMeta,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::apps::{WindowView, running};
use super::args::EVERYWHERE;
use crate::{Assess, Ctx, Done, Tool};

/// Closes an application as its close button would, every process of that name (or one, by its pid).
/// An application that asks whether to save stays open and its dialog is named. `force` kills it and
/// loses unsaved work.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Name of the application, or its pid.
    name: String,
    /// Kill it, default false.
    force: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Whether all of it is gone.
    success: bool,
    /// The application's name.
    name: String,
    /// Processes that are gone.
    closed: Vec<u32>,
    /// Processes that still run.
    open: Vec<u32>,
    /// A dialog it shows now.
    #[serde(skip_serializing_if = "Option::is_none")]
    dialog: Option<WindowView>,
}

pub(crate) struct AppClose;

impl Tool for AppClose {
    type Input = Input;
    type Output = Output;
    const META: ToolMeta = ToolMeta {
        name: "app_close",
        title: "Close an application",
        title_zh: "关闭应用程序",
        risk: Risk::Medium,
        category: Category::Apps,
        level: Level::L2,
        read_only: false,
        lane: Lane::ExclusiveDesktop,
        needs: &[Needs::Apps],
        evidence: Evidence::BeforeAfter,
        platforms: EVERYWHERE,
        local_only: true,
        timeout_ms: 30_000,
        roles: &[],
    };

    fn assess(input: &Input) -> Assess {
        if input.force == Some(true) {
            return Assess {
                raise_to: Some(Risk::High),
                why: vec!["force kills the process and loses unsaved work; it needs level L4".to_owned()],
            };
        }
        Assess::default()
    }

    fn run(input: Input, ctx: &Ctx<'_>) -> Result<Done<Output>> {
        let apps = running(ctx, "name", &input.name)?;
        if apps.iter().any(|a| a.pid == std::process::id()) {
            return Err(Error::new(ErrorCode::NotActionable, "that is the host itself")
                .detail("reason", "own process"));
        }
        let force = input.force.unwrap_or(false);
        ctx.notebook.before()?;
        ctx.mark_now();
        let (mut closed, mut open) = (Vec::new(), Vec::new());
        for app in &apps {
            ctx.scope.check("closing a program")?;
            let gone = ctx.desktop.apps.close(app.pid, force, ctx.scope)?;
            if gone { &mut closed } else { &mut open }.push(app.pid);
        }
        let windows = ctx.desktop.windows.list().unwrap_or_default();
        let dialog = windows.iter().find(|w| w.dialog && w.pid.is_some_and(|p| open.contains(&p)));
        let (effect, why) = match (closed.is_empty(), open.is_empty(), dialog) {
            (_, true, _) => (Effect::Confirmed, format!("process {} gone", list(&closed))),
            (_, _, Some(d)) => {
                (Effect::Partial, format!("it shows the dialog {:?} and waits for an answer", d.title))
            }
            (false, ..) => {
                (Effect::Partial, format!("process {} gone, {} still there", list(&closed), list(&open)))
            }
            (true, ..) => (Effect::SuspectedNoop, format!("process {} still there", list(&open))),
        };
        let mut report = EffectReport::new(effect, why);
        report.layer = Some(Layer::Semantic);
        let name = apps.first().map(|a| a.name.clone()).unwrap_or_default();
        report.hit = Some(name.clone());
        let dialog = dialog.map(WindowView::from);
        Ok(Done::own(Output { success: open.is_empty(), name, closed, open, dialog }, report))
    }
}

fn list(pids: &[u32]) -> String {
    pids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
