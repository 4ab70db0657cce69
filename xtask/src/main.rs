//! Chores of the workspace: `cargo xtask tidy | gen [--check] | bench desktop`.

mod bench;
mod generate;
mod project;
mod tidy;

use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask tidy                     dependency directions, file sizes, forgotten tests, forbidden words
cargo xtask gen [--check]            write (or compare) schemas/ and docs/reference/
cargo xtask bench desktop [OPTIONS]  measure against peers, in one run, as ratios
    --only ROW[,ROW…]    only these rows (`--list` names them)
    --list               name the rows
    --samples N          samples per row instead of each row's own number
    --json               one JSON document on stdout
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["tidy"] => tidy::run(),
        ["gen"] => generate::run(generate::Mode::Write),
        ["gen", "--check"] => generate::run(generate::Mode::Compare),
        ["bench", "desktop", options @ ..] => bench::run(options),
        ["help" | "--help" | "-h"] => {
            eprint!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprint!("xtask: unknown arguments {words:?}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}
