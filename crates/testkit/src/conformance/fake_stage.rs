//! The stage of the fake desktop.

use std::time::Duration;

use deskhand_platform::{Desktop, Scope};

use super::{FORM_APP, FormApp, FormControl, Need, Stage};
use crate::FakeDesktop;

/// The form as a scene.
pub const FORM_SCENE: &str = include_str!("../../fixtures/form.scene");

/// The fake desktop with the form on it.
pub struct FakeStage {
    fake: FakeDesktop,
    desktop: Desktop,
}

impl FakeStage {
    /// With the form's own scene.
    #[must_use]
    pub fn new() -> Self {
        Self::with(FakeDesktop::parse(FORM_SCENE))
    }

    /// With another scene that holds the form.
    #[must_use]
    pub fn with(fake: FakeDesktop) -> Self {
        Self { desktop: fake.desktop(), fake }
    }
}

impl Default for FakeStage {
    fn default() -> Self {
        Self::new()
    }
}

impl Stage for FakeStage {
    fn name(&self) -> &'static str {
        "fake"
    }

    fn desktop(&self) -> &Desktop {
        &self.desktop
    }

    fn launch_form(&self) -> Result<FormApp, String> {
        let scope = Scope::timeout(Duration::from_secs(5));
        let launched = self.desktop.apps.launch(FORM_APP, &[], &scope).map_err(|e| e.to_string())?;
        Ok(FormApp::new(launched.pid, Box::new(Control { fake: self.fake.clone(), pid: launched.pid })))
    }

    fn lacks(&self, _need: Need) -> Option<String> {
        None
    }
}

struct Control {
    fake: FakeDesktop,
    pid: u32,
}

impl FormControl for Control {
    fn freeze(&self, frozen: bool) -> Result<(), String> {
        self.fake.run(&format!("{} app {FORM_APP:?}", if frozen { "freeze" } else { "thaw" }));
        Ok(())
    }

    fn end(&mut self) {
        // Already gone when the case closed it.
        let _ = self.fake.desktop().apps.close(self.pid, true, &Scope::timeout(Duration::from_secs(5)));
    }
}
