//! `notification_send` (control seed §3.9.2).

use deskhand_platform::Urgency as Matters;
use deskhand_protocol::{
    Category, Effect, EffectReport, Evidence, Lane, Layer, Level, Needs, Result, Risk, ToolMeta,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::args::{EVERYWHERE, at_most, text};
use crate::{Ctx, Done, Tool};

/// Shows a notification to the user.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Its title, at most 256 characters.
    title: String,
    /// Its text, at most 4096 characters.
    body: String,
    /// How much it matters, default "normal".
    urgency: Option<Urgency>,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Urgency {
    Low,
    #[default]
    Normal,
    Critical,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Whether the notification service took it.
    success: bool,
    /// The service's id of it.
    id: u32,
}

pub(crate) struct NotificationSend;

impl Tool for NotificationSend {
    type Input = Input;
    type Output = Output;
    const META: ToolMeta = ToolMeta {
        name: "notification_send",
        title: "Show a notification",
        title_zh: "发送系统通知",
        risk: Risk::Low,
        category: Category::System,
        level: Level::L2,
        read_only: false,
        lane: Lane::ExclusiveDesktop,
        needs: &[Needs::Notifications],
        evidence: Evidence::Record,
        platforms: EVERYWHERE,
        local_only: true,
        timeout_ms: 10_000,
        roles: &[],
    };

    fn run(input: Input, ctx: &Ctx<'_>) -> Result<Done<Output>> {
        text("title", &input.title, 256)?;
        at_most("body", &input.body, 4096)?;
        let urgency = match input.urgency.unwrap_or_default() {
            Urgency::Low => Matters::Low,
            Urgency::Normal => Matters::Normal,
            Urgency::Critical => Matters::Critical,
        };
        ctx.scope.check("sending a notification")?;
        let id = ctx.desktop.notifications.send(&input.title, &input.body, urgency, ctx.scope)?;
        let mut report =
            EffectReport::new(Effect::Confirmed, format!("the notification service took it as number {id}"));
        report.layer = Some(Layer::Semantic);
        Ok(Done::own(Output { success: true, id }, report))
    }
}
