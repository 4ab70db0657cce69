//! `system_info` (control seed §3.9.3).

use deskhand_protocol::{Category, Evidence, Lane, Level, Result, Risk, ToolMeta};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::args::EVERYWHERE;
use crate::{Ctx, Done, Tool};

/// Facts about the machine and its displays.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Name and version of the operating system.
    os: String,
    /// Processor architecture.
    arch: String,
    /// Processor cores.
    cpus: u32,
    /// Bytes of memory.
    memory_total: u64,
    /// Bytes that can be used now.
    memory_free: u64,
    /// The displays, primary first.
    displays: Vec<DisplayView>,
    /// "x11", "wayland", "quartz", "win32".
    session_type: String,
    /// Keyboard layout and input method, when known.
    #[serde(skip_serializing_if = "Option::is_none")]
    keyboard: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct DisplayView {
    /// Its id, for `route.display.displayId`.
    id: u32,
    /// Width in logical pixels.
    width: i32,
    /// Height in logical pixels.
    height: i32,
    /// Physical pixels per logical pixel.
    scale: f64,
}

pub(crate) struct SystemInfo;

impl Tool for SystemInfo {
    type Input = Input;
    type Output = Output;
    const META: ToolMeta = ToolMeta {
        name: "system_info",
        title: "Facts about the machine",
        title_zh: "获取系统信息",
        risk: Risk::Low,
        category: Category::System,
        level: Level::L1,
        read_only: true,
        lane: Lane::SharedRead,
        needs: &[],
        evidence: Evidence::None,
        platforms: EVERYWHERE,
        local_only: true,
        timeout_ms: 5_000,
        roles: &[],
    };

    fn run(_: Input, ctx: &Ctx<'_>) -> Result<Done<Output>> {
        let info = ctx.desktop.session.system_info()?;
        let view = |d: &deskhand_platform::Display| DisplayView {
            id: d.id,
            width: d.bounds.width,
            height: d.bounds.height,
            scale: d.scale,
        };
        Ok(Done::look(Output {
            os: info.os,
            arch: info.arch,
            cpus: info.cpus,
            memory_total: info.memory_total,
            memory_free: info.memory_free,
            displays: info.displays.iter().map(view).collect(),
            session_type: info.session_type,
            keyboard: info.keyboard,
        }))
    }
}
