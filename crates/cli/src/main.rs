//! The program `deskhand`.

use std::process::ExitCode;

fn main() -> ExitCode {
    deskhand_cli::main()
}
