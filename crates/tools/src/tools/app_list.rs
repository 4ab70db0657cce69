//! `app_list` (control seed §3.5.3).

use deskhand_protocol::{Category, Evidence, Lane, Level, Needs, Result, Risk, ToolMeta};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::apps::WindowView;
use super::args::EVERYWHERE;
use crate::{Ctx, Done, Tool};

/// Lists the applications that run, with their windows if asked.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Whether to list windows too, default false.
    include_windows: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The applications.
    apps: Vec<AppView>,
}

#[derive(Serialize, JsonSchema)]
struct AppView {
    /// Its name.
    name: String,
    /// Its process.
    pid: u32,
    /// Its windows, topmost first; empty unless `include_windows`.
    windows: Vec<WindowView>,
}

pub(crate) struct AppList;

impl Tool for AppList {
    type Input = Input;
    type Output = Output;
    const META: ToolMeta = ToolMeta {
        name: "app_list",
        title: "List the applications that run",
        title_zh: "列出运行中的应用",
        risk: Risk::Low,
        category: Category::Apps,
        level: Level::L2,
        read_only: true,
        lane: Lane::SharedRead,
        needs: &[Needs::Apps],
        evidence: Evidence::None,
        platforms: EVERYWHERE,
        local_only: true,
        timeout_ms: 10_000,
        roles: &[],
    };

    fn run(input: Input, ctx: &Ctx<'_>) -> Result<Done<Output>> {
        let windows =
            if input.include_windows.unwrap_or(false) { ctx.desktop.windows.list()? } else { Vec::new() };
        let apps = ctx.desktop.apps.running()?;
        let view = |app: deskhand_platform::App| AppView {
            windows: windows.iter().filter(|w| w.pid == Some(app.pid)).map(WindowView::from).collect(),
            name: app.name,
            pid: app.pid,
        };
        Ok(Done::look(Output { apps: apps.into_iter().map(view).collect() }))
    }
}
