//! Programs.

use std::time::{Duration, Instant};

use deskhand_platform::PlatformError;

use super::form::{Form, Outcome, PATIENCE, Say, ensure, ensure_err, ms, patient, until};
use super::{Case, FORM_APP, FORM_APP_CHINESE, Need, Stage};

pub(crate) const CASES: &[Case] = &[
    Case { name: "apps: the form is installed", needs: &[Need::Installed], run: installed },
    Case { name: "apps: the form runs while it runs", needs: &[Need::Form], run: running },
    Case { name: "apps: launched by name, closed by pid", needs: &[Need::Installed], run: launch },
    Case { name: "apps: launched by its Chinese name", needs: &[Need::Installed], run: launch_chinese },
    Case { name: "apps: an unknown program is not found", needs: &[], run: unknown },
    Case { name: "apps: a dead pid is not found", needs: &[], run: dead },
    Case { name: "apps: force ends a frozen program", needs: &[Need::Form, Need::Freeze], run: force },
];

fn installed(stage: &dyn Stage) -> Outcome {
    let apps = stage.desktop().apps.installed().say("installed")?;
    let form = apps
        .iter()
        .find(|a| a.name == FORM_APP)
        .ok_or_else(|| format!("not among {} programs", apps.len()))?;
    ensure!(
        form.other_names.iter().any(|n| n == FORM_APP_CHINESE),
        "its other names are {:?}",
        form.other_names
    );
    ensure!(
        !form.desktop_id.is_empty() && !form.desktop_id.ends_with(".desktop"),
        "its id is {:?}",
        form.desktop_id
    );
    ensure!(!form.program.is_empty(), "it has no program");
    Ok(())
}

fn running(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let pid = form.app.pid;
    let apps = &stage.desktop().apps;
    let runs = |apps: &[deskhand_platform::App]| apps.iter().any(|a| a.pid == pid);
    let list = apps.running().say("running")?;
    ensure!(runs(&list), "pid {pid} is not among {list:?}");
    let closed = apps.close(pid, false, &patient()).say("close")?;
    ensure!(closed, "it says that it did not end");
    ensure!(!runs(&apps.running().say("running")?), "it still runs");
    Ok(())
}

/// Launches, waits for the window, closes, and looks that everything is gone.
fn launch_as(stage: &dyn Stage, name: &str) -> Outcome {
    let desktop = stage.desktop();
    let launched = desktop.apps.launch(name, &[], &patient()).say("launch")?;
    let end = || desktop.apps.close(launched.pid, true, &patient());
    let shown = until("its window shows", || {
        let list = desktop.windows.list().say("list")?;
        Ok(list.into_iter().find(|w| w.title == FORM_APP && w.pid == Some(launched.pid)))
    });
    if let Err(e) = shown {
        let _ = end();
        return Err(format!("{e} ({launched:?})"));
    }
    let closed = desktop.apps.close(launched.pid, false, &patient()).say("close")?;
    if !closed {
        let _ = end();
        return Err("it says that it did not end".to_owned());
    }
    ensure!(launched.name == FORM_APP, "it is called {:?}", launched.name);
    until("its window is gone", || {
        let list = desktop.windows.list().say("list")?;
        Ok((!list.iter().any(|w| w.pid == Some(launched.pid))).then_some(()))
    })
}

fn launch(stage: &dyn Stage) -> Outcome {
    launch_as(stage, "conformance form")
}

fn launch_chinese(stage: &dyn Stage) -> Outcome {
    launch_as(stage, FORM_APP_CHINESE)
}

fn unknown(stage: &dyn Stage) -> Outcome {
    let result = stage.desktop().apps.launch("no-such-program-anywhere", &[], &patient());
    ensure_err!(result, PlatformError::AppNotFound { .. });
    Ok(())
}

fn dead(stage: &dyn Stage) -> Outcome {
    for force in [false, true] {
        ensure_err!(
            stage.desktop().apps.close(4_194_305, force, &patient()),
            PlatformError::AppNotFound { .. }
        );
    }
    Ok(())
}

fn force(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    form.app.freeze(true)?;
    let started = Instant::now();
    let polite = form.desktop.apps.close(form.app.pid, false, &ms(1500));
    let took = started.elapsed();
    let forced = form.desktop.apps.close(form.app.pid, true, &patient()).say("force")?;
    match polite {
        Ok(false) | Err(PlatformError::Timeout { .. } | PlatformError::AppUnresponsive { .. }) => {}
        other => return Err(format!("asking a frozen program to close answered {other:?}")),
    }
    ensure!(took < Duration::from_secs(1) + PATIENCE, "asking took {took:?} with 1.5 s allowed");
    ensure!(forced, "force says that it did not end");
    ensure!(
        !form.desktop.apps.running().say("running")?.iter().any(|a| a.pid == form.app.pid),
        "it still runs"
    );
    Ok(())
}
