//! `app_switch` (control seed §3.5.2).

use std::time::Duration;

use deskhand_platform::{PlatformError, Window, WindowChange};
use deskhand_protocol::{
    Category, Effect, EffectReport, Error, ErrorCode, Evidence, Lane, Layer, Level, Needs, Result, Risk,
    ToolMeta,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::apps::{WindowView, running};
use super::args::EVERYWHERE;
use crate::route::{blocking_modal, windows_json};
use crate::{Ctx, Done, Tool};

/// Brings an application to the front: by its name, its pid, or (when no application fits) a part of
/// a window's title. A modal dialog of it comes to the front instead of the window it blocks.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Name of the application.
    name: String,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Whether it has the focus now.
    success: bool,
    /// The application's name.
    name: String,
    /// Its process.
    pid: Option<u32>,
    /// The window that was brought to the front.
    window: WindowView,
}

pub(crate) struct AppSwitch;

impl Tool for AppSwitch {
    type Input = Input;
    type Output = Output;
    const META: ToolMeta = ToolMeta {
        name: "app_switch",
        title: "Bring an application to the front",
        title_zh: "切换到指定应用",
        risk: Risk::Low,
        category: Category::Apps,
        level: Level::L2,
        read_only: false,
        lane: Lane::ExclusiveDesktop,
        needs: &[Needs::Apps, Needs::Windows],
        evidence: Evidence::BeforeAfter,
        platforms: EVERYWHERE,
        local_only: true,
        timeout_ms: 10_000,
        roles: &[],
    };

    fn run(input: Input, ctx: &Ctx<'_>) -> Result<Done<Output>> {
        let (name, window, all) = choose(ctx, &input.name)?;
        let window = blocking_modal(&window, &all).cloned().unwrap_or(window);
        ctx.notebook.before()?;
        ctx.mark_now();
        ctx.scope.check("switching")?;
        if window.minimized {
            ctx.desktop.windows.change(window.id, WindowChange::Restore, ctx.scope)?;
        }
        match ctx.desktop.windows.activate(window.id, &ctx.scope.within(Duration::from_secs(5))) {
            // Whether it has the focus is looked at below.
            Ok(()) | Err(PlatformError::Timeout { .. }) => ctx.scope.check("switching")?,
            Err(e) => return Err(e.into()),
        }
        let now = ctx.desktop.windows.active()?;
        let (effect, why) = match &now {
            Some(now) if now.id == window.id => (Effect::Confirmed, format!("{:?} has the focus", now.title)),
            Some(now) if now.pid.is_some() && now.pid == window.pid => {
                (Effect::Partial, format!("{:?} of the same application has the focus", now.title))
            }
            Some(now) => (Effect::SuspectedNoop, format!("{:?} ({}) has the focus", now.title, now.app)),
            None => (Effect::SuspectedNoop, "no window has the focus".to_owned()),
        };
        let mut report = EffectReport::new(effect, why);
        report.layer = Some(Layer::Semantic);
        report.hit = Some(format!("window {:?}", window.title));
        let shown =
            now.filter(|n| n.pid == window.pid || n.id == window.id).unwrap_or_else(|| window.clone());
        let success = effect != Effect::SuspectedNoop;
        Ok(Done::own(Output { success, name, pid: window.pid, window: WindowView::from(&shown) }, report))
    }
}

/// The application's name, its window and all windows.
fn choose(ctx: &Ctx<'_>, name: &str) -> Result<(String, Window, Vec<Window>)> {
    let all = ctx.desktop.windows.list()?;
    let apps = match running(ctx, "name", name) {
        Ok(apps) => apps,
        Err(e) if e.code == ErrorCode::AppNotFound => {
            return match crate::tools::window_by_title(ctx, "name", name) {
                Ok(window) => Ok((window.app.clone(), window, all)),
                Err(_) => Err(e),
            };
        }
        Err(e) => return Err(e),
    };
    let own = |w: &&Window| apps.iter().any(|a| w.pid == Some(a.pid));
    // What already has the focus, else what lies on top, else what is minimised.
    let order = |w: &&Window| (!w.focused, w.minimized);
    let window = all.iter().filter(own).min_by_key(order).cloned();
    match window {
        Some(window) => {
            let name = apps
                .iter()
                .find(|a| window.pid == Some(a.pid))
                .map_or_else(|| window.app.clone(), |a| a.name.clone());
            Ok((name, window, all))
        }
        None => Err(Error::new(ErrorCode::WindowNotFound, format!("{name:?} runs but has no window"))
            .detail("field", "name")
            .detail("windows", windows_json(&all))),
    }
}
