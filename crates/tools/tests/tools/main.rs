//! Every tool on the fake desktop: text scenes in, results, effects and input events out.

mod apps;
mod desk;
mod keyboard;
mod looking;
mod menus;
mod mouse;
mod selectors;
mod system;
mod typing;
mod waiting;
