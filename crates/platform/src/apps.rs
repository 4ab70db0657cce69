//! Programs: what is installed, what runs, starting and ending them.

use crate::{Result, Scope};

/// A program that runs and has (or had) a window or an accessible tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct App {
    /// The name a person knows (from its desktop file), else the program's name.
    pub name: String,
    /// Its process.
    pub pid: u32,
    /// Desktop-file id without `.desktop`, when one fits.
    pub desktop_id: Option<String>,
    /// The program's file name.
    pub program: String,
}

/// A program that can be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledApp {
    /// Desktop-file id without `.desktop`.
    pub desktop_id: String,
    /// Its name in English.
    pub name: String,
    /// Its names in other languages (for matching), e.g. Chinese.
    pub other_names: Vec<String>,
    /// The program's file name.
    pub program: String,
}

/// A program that was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launched {
    /// Its name.
    pub name: String,
    /// Its process.
    pub pid: u32,
    /// Whether a window of it was seen before the call returned.
    pub window_seen: bool,
}

/// The programs facet.
pub trait Apps: Send + Sync {
    /// What can be started.
    fn installed(&self) -> Result<Vec<InstalledApp>>;

    /// What runs.
    fn running(&self) -> Result<Vec<App>>;

    /// Starts a program by name, desktop-file id or path (in English or Chinese, any case), with
    /// arguments, detached from this process, and waits until a window of it shows or a short time
    /// has passed. Never goes through a shell. A program that is not there answers `AppNotFound`
    /// with near names.
    fn launch(&self, name: &str, args: &[String], scope: &Scope) -> Result<Launched>;

    /// Ends the program of `pid`: asks its windows to close (waits for it), or with `force` kills it
    /// and its children. True when it is gone.
    fn close(&self, pid: u32, force: bool, scope: &Scope) -> Result<bool>;
}
