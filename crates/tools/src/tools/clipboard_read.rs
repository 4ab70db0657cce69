//! `clipboard_read` (control seed §3.9.1).

use deskhand_protocol::{Category, Evidence, Lane, Level, Needs, Result, Risk, ToolMeta};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::args::EVERYWHERE;
use crate::{Ctx, Done, Tool};

/// Longest text that is answered, in bytes.
const MOST: usize = 4 << 20;

/// Reads the text on the clipboard and names the formats it is offered in.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The text; empty when there is none.
    text: String,
    /// Formats that are offered.
    formats: Vec<String>,
    /// True when the text was longer than 4 MiB and was cut.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
}

pub(crate) struct ClipboardRead;

impl Tool for ClipboardRead {
    type Input = Input;
    type Output = Output;
    const META: ToolMeta = ToolMeta {
        name: "clipboard_read",
        title: "Read the clipboard",
        title_zh: "读取剪贴板",
        risk: Risk::Medium,
        category: Category::System,
        level: Level::L2,
        read_only: true,
        lane: Lane::SharedRead,
        needs: &[Needs::Clipboard],
        evidence: Evidence::None,
        platforms: EVERYWHERE,
        local_only: true,
        timeout_ms: 10_000,
        roles: &[],
    };

    fn run(_: Input, ctx: &Ctx<'_>) -> Result<Done<Output>> {
        let formats = ctx.desktop.clipboard.formats(ctx.scope)?;
        let mut text = ctx.desktop.clipboard.read_text(ctx.scope)?.unwrap_or_default();
        let truncated = text.len() > MOST;
        if truncated {
            let cut = (0..=MOST).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
            text.truncate(cut);
        }
        Ok(Done::look(Output { text, formats, truncated }))
    }
}
