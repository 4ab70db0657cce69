//! The supervisor of virtual desks. Started by Deskhand; people never type it.

use std::process::ExitCode;

fn main() -> ExitCode {
    deskhand_desk::supervisor::main(std::env::args_os().skip(1).collect())
}
