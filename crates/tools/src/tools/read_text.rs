//! `read_text` (host seed §4.2.1, R1.10): the only way to an element's text.

use deskhand_platform::PlatformError;
use deskhand_protocol::{
    Category, Error, ErrorCode, Evidence, Lane, Level, Needs, Result, Risk, Role, Selector, Target, ToolMeta,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::args::{EVERYWHERE, bounded, wrong};
use super::redact::redact;
use crate::{Ctx, Done, Tool, aim};

/// Read beyond the limit, so that a secret across the cut is still seen whole and masked.
const BEYOND: usize = 4096;

/// Reads the text of one element. Password fields are refused. By default what looks like a secret
/// (keys, tokens, card numbers) is masked; "mask" also masks e-mail addresses and long numbers,
/// "none" masks nothing.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// The element by a selector; or give `target`.
    selector: Option<Selector>,
    /// The element; or give `selector`.
    target: Option<Target>,
    /// Most bytes of text, default 4096.
    #[schemars(range(min = 1, max = 1048576))]
    limit_bytes: Option<usize>,
    /// What to mask, default "default".
    redaction_mode: Option<RedactionMode>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum RedactionMode {
    None,
    Mask,
    #[default]
    Default,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The text.
    text: String,
    /// Whether there is more.
    truncated: bool,
    /// Bytes of the whole text, when known.
    total_bytes: Option<usize>,
    /// How many things were masked.
    redacted: usize,
    /// The element's role.
    role: Role,
    /// Its label.
    label: String,
}

pub(crate) struct ReadText;

impl Tool for ReadText {
    type Input = Input;
    type Output = Output;
    const META: ToolMeta = ToolMeta {
        name: "read_text",
        title: "Read the text of an element",
        title_zh: "读取元素文本",
        risk: Risk::Low,
        category: Category::Screen,
        level: Level::L1,
        read_only: true,
        lane: Lane::SharedRead,
        needs: &[Needs::Elements],
        evidence: Evidence::Record,
        platforms: EVERYWHERE,
        local_only: true,
        timeout_ms: 15_000,
        roles: &[],
    };

    fn run(input: Input, ctx: &Ctx<'_>) -> Result<Done<Output>> {
        let limit = bounded("limitBytes", input.limit_bytes, 4096, 1, 1 << 20)?;
        let target = match (input.selector, input.target) {
            (Some(selector), None) => Target::Selector(selector),
            (None, Some(target)) => target,
            (Some(_), Some(_)) => return Err(wrong("selector", "is given beside target; give one of them")),
            (None, None) => return Err(wrong("selector", "is missing; give selector or target")),
        };
        let aim = aim::aim(ctx, &target)?;
        let element = &aim.element;
        if element.secure {
            return Err(Error::new(
                ErrorCode::SecureField,
                format!("{} is a password field and is never read", aim.words()),
            ));
        }
        let read = match element.has_text {
            true => ctx.desktop.elements.text(aim.handle(), limit + BEYOND, ctx.scope),
            false => Err(PlatformError::Unsupported {
                what: "text".to_owned(),
                why: "the element has none".to_owned(),
            }),
        };
        let (whole, total_bytes, more) = match read {
            Ok(read) => (read.text, read.total_bytes, read.truncated),
            // What has no text of its own still has a value or a name.
            Err(PlatformError::NotActionable { .. } | PlatformError::Unsupported { .. }) => {
                let text =
                    element.value.clone().filter(|v| !v.is_empty()).unwrap_or_else(|| element.name.clone());
                let total = text.len();
                (text, Some(total), false)
            }
            Err(e) => return Err(e.into()),
        };
        let cut_off = more || whole.len() > limit;
        let (mut text, redacted) = match input.redaction_mode.unwrap_or_default() {
            RedactionMode::None => (whole, 0),
            RedactionMode::Mask => redact(&whole, true),
            RedactionMode::Default => redact(&whole, false),
        };
        let cut = (0..=limit.min(text.len())).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
        text.truncate(cut);
        Ok(Done::look(Output {
            text,
            truncated: cut_off,
            total_bytes,
            redacted,
            role: element.role,
            label: aim::label(element),
        }))
    }
}
