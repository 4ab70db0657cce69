//! Numbers, on request: `cargo test --release -p deskhand-platform-linux --test x11_facets measure -- --ignored --nocapture`.

use std::time::{Duration, Instant};

use deskhand_platform::{Area, Button};
use deskhand_protocol::{Point, Rect};

use crate::client::Client;
use crate::common::{Xvfb, scope};

fn times(name: &str, n: usize, mut work: impl FnMut(usize)) {
    let mut all: Vec<f64> = (0..n)
        .map(|i| {
            let start = Instant::now();
            work(i);
            start.elapsed().as_secs_f64() * 1000.0
        })
        .collect();
    all.sort_by(f64::total_cmp);
    println!("{name}: min {:.3} p50 {:.3} p99 {:.3} ms", all[0], all[n / 2], all[n * 99 / 100]);
}

#[test]
#[ignore = "prints numbers"]
fn measure() {
    let x = Xvfb::start_with(&["-screen", "0", "1920x1080x24"], None);
    let d = x.desktop();
    let client = Client::new(&x.display, Rect::new(0, 0, 400, 400), 0);
    times("capture 1920×1080, changed", 300, |i| {
        client.fill(Rect::new(0, 0, 9, 9), i as u32);
        d.screen.capture(Area::All, &scope()).unwrap();
    });
    times("  (of which the fill)", 300, |i| client.fill(Rect::new(0, 0, 9, 9), i as u32));
    times("capture 1920×1080, unchanged", 300, |_| {
        assert!(d.screen.capture(Area::All, &scope()).is_ok());
    });
    times("mark", 300, |_| assert!(d.screen.mark().is_ok()));
    times("draw → change seen", 300, |i| {
        let mark = d.screen.mark().unwrap();
        client.fill(Rect::new(0, 0, 9, 9), i as u32);
        d.screen.wait_change(mark, None, &scope()).unwrap().expect("a change");
    });
    times("move + click", 1000, |i| {
        d.input.move_to(Point::new(10 + (i % 300) as i32, 20), &scope()).unwrap();
        d.input.button(Button::Left, true, &scope()).unwrap();
        d.input.button(Button::Left, false, &scope()).unwrap();
    });
    let text = "The quick brown fox jumps over the lazy dog. ".repeat(45);
    times("type 2025 plain characters", 3, |_| {
        d.input.type_keys(&text, Duration::ZERO, &mut |_| {}, &scope()).unwrap();
    });
    let han: String = (0x4e00..0x4e00 + 267).filter_map(char::from_u32).collect();
    times("type 267 different Han characters", 3, |_| {
        d.input.type_keys(&han, Duration::ZERO, &mut |_| {}, &scope()).unwrap();
    });
}
