//! Trees of real applications: GTK 3, GTK 4, Qt 5, LibreOffice, Chromium.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod ax_desk;

use ax_desk::{Desk, eventually, find, query, scope, wait_for};
use deskhand_platform::{Elements, Limit, Root, Tree};
use deskhand_platform_linux::WindowLookup;
use deskhand_protocol::{Rect, Role};

/// Parents come first, depths follow them, places of what shows are inside the window.
fn check(what: &str, tree: &Tree, window: Rect, at_least: usize) {
    assert!(tree.nodes.len() >= at_least, "{what}: {} nodes", tree.nodes.len());
    assert_eq!(tree.limit, None, "{what}");
    for (i, node) in tree.nodes.iter().enumerate() {
        match node.parent {
            None => assert_eq!(i, 0, "{what}: only the first has no parent"),
            Some(p) => {
                assert!((p as usize) < i, "{what}: parents first");
                assert_eq!(node.depth, tree.nodes[p as usize].depth + 1, "{what}");
            }
        }
    }
    // Shadows and menus may stick out a little.
    let near = Rect::new(window.x - 60, window.y - 60, window.width + 120, window.height + 120);
    let placed: Vec<_> = tree
        .nodes
        .iter()
        .filter(|n| n.element.states.showing)
        .filter_map(|n| n.element.rect.map(|r| (r, &n.element.name)))
        .collect();
    let outside: Vec<_> = placed.iter().filter(|(r, _)| near.intersect(r).is_none()).collect();
    assert!(placed.len() >= 5, "{what}: {} places", placed.len());
    assert!(outside.len() * 20 <= placed.len(), "{what}: outside {near:?}: {outside:?}");
}

fn same(what: &str, a: &Tree, b: &Tree) {
    let list = |t: &Tree| {
        t.nodes.iter().map(|n| (n.element.clone(), n.parent, n.index, n.depth)).collect::<Vec<_>>()
    };
    let (a, b) = (list(a), list(b));
    assert_eq!(a.len(), b.len(), "{what}");
    for (x, y) in a.iter().zip(&b) {
        assert_eq!(x, y, "{what}: kept {:?} now {:?}", x.0.states, y.0.states);
    }
}

#[test]
fn trees_of_toolkits() {
    let desk = Desk::start();
    let ax = desk.elements();
    let page = "<title>Page</title><h1>Hello</h1><button>Go</button><a href='#x'>More</a>";
    // program, an element that is there when it is ready, nodes at least
    type Start<'a> = Box<dyn Fn(&Desk) -> u32 + 'a>;
    let plain = |program: &'static str, args: &'static [&'static str]| -> Start {
        Box::new(move |d| d.spawn(program, args))
    };
    let table: Vec<(&str, Start<'_>, Role, &str, usize)> = vec![
        ("GTK 3", plain("mousepad", &[]), Role::Menu, "Edit", 200),
        ("GTK 4", plain("gtk4-demo", &[]), Role::Button, "Search", 100),
        ("Qt 5", Box::new(|d| d.spawn_qt(&ax, "kcalc", &[])), Role::Button, "7", 40),
        ("Chromium", Box::new(move |d| d.chromium(page)), Role::Button, "Go", 30),
    ];
    for (what, start, role, name, at_least) in table {
        let pid = start(&desk);
        let (_, element) = wait_for(&ax, pid, role, name);
        assert_eq!(element.pid, pid, "{what}");
        let windows = desk.windows();
        let (id, window, title) =
            eventually("its window", || windows.windows_of(pid).into_iter().max_by_key(|w| w.1.width));
        let settled = eventually("a tree that stays the same", || {
            let one = ax.tree(&query(Root::App(pid)), &scope()).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(400));
            let two = ax.tree(&query(Root::App(pid)), &scope()).unwrap();
            (one.nodes == two.nodes).then_some(two)
        });
        check(what, &settled, window, at_least);
        let found = find(&settled, role, name).unwrap();
        let rect = found.rect.unwrap_or_else(|| panic!("{what}: {name} has a place"));
        assert!(window.contains_rect(&rect), "{what}: {name} at {rect:?} in {window:?}");

        // A connection of its own reads the same: nothing that is kept is wrong.
        let other = desk.elements().tree(&query(Root::App(pid)), &scope()).unwrap();
        same(what, &settled, &other);

        // The window's part of it.
        let part = ax.tree(&query(Root::Window(id)), &scope()).unwrap();
        assert!(matches!(part.nodes[0].element.role, Role::Window | Role::Dialog), "{what}: {title:?}");
        assert!(find(&part, role, name).is_some(), "{what}: {name} in its window");
        // An element's part of it: itself.
        let own = ax.tree(&query(Root::Element(found.handle.clone())), &scope()).unwrap();
        assert_eq!(own.nodes[0].element.name, found.name, "{what}");
        // The element by itself says the same, and more.
        let read = ax.read(&found.handle, &scope()).unwrap();
        assert_eq!((read.role, &read.name, read.rect), (found.role, &found.name, found.rect), "{what}");
        assert!(!read.actions.is_empty(), "{what}: actions of {name}");
        // What is under its middle is it, or a part of it.
        if role != Role::Menu {
            let at = ax.at(rect.center(), pid, &scope()).unwrap().unwrap();
            assert!(
                rect.contains_rect(&at.rect.unwrap()),
                "{what}: {:?} {:?} at the middle of {name} {rect:?}",
                at.name,
                at.rect
            );
        }

        // Bounds.
        let mut few = query(Root::App(pid));
        few.max_nodes = 5;
        let tree = ax.tree(&few, &scope()).unwrap();
        assert_eq!((tree.nodes.len(), tree.limit), (5, Some(Limit::Nodes)), "{what}");
        let mut flat = query(Root::App(pid));
        flat.max_depth = 1;
        let tree = ax.tree(&flat, &scope()).unwrap();
        assert_eq!(
            (tree.nodes.iter().map(|n| n.depth).max(), tree.limit),
            (Some(1), Some(Limit::Depth)),
            "{what}"
        );
        let mut seen = query(Root::App(pid));
        seen.visible_only = true;
        let tree = ax.tree(&seen, &scope()).unwrap();
        let all = ax.tree(&query(Root::App(pid)), &scope()).unwrap();
        assert!(
            tree.nodes.len() > 5 && tree.nodes.len() < all.nodes.len(),
            "{what}: {} {}",
            tree.nodes.len(),
            all.nodes.len()
        );
        assert!(
            tree.nodes.iter().filter(|n| n.element.states.showing).count() * 2 > tree.nodes.len(),
            "{what}"
        );
        desk.kill(pid);
    }
}

#[test]
fn a_sheet_of_two_thousand_million_cells() {
    let desk = Desk::start();
    desk.spawn("soffice", &["--calc", "--norestore", "--nologo"]);
    // Read only once its window is up: when we were connected while LibreOffice started, some starts never
    // showed the document in the tree, to a new connection neither. Cause not found; kept out of this test.
    // (The script's pid is not the program's.)
    let title = desk.windows();
    eventually("its window", || (!title.named("LibreOffice Calc").is_empty()).then_some(()));
    std::thread::sleep(std::time::Duration::from_secs(3));
    let ax = desk.elements();
    let desktop = |name: &str| {
        let tree = ax.tree(&query(Root::Desktop), &scope()).ok()?;
        find(&tree, Role::Cell, name).cloned()
    };
    let cell = eventually("cell B3", || desktop("B3"));
    let tree = ax.tree(&query(Root::App(cell.pid)), &scope()).unwrap();
    assert_eq!(tree.limit, None);
    let cells = tree.nodes.iter().filter(|n| n.element.role == Role::Cell).count();
    assert!((100..5000).contains(&cells), "{cells} cells");
    assert!(find(&tree, Role::Cell, "A1").is_some());
    assert!(find(&tree, Role::MenuItem, "Save").is_some());
    // Out of time: what was read until then, and which bound it was.
    let mut hurry = query(Root::App(cell.pid));
    hurry.max_wall = std::time::Duration::from_millis(30);
    let part = desk.elements().tree(&hurry, &scope()).unwrap();
    assert_eq!(part.limit, Some(Limit::WallTime));
    assert!(part.nodes.len() <= tree.nodes.len());
}
