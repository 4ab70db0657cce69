//! `find` (host seed §2.0, R1.6).

use deskhand_protocol::{
    Candidate, Category, ElementRef, Evidence, Lane, Level, Needs, Result, Risk, Selector, SnapshotId,
    ToolMeta,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::args::{EVERYWHERE, bounded};
use super::tree_view::{Truncated, truncated};
use crate::{Ctx, Done, Tool, aim, select};

/// Finds elements by a selector in the routed window, else in the application in front: best first,
/// with scores and reasons. A candidate's `element` can be used as `target.elementRef`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// What to look for; every strategy given must match.
    selector: Selector,
    /// Most candidates, default 10.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
    /// Leave out what does not show, default true.
    visible_only: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The reading it was made in.
    snapshot_id: SnapshotId,
    /// How many fit in all.
    found: usize,
    /// The best, at most `limit`.
    candidates: Vec<Candidate>,
    /// The one an action would take.
    #[serde(skip_serializing_if = "Option::is_none")]
    chosen: Option<ElementRef>,
    /// Why that one.
    reason: String,
    /// Present when the reading was not whole: there may be a better one.
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<Truncated>,
}

pub(crate) struct Find;

impl Tool for Find {
    type Input = Input;
    type Output = Output;
    const META: ToolMeta = ToolMeta {
        name: "find",
        title: "Find elements by a selector",
        title_zh: "按选择器查找元素",
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

    fn check(input: &Input) -> Result<()> {
        bounded("limit", input.limit, aim::CANDIDATES, 1, 100)?;
        select::check(&input.selector)
    }

    fn run(input: Input, ctx: &Ctx<'_>) -> Result<Done<Output>> {
        let limit = bounded("limit", input.limit, aim::CANDIDATES, 1, 100)?;
        let found = aim::find(ctx, &input.selector, input.visible_only.unwrap_or(true), limit)?;
        let Some(best) = found.candidates.first() else {
            return Err(aim::not_found(ctx, &input.selector, &found));
        };
        let next =
            found.candidates.get(1).map_or_else(String::new, |c| format!("; the next has {}", c.score));
        let reason =
            format!("score {} of {} that fit: {}{next}", best.score, found.total, best.reasons.join(", "));
        Ok(Done::look(Output {
            snapshot_id: found.snapshot.id.clone(),
            found: found.total,
            chosen: Some(best.element.clone()),
            reason,
            truncated: found.snapshot.tree.limit.map(truncated),
            candidates: found.candidates,
        }))
    }
}
