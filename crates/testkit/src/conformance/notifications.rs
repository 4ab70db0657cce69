//! Notifications.

use deskhand_platform::Urgency;

use super::form::{Outcome, Say, ensure, patient};
use super::{Case, Need, Stage};

pub(crate) const CASES: &[Case] =
    &[Case { name: "notifications: each gets an id of its own", needs: &[Need::Notifications], run: send }];

fn send(stage: &dyn Stage) -> Outcome {
    let service = &stage.desktop().notifications;
    let first = service.send("Title 标题", "Body", Urgency::Normal, &patient()).say("send")?;
    let second = service.send("Title 2", "", Urgency::Low, &patient()).say("send")?;
    ensure!(first != 0 && second != 0 && first != second, "ids {first} and {second}");
    Ok(())
}
