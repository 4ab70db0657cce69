//! Where a case is played.

use deskhand_platform::Desktop;

/// The name under which the form is installed.
pub const FORM_APP: &str = "Conformance Form";
/// Its Chinese name.
pub const FORM_APP_CHINESE: &str = "一致性表单";

/// What a case needs beyond a display and input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Need {
    /// The form.
    Form,
    /// A window manager.
    WindowManager,
    /// The accessibility bus.
    Ax,
    /// A notification service.
    Notifications,
    /// The form among the installed programs, so that it can be launched by name.
    Installed,
    /// The form can be frozen (stopped) from outside.
    Freeze,
    /// Nothing of the user's is on the desktop: it is quiet when nobody acts.
    Quiet,
}

/// One promise and how to try it.
#[derive(Clone, Copy)]
pub struct Case {
    /// `facet: promise`.
    pub name: &'static str,
    /// What the stage must have; without it the case is skipped, with the stage's reason.
    pub needs: &'static [Need],
    /// Tries it; what is wrong, in words.
    pub run: fn(&dyn Stage) -> Result<(), String>,
}

/// A desktop to try the cases on.
pub trait Stage: Sync {
    /// Its name, for the report.
    fn name(&self) -> &str;

    /// The desktop.
    fn desktop(&self) -> &Desktop;

    /// Starts a fresh form and returns when its process runs (its window may come later).
    fn launch_form(&self) -> Result<FormApp, String>;

    /// Why a need cannot be met here; `None` when it can.
    fn lacks(&self, need: Need) -> Option<String>;
}

/// What a stage can do to the form from outside.
pub trait FormControl: Send {
    /// Stops the process so that it answers nothing, or lets it go on.
    fn freeze(&self, frozen: bool) -> Result<(), String>;

    /// Ends it, however it is; called once at the end.
    fn end(&mut self);
}

/// The running form; ends with its owner.
pub struct FormApp {
    /// Its process.
    pub pid: u32,
    control: Box<dyn FormControl>,
}

impl FormApp {
    /// A form of process `pid`.
    pub fn new(pid: u32, control: Box<dyn FormControl>) -> Self {
        Self { pid, control }
    }

    /// Freezes or thaws it.
    pub fn freeze(&self, frozen: bool) -> Result<(), String> {
        self.control.freeze(frozen)
    }
}

impl Drop for FormApp {
    fn drop(&mut self) {
        self.control.end();
    }
}
