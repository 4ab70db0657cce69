//! The tree: reading.

use std::time::{Duration, Instant};

use deskhand_platform::{Element, Limit, PlatformError, Root, TreeQuery};
use deskhand_protocol::Role;

use super::form::{Form, Outcome, PATIENCE, Say, ensure, ensure_err, ms, patient, query};
use super::{Case, Need, Stage};

const AX: &[Need] = &[Need::Form, Need::Ax];

pub(crate) const CASES: &[Case] = &[
    Case { name: "elements: a tree is in pre-order with valid parents", needs: AX, run: preorder },
    Case { name: "elements: the form's parts are there with their roles", needs: AX, run: parts },
    Case { name: "elements: the tree of the desktop holds the form", needs: AX, run: desktop },
    Case { name: "elements: the tree of a window holds only that window", needs: AX, run: one_window },
    Case { name: "elements: the bound on nodes is kept and told", needs: AX, run: node_bound },
    Case { name: "elements: the bound on depth is kept and told", needs: AX, run: depth_bound },
    Case { name: "elements: what does not show can be left out", needs: AX, run: visible_only },
    Case { name: "elements: parts lie inside the window", needs: AX, run: places },
    Case { name: "elements: reading one tells the same as the tree", needs: AX, run: read },
    Case { name: "elements: the element at a point", needs: AX, run: at },
    Case { name: "elements: a disabled button says so", needs: AX, run: disabled },
    Case { name: "elements: a dead process has no tree", needs: &[Need::Ax], run: dead },
    Case { name: "elements: looking for an event takes no time", needs: AX, run: no_time },
    Case { name: "elements: long text is cut at a character", needs: AX, run: cut },
    Case { name: "elements: a password is never read", needs: AX, run: secure },
    Case {
        name: "elements: a frozen application costs its time and no more",
        needs: &[Need::Form, Need::Ax, Need::Freeze],
        run: frozen,
    },
];

fn preorder(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    for root in [Root::App(form.app.pid), Root::Window(form.window), Root::Desktop] {
        let tree = form.desktop.elements.tree(&query(root.clone()), &patient()).say("tree")?;
        ensure!(tree.nodes.len() > 1, "{root:?}: {} nodes", tree.nodes.len());
        ensure!(tree.limit.is_none(), "{root:?}: bound {:?} was hit", tree.limit);
        // Pre-order: each parent is on the path from the root to the node before.
        let mut path: Vec<u32> = Vec::new();
        for (i, node) in tree.nodes.iter().enumerate() {
            match node.parent {
                None => ensure!(i == 0 && node.depth == 0, "{root:?}: node {i} has no parent"),
                Some(parent) => {
                    while path.last().is_some_and(|p| *p != parent) {
                        path.pop();
                    }
                    ensure!(!path.is_empty(), "{root:?}: the parent {parent} of node {i} is not on its path");
                    let up = tree.nodes[parent as usize].depth;
                    ensure!(node.depth == up + 1, "{root:?}: node {i} is {} deep under {up}", node.depth);
                }
            }
            path.push(i as u32);
        }
    }
    Ok(())
}

fn parts(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    for (role, name) in [
        (Role::TextField, "Name"),
        (Role::PasswordField, "Secret"),
        (Role::Button, "Apply"),
        (Role::Label, "Result:"),
        (Role::CheckBox, "Agree"),
        (Role::List, "Items"),
        (Role::ListItem, "Item 1"),
        (Role::ListItem, "Item 3"),
        (Role::ScrollArea, "Rows"),
        (Role::Menu, "File"),
        (Role::MenuItem, "Save As…"),
    ] {
        let found = form.find(role, name)?;
        ensure!(found.pid == form.app.pid, "{role} {name:?} belongs to pid {}", found.pid);
        ensure!(!found.native_role.is_empty(), "{role} {name:?} has no native role");
    }
    let name = form.find(Role::TextField, "Name")?;
    ensure!(name.editable_text && name.has_text && name.states.focusable, "the name field is {name:?}");
    ensure!(!form.find(Role::Button, "Apply")?.actions.is_empty(), "the button has no action");
    Ok(())
}

fn desktop(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let tree = form.desktop.elements.tree(&query(Root::Desktop), &patient()).say("tree")?;
    let there = |e: &Element| e.pid == form.app.pid && e.role == Role::Button && e.name == "Apply";
    ensure!(tree.nodes.iter().any(|n| there(&n.element)), "the form is not among {} nodes", tree.nodes.len());
    Ok(())
}

fn one_window(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let dialog = form.open_dialog()?;
    form.find(Role::Button, "Cancel")?;
    let holds = |root: Root, name: &str| -> Outcome<bool> {
        let tree = form.desktop.elements.tree(&query(root), &patient()).say("tree")?;
        Ok(tree.nodes.iter().any(|n| n.element.name == name && n.element.role == Role::Button))
    };
    ensure!(holds(Root::Window(dialog.id), "Cancel")?, "the dialog lacks its button");
    ensure!(!holds(Root::Window(dialog.id), "Apply")?, "the dialog holds the form's button");
    ensure!(holds(Root::Window(form.window), "Apply")?, "the form lacks its button");
    ensure!(!holds(Root::Window(form.window), "Cancel")?, "the form holds the dialog's button");
    Ok(())
}

fn node_bound(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let bounded = TreeQuery { max_nodes: 7, ..query(Root::App(form.app.pid)) };
    let tree = form.desktop.elements.tree(&bounded, &patient()).say("tree")?;
    ensure!(tree.nodes.len() <= 7 && !tree.nodes.is_empty(), "{} nodes", tree.nodes.len());
    ensure!(tree.limit == Some(Limit::Nodes), "says {:?}", tree.limit);
    Ok(())
}

fn depth_bound(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let bounded = TreeQuery { max_depth: 1, ..query(Root::App(form.app.pid)) };
    let tree = form.desktop.elements.tree(&bounded, &patient()).say("tree")?;
    ensure!(tree.nodes.iter().all(|n| n.depth <= 1), "a node is deeper than 1");
    ensure!(tree.nodes.len() >= 2, "{} nodes", tree.nodes.len());
    ensure!(tree.limit == Some(Limit::Depth), "says {:?}", tree.limit);
    Ok(())
}

fn visible_only(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let shown = TreeQuery { visible_only: true, ..query(Root::App(form.app.pid)) };
    let tree = form.desktop.elements.tree(&shown, &patient()).say("tree")?;
    ensure!(tree.nodes.iter().any(|n| n.element.name == "Apply"), "the button that shows is missing");
    ensure!(!tree.nodes.iter().any(|n| n.element.name == "Row 20"), "a row that was scrolled away is there");
    let item = |e: &Element| e.role == Role::MenuItem && e.name.starts_with("Save As");
    ensure!(!tree.nodes.iter().any(|n| item(&n.element)), "an entry of a closed menu is there");
    let whole = form.desktop.elements.tree(&query(Root::App(form.app.pid)), &patient()).say("tree")?;
    ensure!(whole.nodes.iter().any(|n| item(&n.element)), "the entry of the closed menu is in no reading");
    Ok(())
}

fn places(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let bounds = form.me()?.bounds;
    let mut last = i32::MIN;
    for (role, name) in [
        (Role::TextField, "Name"),
        (Role::PasswordField, "Secret"),
        (Role::Button, "Apply"),
        (Role::CheckBox, "Agree"),
    ] {
        let rect = form.shown(role, name)?.rect.say("its place")?;
        ensure!(bounds.contains_rect(&rect), "{role} {name:?} at {rect:?} is outside {bounds:?}");
        ensure!(rect.y > last, "{role} {name:?} at {rect:?} is above the one before it");
        last = rect.y;
    }
    Ok(())
}

fn read(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    for (role, name) in [(Role::Button, "Apply"), (Role::CheckBox, "Agree"), (Role::TextField, "Name")] {
        let from_tree = form.shown(role, name)?;
        let one = form.desktop.elements.read(&from_tree.handle, &patient()).say("read")?;
        let same = (one.role, &one.name, one.rect, one.pid, one.secure, one.editable_text)
            == (
                from_tree.role,
                &from_tree.name,
                from_tree.rect,
                from_tree.pid,
                from_tree.secure,
                from_tree.editable_text,
            );
        ensure!(same && one.handle == from_tree.handle, "the tree says {from_tree:?}, reading says {one:?}");
    }
    Ok(())
}

fn at(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    for (role, name) in [(Role::Button, "Apply"), (Role::CheckBox, "Agree"), (Role::TextField, "Name")] {
        let point = form.at(role, name)?;
        let found = form.desktop.elements.at(point, form.app.pid, &patient()).say("at")?.say("an element")?;
        ensure!(
            (found.role, found.name.as_str()) == (role, name),
            "at {point:?} is {} {:?}, not {role} {name:?}",
            found.role,
            found.name
        );
    }
    Ok(())
}

fn disabled(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    ensure!(!form.find(Role::Button, "Never")?.states.enabled, "it says it is enabled");
    ensure!(form.find(Role::Button, "Apply")?.states.enabled, "the other says it is disabled");
    Ok(())
}

fn dead(stage: &dyn Stage) -> Outcome {
    // Above the largest pid Linux gives.
    let result = stage.desktop().elements.tree(&query(Root::App(4_194_305)), &patient());
    ensure_err!(result, PlatformError::AppNotFound { .. });
    Ok(())
}

/// A scope that has ended is how a caller asks for what came already.
fn no_time(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let elements = &form.desktop.elements;
    let now = elements.mark().say("mark")?;
    let ended = || deskhand_platform::Scope::timeout(Duration::ZERO);
    // Nobody of that pid: whatever happens on the desktop meanwhile, there is nothing to tell.
    let none = elements.wait_event(now, Some(4_194_305), &ended()).say("no event in no time")?;
    ensure!(none.is_none(), "an event out of nowhere: {none:?}");
    let name = form.find(Role::TextField, "Name")?;
    let text = deskhand_platform::ElementAction::SetText("heard".to_owned());
    elements.act(&name.handle, &text, &patient()).say("set")?;
    form.until_text(&name, "heard")?;
    elements.wait_event(now, Some(form.app.pid), &patient()).say("an event")?.say("an event")?;
    let again = elements.wait_event(now, Some(form.app.pid), &ended()).say("an old event in no time")?;
    ensure!(again.is_some(), "an event that came already is not told");
    Ok(())
}

fn cut(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let name = form.find(Role::TextField, "Name")?;
    let text = deskhand_platform::ElementAction::SetText("世界 and more".to_owned());
    form.desktop.elements.act(&name.handle, &text, &patient()).say("set")?;
    form.until_text(&name, "世界 and more")?;
    let read = form.desktop.elements.text(&name.handle, 4, &patient()).say("text")?;
    ensure!(read.text == "世" && read.truncated, "4 bytes gave {read:?}");
    let read = form.desktop.elements.text(&name.handle, 6, &patient()).say("text")?;
    ensure!(read.text == "世界" && read.truncated, "6 bytes gave {read:?}");
    Ok(())
}

fn secure(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let secret = form.find(Role::PasswordField, "Secret")?;
    ensure!(secret.secure, "it does not say that it is secure");
    ensure_err!(form.desktop.elements.text(&secret.handle, 100, &patient()), PlatformError::Secure { .. });
    let one = form.desktop.elements.read(&secret.handle, &patient()).say("read")?;
    ensure!(one.value.is_none() && secret.value.is_none(), "it has a value");
    let told = |e: &Element| format!("{e:?}").contains("hunter2");
    ensure!(!form.tree()?.nodes.iter().any(|n| told(&n.element)), "the password is in the tree");
    Ok(())
}

fn frozen(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let apply = form.find(Role::Button, "Apply")?;
    form.app.freeze(true)?;
    let started = Instant::now();
    let pressed = form.press_within(&apply, &ms(3000));
    let first = started.elapsed();
    // Once known it is skipped, and does not hold up the reading of others.
    let again = Instant::now();
    let tree = form.desktop.elements.tree(&query(Root::Desktop), &patient());
    let second = again.elapsed();
    form.app.freeze(false)?;
    ensure_err!(pressed, PlatformError::AppUnresponsive { .. } | PlatformError::Timeout { .. });
    ensure!(first < Duration::from_secs(6), "the first call took {first:?} with 3 s allowed");
    ensure!(second < PATIENCE, "the desktop took {second:?}");
    let tree = tree.say("tree of the desktop")?;
    let live = tree.nodes.iter().any(|n| n.element.pid == form.app.pid && n.element.name == "Apply");
    ensure!(live || !tree.unresponsive.is_empty(), "the frozen form is missing and nobody says so");
    Ok(())
}

impl Form<'_> {
    /// Asks the application itself for something no cache can know.
    fn press_within(&self, element: &Element, scope: &deskhand_platform::Scope) -> Result<(), PlatformError> {
        let press = deskhand_platform::ElementAction::Press;
        self.desktop.elements.act(&element.handle, &press, scope).map(|_| ())
    }
}
