//! `clipboard_write` (control seed §3.9.1).

use deskhand_protocol::{
    Category, Effect, EffectReport, Evidence, Lane, Layer, Level, Needs, Result, Risk, ToolMeta,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::args::{EVERYWHERE, at_most};
use crate::{Ctx, Done, Tool};

/// Longest text, in characters.
const MOST: usize = 1_000_000;

/// Puts text on the clipboard; it stays there while the host runs.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The text, at most 1000000 characters.
    text: String,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Whether the text is on the clipboard now.
    success: bool,
}

pub(crate) struct ClipboardWrite;

impl Tool for ClipboardWrite {
    type Input = Input;
    type Output = Output;
    const META: ToolMeta = ToolMeta {
        name: "clipboard_write",
        title: "Put text on the clipboard",
        title_zh: "写入剪贴板",
        risk: Risk::Medium,
        category: Category::System,
        level: Level::L2,
        read_only: false,
        lane: Lane::ExclusiveDesktop,
        needs: &[Needs::Clipboard],
        evidence: Evidence::Record,
        platforms: EVERYWHERE,
        local_only: true,
        timeout_ms: 10_000,
        roles: &[],
    };

    fn run(input: Input, ctx: &Ctx<'_>) -> Result<Done<Output>> {
        at_most("text", &input.text, MOST)?;
        ctx.scope.check("writing the clipboard")?;
        ctx.desktop.clipboard.write_text(&input.text, ctx.scope)?;
        let mut report = if ctx.verify {
            let back = ctx.desktop.clipboard.read_text(ctx.scope)?.unwrap_or_default();
            match back == input.text {
                true => EffectReport::new(Effect::Confirmed, "read back: the same text"),
                false => {
                    EffectReport::new(Effect::SuspectedNoop, "read back: another text is on the clipboard")
                }
            }
        } else {
            EffectReport::new(Effect::Unverifiable, "not read back")
        };
        report.layer = Some(Layer::Semantic);
        Ok(Done::own(Output { success: report.effect != Effect::SuspectedNoop }, report))
    }
}
