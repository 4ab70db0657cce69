//! Idle time, lock, machine facts.

use std::time::Duration;

use deskhand_platform::{Result, Scope, Session, SystemInfo};

use super::Fake;

impl Session for Fake {
    fn idle(&self) -> Result<Duration> {
        self.works("session", "asking for the idle time")?;
        let world = self.lock();
        Ok(world.last_input.map_or_else(|| world.scene.idle + world.started.elapsed(), |at| at.elapsed()))
    }

    fn locked(&self, scope: &Scope) -> Result<Option<bool>> {
        self.enter("session", "asking for the lock", scope)?;
        Ok(Some(self.lock().scene.locked))
    }

    fn system_info(&self) -> Result<SystemInfo> {
        let world = self.lock();
        let no_display = world.broken.contains("display");
        Ok(SystemInfo {
            os: "Fake 1".to_owned(),
            arch: std::env::consts::ARCH.to_owned(),
            cpus: 2,
            memory_total: 8 << 30,
            memory_free: 4 << 30,
            displays: if no_display { Vec::new() } else { world.displays.clone() },
            session_type: "fake".to_owned(),
            keyboard: Some("us".to_owned()),
        })
    }
}
