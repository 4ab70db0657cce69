//! `dump_ax_tree` (host seed §2, §4.2).

use deskhand_platform::Root;
use deskhand_protocol::{Category, Error, ErrorCode, Evidence, Lane, Level, Needs, Result, Risk, ToolMeta};
use schemars::JsonSchema;
use serde::Deserialize;

use super::args::EVERYWHERE;
use super::tree_view::{Bounds, TreeView, keep};
use crate::{Ctx, Done, Tool, aim};

/// Reads the element tree within bounds: structure, roles, places, states and short labels. A bound
/// that was hit is named in `truncated` beside the partial tree. Text contents only with
/// `includeText`; passwords never.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Where to start. Default: the routed window, else the application in front.
    root: Option<Start>,
    /// Levels below the root, default 24.
    max_depth: Option<u32>,
    /// Elements in all, default 1500.
    max_nodes: Option<u32>,
    /// Wall time in milliseconds, default 1500.
    max_wall_time_ms: Option<u64>,
    /// Also read text contents, default false.
    include_text: Option<bool>,
    /// Leave out what does not show, default true.
    visible_only: Option<bool>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Start {
    Window,
    App,
    Desktop,
}

pub(crate) struct DumpAxTree;

impl Tool for DumpAxTree {
    type Input = Input;
    type Output = TreeView;
    const META: ToolMeta = ToolMeta {
        name: "dump_ax_tree",
        title: "Read the element tree",
        title_zh: "枚举 UI 元素树",
        risk: Risk::Low,
        category: Category::Screen,
        level: Level::L1,
        read_only: true,
        lane: Lane::SharedRead,
        needs: &[Needs::Elements],
        evidence: Evidence::Record,
        platforms: EVERYWHERE,
        local_only: true,
        timeout_ms: 70_000,
        roles: &[],
    };

    fn run(input: Input, ctx: &Ctx<'_>) -> Result<Done<TreeView>> {
        let root = match input.root {
            None => aim::root(ctx)?,
            Some(Start::Desktop) => Root::Desktop,
            Some(Start::App) => match (ctx.route.pid, active(ctx)?) {
                (Some(pid), _) => Root::App(pid),
                (None, Some(w)) => w.pid.map_or(Root::Window(w.id), Root::App),
                (None, None) => return Err(nothing_in_front()),
            },
            Some(Start::Window) => match &ctx.route.window {
                Some(window) => Root::Window(window.id),
                None => Root::Window(active(ctx)?.ok_or_else(nothing_in_front)?.id),
            },
        };
        let bounds = Bounds {
            max_depth: input.max_depth,
            max_nodes: input.max_nodes,
            max_wall_time_ms: input.max_wall_time_ms,
        };
        let query =
            bounds.query(root, input.include_text.unwrap_or(false), input.visible_only.unwrap_or(true))?;
        let tree = ctx.desktop.elements.tree(&query, ctx.scope)?;
        Ok(Done::look(keep(ctx, tree, &query)))
    }
}

fn active(ctx: &Ctx<'_>) -> Result<Option<deskhand_platform::Window>> {
    Ok(ctx.desktop.windows.active()?)
}

fn nothing_in_front() -> Error {
    Error::new(ErrorCode::WindowNotFound, "no window has the focus")
        .hint("route the call to a window, or use root \"desktop\"")
}
