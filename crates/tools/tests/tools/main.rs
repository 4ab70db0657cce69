//! Every tool on the fake desktop: text scenes in, results, effects and input events out.

#![allow(clippy::unwrap_used)] // a test that cannot go on shall say where

mod apps;
mod desk;
mod keyboard;
mod looking;
mod menus;
mod mouse;
mod selectors;
mod system;
mod targets;
mod typing;
mod waiting;
