//! Programs.

use std::time::Duration;

use deskhand_platform::{App, Apps, InstalledApp, Launched, PlatformError, Result, Scope};

use super::Fake;
use super::world::Proc;

/// How long a program may take to close its windows.
const CLOSING: Duration = Duration::from_millis(500);

impl Apps for Fake {
    fn installed(&self) -> Result<Vec<InstalledApp>> {
        let world = self.lock();
        Ok(world
            .scene
            .apps
            .iter()
            .map(|a| InstalledApp {
                desktop_id: a.desktop_id.clone(),
                name: a.name.clone(),
                other_names: a.names.clone(),
                program: a.program.clone(),
            })
            .collect())
    }

    fn running(&self) -> Result<Vec<App>> {
        self.works("display", "listing programs")?;
        let world = self.lock();
        let app = |p: &Proc| App {
            name: p.app.clone(),
            pid: p.pid,
            desktop_id: p.desktop_id.clone(),
            program: p.program.clone(),
        };
        Ok(world.procs.iter().map(app).collect())
    }

    fn launch(&self, name: &str, _args: &[String], scope: &Scope) -> Result<Launched> {
        self.enter("display", "starting a program", scope)?;
        let wanted = name.trim().to_lowercase();
        self.with(|world| {
            let scene = world.scene.clone();
            let found = scene.apps.iter().find(|a| {
                let names = a.names.iter().chain([&a.name, &a.program, &a.desktop_id]);
                names.map(|n| n.to_lowercase()).any(|n| n == wanted)
            });
            let Some(app) = found else {
                let near: Vec<&str> = scene.apps.iter().map(|a| a.name.as_str()).take(5).collect();
                return Err(PlatformError::AppNotFound { what: format!("{name:?}; there are {near:?}") });
            };
            let spec = app.launches.as_ref().and_then(|t| scene.windows.iter().position(|w| w.title == *t));
            let pid = match spec {
                Some(i) => {
                    let id = world.open(i);
                    world.win(id).map_or(0, |w| world.wins[w].pid)
                }
                // A program without a window: it runs and shows nothing.
                None => {
                    let pid = 50_000 + u32::try_from(world.new_id() % 10_000).unwrap_or(0);
                    world.procs.push(Proc {
                        pid,
                        app: app.name.clone(),
                        class: app.program.clone(),
                        desktop_id: Some(app.desktop_id.clone()),
                        program: app.program.clone(),
                        frozen: false,
                        skip_until: None,
                    });
                    pid
                }
            };
            Ok(Launched { name: app.name.clone(), pid, window_seen: spec.is_some() })
        })
    }

    fn close(&self, pid: u32, force: bool, scope: &Scope) -> Result<bool> {
        self.enter("display", "closing a program", scope)?;
        self.with(|world| {
            let Some(p) = world.proc(pid) else {
                return Err(PlatformError::AppNotFound { what: format!("with pid {pid}") });
            };
            if !force && p.frozen {
                return Ok(());
            }
            let stubborn = world.wins.iter().any(|w| w.pid == pid && world.scene.windows[w.spec].stubborn);
            if force || !stubborn {
                world.kill(pid);
            }
            Ok(())
        })?;
        Ok(self.wait(&scope.within(CLOSING), |w| w.proc(pid).is_none().then_some(()))?.is_some())
    }
}
