//! Idle time, lock, machine facts.

use std::time::Duration;

use deskhand_protocol::Point;

use super::form::{Outcome, Say, ensure, patient, until};
use super::{Case, Need, Stage};

pub(crate) const CASES: &[Case] = &[
    Case { name: "session: input ends idleness", needs: &[Need::Quiet], run: idle },
    Case { name: "session: the desk is not locked", needs: &[], run: locked },
    Case { name: "session: the machine's facts are sane", needs: &[], run: facts },
];

fn idle(stage: &dyn Stage) -> Outcome {
    let desktop = stage.desktop();
    let long = Duration::from_millis(300);
    let before = until("it has been idle for a while", || {
        Ok(Some(desktop.session.idle().say("idle")?).filter(|i| *i >= long))
    })?;
    let at = desktop.input.pointer().say("pointer")?;
    desktop.input.move_to(Point::new(if at.x == 20 { 21 } else { 20 }, 20), &patient()).say("move")?;
    // The motion may be on its way to the server while the question is answered.
    until("the motion ends the idleness", || Ok((desktop.session.idle().say("idle")? < before).then_some(())))
}

fn locked(stage: &dyn Stage) -> Outcome {
    let locked = stage.desktop().session.locked(&patient()).say("locked")?;
    ensure!(locked != Some(true), "it says that it is locked");
    Ok(())
}

fn facts(stage: &dyn Stage) -> Outcome {
    let info = stage.desktop().session.system_info().say("system_info")?;
    ensure!(!info.os.is_empty() && !info.arch.is_empty() && !info.session_type.is_empty(), "{info:?}");
    ensure!(info.cpus > 0 && info.memory_total > 0 && info.memory_free <= info.memory_total, "{info:?}");
    let displays = stage.desktop().screen.displays().say("displays")?;
    ensure!(
        info.displays == displays,
        "it has the displays {:?}, the screen has {displays:?}",
        info.displays
    );
    Ok(())
}
