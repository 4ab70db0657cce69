//! `observe` (host seed §2.4, R1.8): everything of one moment.

use std::time::{Duration, Instant};

use deskhand_platform::{Desktop, Frame, PlatformError, Scope, Tree, TreeQuery, Window};
use deskhand_protocol::{
    Category, Error, Evidence, Lane, Level, Needs, Point, Rect, Result, Risk, SnapshotId, ToolMeta,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::args::EVERYWHERE;
use super::screenshot::{self, ImageFormat, answer, of_screen, of_window, wanted};
use super::tree_view::{Bounds, TreeView, keep};
use crate::{Ctx, Done, Tool, aim};

/// Tries in all: the first and two more.
const TRIES: u32 = 3;

/// Looks at the desktop once: picture, element tree, focused window, application in front, pointer,
/// all of one moment. `skewMs` says how far apart the parts were taken; when the screen changed in
/// between it looks again, at most twice, and `changedDuring` says whether it still did.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Also read text contents into the tree, default false.
    include_text: Option<bool>,
    /// Levels of the tree, default 24.
    max_depth: Option<u32>,
    /// Elements of the tree, default 1500.
    max_nodes: Option<u32>,
    /// Wall time for the tree in milliseconds, default 1500.
    max_wall_time_ms: Option<u64>,
    /// Image format, default "jpeg".
    format: Option<ImageFormat>,
    /// JPEG quality 0 to 100, default 80.
    #[schemars(range(min = 0, max = 100))]
    quality: Option<u8>,
    /// Take a picture, default true.
    screenshot: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The tree's snapshot; null when there is no tree.
    snapshot_id: Option<SnapshotId>,
    /// The picture: the routed window or display, else the whole desktop.
    #[serde(skip_serializing_if = "Option::is_none")]
    screenshot: Option<screenshot::Output>,
    /// The tree of the routed window, else of the application in front; null when it cannot be read.
    ax_snapshot: Option<TreeView>,
    /// Why there is no tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    ax_error: Option<Error>,
    /// The window with the focus.
    focused_window: Option<FocusedWindow>,
    /// The application it belongs to.
    frontmost_app: Option<FrontmostApp>,
    /// The pointer.
    cursor: Point,
    /// Milliseconds from the first part to the last.
    skew_ms: f64,
    /// How often it looked.
    attempts: u32,
    /// Whether the screen changed during the last look.
    changed_during: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FocusedWindow {
    window_id: u64,
    title: String,
    app: String,
    pid: Option<u32>,
    bounds: Rect,
    display: u32,
    modal: bool,
    maximized: bool,
}

#[derive(Serialize, JsonSchema)]
struct FrontmostApp {
    name: String,
    pid: Option<u32>,
}

pub(crate) struct Observe;

impl Tool for Observe {
    type Input = Input;
    type Output = Output;
    const META: ToolMeta = ToolMeta {
        name: "observe",
        title: "Look at the desktop: picture, tree, focus, pointer",
        title_zh: "原子观测（截图 + 元素树 + 焦点）",
        risk: Risk::Low,
        category: Category::Screen,
        level: Level::L1,
        read_only: true,
        lane: Lane::SharedRead,
        needs: &[Needs::Screen, Needs::Elements, Needs::Windows],
        evidence: Evidence::Record,
        platforms: EVERYWHERE,
        local_only: true,
        timeout_ms: 70_000,
        roles: &[],
    };

    fn run(input: Input, ctx: &Ctx<'_>) -> Result<Done<Output>> {
        wanted(input.format, input.quality)?;
        let bounds = Bounds {
            max_depth: input.max_depth,
            max_nodes: input.max_nodes,
            max_wall_time_ms: input.max_wall_time_ms,
        };
        let picture = input.screenshot.unwrap_or(true);
        let mut attempts = 0;
        let (moment, query) = loop {
            attempts += 1;
            let query = bounds.query(aim::root(ctx)?, input.include_text.unwrap_or(false), true)?;
            let moment = look(ctx, &query, picture)?;
            let again = moment.changed && attempts < TRIES && ctx.scope.remaining() > moment.skew * 4;
            if !again {
                break (moment, query);
            }
        };
        let Moment { frame, tree, active, cursor, skew, changed } = moment;
        let screenshot = match frame {
            None => None,
            Some((frame, display)) => {
                let (output, picture) = answer(ctx, &frame, display, input.format, input.quality)?;
                let extension = if picture.mime_type == "image/png" { "png" } else { "jpg" };
                ctx.notebook.picture("observe", extension, &picture.bytes);
                Some(output)
            }
        };
        let (ax_snapshot, ax_error) = match tree {
            Ok(tree) => (Some(keep(ctx, tree, &query)), None),
            Err(e) => (None, Some(e)),
        };
        Ok(Done::look(Output {
            snapshot_id: ax_snapshot.as_ref().map(|t| t.snapshot_id.clone()),
            screenshot,
            ax_snapshot,
            ax_error,
            frontmost_app: active.as_ref().map(|w| FrontmostApp { name: w.app.clone(), pid: w.pid }),
            focused_window: active.map(FocusedWindow::from),
            cursor,
            skew_ms: skew.as_secs_f64() * 1000.0,
            attempts,
            changed_during: changed,
        }))
    }
}

impl From<Window> for FocusedWindow {
    fn from(w: Window) -> Self {
        Self {
            window_id: w.id.0,
            title: w.title,
            app: w.app,
            pid: w.pid,
            bounds: w.bounds,
            display: w.display,
            modal: w.modal,
            maximized: w.maximized,
        }
    }
}

/// The parts of one look.
struct Moment {
    frame: Option<(Frame, Option<u32>)>,
    tree: Result<Tree>,
    active: Option<Window>,
    cursor: Point,
    skew: Duration,
    changed: bool,
}

/// The tree takes longest, so it comes first and the quick parts follow together.
fn look(ctx: &Ctx<'_>, query: &TreeQuery, picture: bool) -> Result<Moment> {
    let desktop: &Desktop = ctx.desktop;
    let mark = desktop.screen.mark()?;
    let started = Instant::now();
    let tree = match desktop.elements.tree(query, ctx.scope) {
        Err(e @ PlatformError::Cancelled) => return Err(e.into()),
        // Without a tree there is still something to see.
        other => other.map_err(Error::from),
    };
    ctx.scope.check("observing")?;
    let active = aim::in_front(ctx)?;
    let frame = if picture {
        let (area, display) = match &ctx.route.window {
            Some(window) => of_window(ctx, window)?,
            None => of_screen(ctx)?,
        };
        Some((desktop.screen.capture(area, ctx.scope)?, display))
    } else {
        None
    };
    let cursor = desktop.input.pointer()?;
    let skew = started.elapsed();
    // What is known already; nothing is waited for.
    let now = Scope::new(Duration::ZERO, ctx.scope.cancel_token().clone());
    let changed = desktop.screen.wait_change(mark, None, &now)?.is_some();
    Ok(Moment { frame, tree, active, cursor, skew, changed })
}
