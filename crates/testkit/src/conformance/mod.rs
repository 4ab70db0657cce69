//! One suite for every desktop: the fake, X11, and those to come.
//!
//! A [`Stage`] gives a desktop and a way to start the *conformance form*, a little application
//! with a fixed content (`fixtures/form.scene` on the fake, `fixtures/form.py` on X11). Each
//! [`Case`] tries one promise of the facet traits. [`run`] runs them and tells what came of each.

mod apps;
mod capabilities;
mod clipboard;
mod elements;
mod elements_act;
mod fake_stage;
mod form;
mod input;
mod notifications;
mod runner;
mod screen;
mod session;
mod stage;
mod typing;
mod windows;

pub use fake_stage::{FORM_SCENE, FakeStage};
pub use runner::{Came, Report, run};
pub use stage::{Case, FORM_APP, FORM_APP_CHINESE, FormApp, FormControl, Need, Stage};

/// Every case.
#[must_use]
pub fn suite() -> Vec<Case> {
    [
        capabilities::CASES,
        screen::CASES,
        input::CASES,
        typing::CASES,
        elements::CASES,
        elements_act::CASES,
        windows::CASES,
        clipboard::CASES,
        apps::CASES,
        notifications::CASES,
        session::CASES,
    ]
    .concat()
}
