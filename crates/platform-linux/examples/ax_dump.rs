//! Dumps the accessibility tree of a process some times and prints how long each took.
//!
//! `ax_dump PID [TIMES] [-v] [--fresh] [--visible] [--text]`: `-v` prints the tree, `--fresh` connects anew for each.

#![allow(clippy::print_stdout)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use deskhand_platform::{Elements, Root, Scope, TreeQuery, WindowId};
use deskhand_platform_linux::{AtspiElements, WindowLookup};
use deskhand_protocol::Rect;

/// No window system here: places of GTK 4 stay relative to their windows.
struct NoWindows;

impl WindowLookup for NoWindows {
    fn window(&self, _: WindowId) -> Option<(u32, Rect, String)> {
        None
    }

    fn windows_of(&self, _: u32) -> Vec<(WindowId, Rect, String)> {
        Vec::new()
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| args.iter().any(|a| a == flag);
    let mut numbers = args.iter().filter_map(|a| a.parse::<u32>().ok());
    let root = numbers.next().map_or(Root::Desktop, Root::App);
    let times = numbers.next().unwrap_or(3);
    let query = TreeQuery {
        root,
        max_depth: 100,
        max_nodes: 50_000,
        max_wall: Duration::from_secs(20),
        include_text: has("--text"),
        visible_only: has("--visible"),
    };
    let make = || AtspiElements::new(Arc::new(NoWindows));
    let mut ax = make();
    for round in 0..times {
        if has("--fresh") {
            ax = make();
        }
        let start = Instant::now();
        match ax.tree(&query, &Scope::timeout(Duration::from_secs(30))) {
            Ok(tree) => {
                let ms = start.elapsed().as_secs_f64() * 1000.0;
                let n = tree.nodes.len();
                println!(
                    "{n} nodes {ms:.2} ms {} limit={:?} unresponsive={:?}",
                    tree.how, tree.limit, tree.unresponsive
                );
                if has("-v") && round + 1 == times {
                    for node in &tree.nodes {
                        let e = &node.element;
                        let (pad, rect) =
                            (" ".repeat(node.depth as usize), e.rect.map(|r| (r.x, r.y, r.width, r.height)));
                        let (on, v) = (
                            if e.states.showing { "" } else { "(hidden)" },
                            e.value.as_deref().unwrap_or(""),
                        );
                        println!("{pad}{} [{}] {:?} {rect:?} {on} {v:?}", e.role, e.native_role, e.name);
                    }
                }
            }
            Err(e) => println!("{e}"),
        }
    }
}
