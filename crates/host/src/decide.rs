//! May this call happen? Pure. Until the policy engine is built: what only looks, runs; what acts
//! must be confirmed by repeating the call with its phrase.

use deskhand_protocol::{Assessment, Decision, DecisionRecord, Reason, ToolMeta};
use deskhand_tools::Assess;

/// Raises the tool's own risk by what the arguments show.
#[must_use]
pub(crate) fn assess(meta: &ToolMeta, seen: Assess) -> Assessment {
    let risk = seen.raise_to.map_or(meta.risk, |raised| raised.max(meta.risk));
    Assessment { risk, read_only: meta.read_only, why: seen.why }
}

/// The decision on an assessed call.
#[must_use]
pub fn decide(assessment: Assessment) -> DecisionRecord {
    let confirm = !assessment.read_only;
    let rule = if confirm {
        "an action with side effects is confirmed by its caller"
    } else {
        "a look needs no confirmation"
    };
    let reasons = vec![Reason {
        rule: rule.to_owned(),
        set_by: "built-in".to_owned(),
        decision: Decision::AutoApprove,
    }];
    DecisionRecord { decision: Decision::AutoApprove, confirm, assessment, reasons }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deskhand_protocol::Risk;

    #[test]
    fn every_tool_that_acts_needs_confirmation_and_no_look_does() {
        for tool in deskhand_tools::ALL {
            let meta = tool.meta();
            let record = decide(assess(meta, Assess::default()));
            assert_eq!(record.confirm, !meta.read_only, "{}", meta.name);
        }
    }

    #[test]
    fn arguments_raise_the_risk_and_never_lower_it() {
        let meta = deskhand_tools::find("screenshot").unwrap().meta();
        for (raise, want) in [(None, Risk::Low), (Some(Risk::High), Risk::High), (Some(Risk::Low), Risk::Low)]
        {
            let seen = Assess { raise_to: raise, why: vec![] };
            assert_eq!(assess(meta, seen).risk, want);
        }
    }
}
