//! What works, said before it is called.

use deskhand_protocol::CheckStatus;

use super::form::{Outcome, ensure, patient};
use super::{Case, Need, Stage};

pub(crate) const CASES: &[Case] = &[
    Case { name: "capabilities: the parts of this stage pass", needs: &[], run: parts_pass },
    Case { name: "capabilities: the quick form tells the same", needs: &[], run: quick_agrees },
    Case { name: "capabilities: a check that fails says how to mend it", needs: &[], run: fixes },
];

fn parts_pass(stage: &dyn Stage) -> Outcome {
    let checks = stage.desktop().capabilities.checks(&patient());
    for (id, need) in [
        ("display", None),
        ("screen_capture", None),
        ("input", None),
        ("clipboard", None),
        ("window_manager", Some(Need::WindowManager)),
        ("ax", Some(Need::Ax)),
        ("notifications", Some(Need::Notifications)),
    ] {
        let check = checks.iter().find(|c| c.id == id).ok_or_else(|| format!("there is no check {id:?}"))?;
        let lacks = need.and_then(|n| stage.lacks(n)).is_some();
        ensure!(lacks || check.status == CheckStatus::Pass, "{id} is {:?}: {}", check.status, check.summary);
        ensure!(!lacks || check.status != CheckStatus::Pass, "{id} is lacking here, but its check passes");
    }
    ensure!(!stage.desktop().capabilities.display_name().is_empty(), "the display has no name");
    Ok(())
}

fn quick_agrees(stage: &dyn Stage) -> Outcome {
    let all = stage.desktop().capabilities.checks(&patient());
    let quick = stage.desktop().capabilities.quick(&patient());
    ensure!(!quick.is_empty(), "the quick form tells nothing");
    for q in &quick {
        let full =
            all.iter().find(|c| c.id == q.id).ok_or_else(|| format!("{} is only in the quick form", q.id))?;
        let same = (full.status == CheckStatus::Fail) == (q.status == CheckStatus::Fail);
        ensure!(same, "{}: quick says {:?}, full says {:?}", q.id, q.status, full.status);
    }
    Ok(())
}

fn fixes(stage: &dyn Stage) -> Outcome {
    for check in stage.desktop().capabilities.checks(&patient()) {
        ensure!(!check.summary.is_empty(), "{} says nothing", check.id);
        ensure!(
            check.status == CheckStatus::Pass || !check.fix.is_empty(),
            "{} is {:?} and says no fix",
            check.id,
            check.status
        );
    }
    Ok(())
}
