//! A picture for a model: grab, scale to 1568, JPEG 80, base64.

use std::process::Command;

use deskhand_bridge::CallRequest;
use serde_json::json;

use crate::bench::host::{self, Host};
use crate::bench::peer::{Peer, Python, program, system, timed};
use crate::bench::report::{Bar, Line};
use crate::bench::stats::Stats;
use crate::bench::{Bench, Rows, apps};

const ROW: &str = "screenshot";

/// Against mss + Pillow in process, and against scrot + ImageMagick.
pub(crate) fn run(bench: &Bench) -> Rows {
    let host = Host::start(bench)?;
    // Something to look at: an empty root window would be too easy for everybody's JPEG.
    let _shown = apps::mousepad(bench, &host)?;
    let take = || host::send(&host.client, CallRequest::new("screenshot", json!({"mode": "fullscreen"})));
    let (mut ours, mut mss, mut scrot) = (Vec::new(), Vec::new(), Vec::new());
    let mut peer = Peer::start(bench, Python::Venv, "mss_shot.py");
    for _ in 0..3 {
        take()?;
    }
    let count = bench.samples(100);
    let (raw, small) = (bench.scratch.join("shot.png"), bench.scratch.join("small.jpg"));
    for n in 0..count {
        ours.push(timed(take)?);
        mss.extend(peer.as_mut().and_then(|p| p.time("go")));
        // Slow enough that a fifth of the samples tells as much.
        if n % 5 == 0 {
            scrot.extend(two_programs(&raw, &small));
        }
    }
    let ours = Stats::of(ours);
    let what = "picture for a model";
    Ok(vec![
        Line::against(ROW, what, ours.clone(), ("mss + Pillow", Stats::of(mss)), Bar::Faster(3.0)),
        Line::against(ROW, what, ours, ("scrot + convert", Stats::of(scrot)), Bar::Faster(20.0)),
    ])
}

/// What the demonstration of Anthropic's computer use does: a screenshot program, then a scaler.
fn two_programs(raw: &std::path::Path, small: &std::path::Path) -> Option<f64> {
    let shot = program(Command::new(system("scrot")).arg("--overwrite").arg(raw))?;
    let scaled = program(
        Command::new(system("convert")).arg(raw).args(["-resize", "1568x", "-quality", "80"]).arg(small),
    )?;
    Some(shot + scaled)
}
