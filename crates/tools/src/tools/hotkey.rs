//! `hotkey` (control seed §3.4.3).

use deskhand_protocol::{Category, Evidence, Lane, Level, Needs, Result, Risk, ToolMeta};
use schemars::JsonSchema;
use serde::Deserialize;

use super::args::{EVERYWHERE, text};
use super::key_press::{Output, press};
use crate::{Ctx, Done, Tool, keys};

/// Presses a system-wide combination, for example ["alt", "tab"] or ["cmd", "space"]. The reason is
/// shown to whoever approves it and kept in the audit log.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Keys pressed in order and released in reverse, 1 to 8.
    keys: Vec<String>,
    /// Why it is pressed; must not be empty.
    #[schemars(length(min = 1, max = 1000))]
    reason: String,
}

pub(crate) struct Hotkey;

impl Tool for Hotkey {
    type Input = Input;
    type Output = Output;
    const META: ToolMeta = ToolMeta {
        name: "hotkey",
        title: "Press a system hotkey",
        title_zh: "系统热键",
        risk: Risk::High,
        category: Category::Keyboard,
        level: Level::L3,
        read_only: false,
        lane: Lane::ExclusiveDesktop,
        needs: &[Needs::Input],
        evidence: Evidence::BeforeAfter,
        platforms: EVERYWHERE,
        local_only: true,
        timeout_ms: 10_000,
        roles: &[],
    };

    fn check(input: &Input) -> Result<()> {
        text("reason", &input.reason, 1000)?;
        keys::chord("keys", &input.keys).map(|_| ())
    }

    fn run(input: Input, ctx: &Ctx<'_>) -> Result<Done<Output>> {
        ctx.notebook.note(&format!("reason: {}", input.reason.trim()));
        press(input.keys, ctx)
    }
}
