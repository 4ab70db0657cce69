//! `deskhand desk`: private virtual desktops.

mod exec;
mod list;
pub(crate) mod session;
mod start;
mod stop;
mod view;

use deskhand_desk::{Options, check_name, parse_size};
use deskhand_protocol::Size;

use crate::ctx::Ctx;
use crate::fail::Run;

/// Private virtual desktops: X server, window manager, session and accessibility bus.
#[derive(clap::Subcommand)]
#[command(after_help = "Example:\n  deskhand desk exec --up -- deskhand call system_info")]
pub(crate) enum Command {
    Start(start::Args),
    Stop(stop::Args),
    List(list::Args),
    Exec(exec::Args),
    View(view::Args),
}

pub(crate) fn run(command: &Command, ctx: &Ctx) -> Run {
    match command {
        Command::Start(args) => start::run(args, ctx),
        Command::Stop(args) => stop::run(args, ctx),
        Command::List(args) => list::run(args, ctx),
        Command::Exec(args) => exec::run(args, ctx),
        Command::View(args) => view::run(args, ctx),
    }
}

/// The monitors of a desk.
#[derive(clap::Args)]
struct Monitors {
    /// Size of the monitor.
    #[arg(long, env = "DESKHAND_DESK_SIZE", value_name = "WxH", default_value = "1920x1080", value_parser = size)]
    size: Size,
    /// A second monitor of this size, to the right of the first.
    #[arg(long, env = "DESKHAND_DESK_SECOND", value_name = "WxH", value_parser = size)]
    second: Option<Size>,
}

impl Monitors {
    fn options(&self) -> Options {
        Options { size: self.size, second: self.second, ..Options::default() }
    }
}

fn size(text: &str) -> Result<Size, String> {
    parse_size("size", text).map_err(|error| error.to_string())
}

fn name(text: &str) -> Result<String, String> {
    check_name(text).map(|()| text.to_owned()).map_err(|error| error.to_string())
}
