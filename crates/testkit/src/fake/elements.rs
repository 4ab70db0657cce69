//! The accessibility tree.

use std::time::Instant;

use deskhand_platform::{
    ActReport, Element, ElementAction, ElementEvent, Elements, Handle, Mark, PlatformError, Result, Root,
    Scope, States, TextRead, Tree, TreeQuery, WindowId,
};
use deskhand_protocol::{Point, Role};

use super::Fake;
use super::log::InputEvent;
use super::tree::Reading;
use super::world::World;

impl Elements for Fake {
    fn tree(&self, query: &TreeQuery, scope: &Scope) -> Result<Tree> {
        let started = Instant::now();
        self.works("ax", "reading the tree")?;
        scope.check("reading the tree")?;
        let slow = self.lock().scene.slow;
        let in_time = slow <= query.max_wall;
        scope.sleep(slow.min(query.max_wall), "reading the tree")?;
        let mut unresponsive = Vec::new();
        let pids: Vec<u32> = match &query.root {
            Root::Desktop => self.lock().procs.iter().map(|p| p.pid).collect(),
            Root::App(pid) => vec![*pid],
            Root::Window(id) => vec![self.lock().window_pid(*id)?],
            Root::Element(handle) => vec![self.lock().place(handle)?.pid],
        };
        for pid in pids {
            match (self.answers(pid, "reading its tree", scope), &query.root) {
                (Ok(()), _) => {}
                (Err(PlatformError::AppUnresponsive { app, .. }), Root::Desktop) => unresponsive.push(app),
                (Err(e), _) => return Err(e),
            }
        }
        let world = self.lock();
        let mut reading = Reading::new(&world, query, in_time);
        match &query.root {
            Root::Desktop => reading.desktop(),
            Root::App(pid) => {
                let known = world.procs.iter().any(|p| p.pid == *pid) && world.on_bus(*pid);
                if !known {
                    return Err(PlatformError::AppNotFound {
                        what: format!("with pid {pid} on the accessibility bus"),
                    });
                }
                reading.app(*pid, None, 0, 0);
            }
            Root::Window(id) => match world.win(*id) {
                Some(w) if world.on_bus(world.wins[w].pid) => reading.window(w, None, 0, 0),
                _ => {
                    return Err(PlatformError::WindowNotFound {
                        what: format!("{} on the accessibility bus", id.0),
                    });
                }
            },
            Root::Element(handle) => match world.place(handle)? {
                Place { win: Some(w), el: Some(e), .. } => reading.element(w, e, None, 0, 0),
                Place { win: Some(w), .. } => reading.window(w, None, 0, 0),
                Place { pid, .. } => reading.app(pid, None, 0, 0),
            },
        }
        let (nodes, limit) = (reading.nodes, reading.limit);
        Ok(Tree { nodes, limit, unresponsive, started, ended: Instant::now(), how: "fake".to_owned() })
    }

    fn read(&self, handle: &Handle, scope: &Scope) -> Result<Element> {
        self.ready(handle, "reading an element", scope)?;
        let world = self.lock();
        Ok(match world.place(handle)? {
            Place { win: Some(w), el: Some(e), .. } => world.ax_element(w, e, true),
            Place { win: Some(w), .. } => world.ax_window(w),
            Place { pid, .. } => world.ax_app(pid),
        })
    }

    fn act(&self, handle: &Handle, action: &ElementAction, scope: &Scope) -> Result<ActReport> {
        self.ready(handle, "acting on an element", scope)?;
        self.with(|world| {
            let Place { win: Some(w), el: Some(e), .. } = world.place(handle)? else {
                return Err(PlatformError::NotActionable {
                    what: "a window".into(),
                    reason: "it has no actions".into(),
                });
            };
            world.act(w, e, action)
        })
    }

    fn text(&self, handle: &Handle, limit_bytes: usize, scope: &Scope) -> Result<TextRead> {
        self.ready(handle, "reading text", scope)?;
        let world = self.lock();
        let place = world.place(handle)?;
        let (Some(w), Some(e)) = (place.win, place.el) else {
            return Err(PlatformError::NotActionable {
                what: "a window".into(),
                reason: "it has no text".into(),
            });
        };
        let el = &world.wins[w].els[e];
        if el.secure() {
            return Err(PlatformError::Secure { what: el.name.clone() });
        }
        let whole =
            if has_text(el.spec.role) && el.value.is_empty() && !el.is_edit() { &el.name } else { &el.value };
        let cut = (0..=limit_bytes.min(whole.len())).rev().find(|i| whole.is_char_boundary(*i)).unwrap_or(0);
        Ok(TextRead {
            text: whole[..cut].to_owned(),
            total_bytes: Some(whole.len()),
            truncated: cut < whole.len(),
        })
    }

    fn focused(&self, scope: &Scope) -> Result<Option<Element>> {
        self.enter("ax", "asking for the focus", scope)?;
        let world = self.lock();
        Ok(world
            .focused()
            .filter(|(w, _)| world.on_bus(world.wins[*w].pid))
            .map(|(w, e)| world.ax_element(w, e, true)))
    }

    fn at(&self, point: Point, pid: u32, scope: &Scope) -> Result<Option<Element>> {
        self.enter("ax", "asking for the element at a point", scope)?;
        self.answers(pid, "asking for the element at a point", scope)?;
        let world = self.lock();
        Ok(match world.hit(point) {
            Some((w, e)) if world.wins[w].pid == pid && world.on_bus(pid) => {
                Some(e.map_or_else(|| world.ax_window(w), |e| world.ax_element(w, e, true)))
            }
            _ => None,
        })
    }

    fn mark(&self) -> Result<Mark> {
        self.works("ax", "marking events")?;
        Ok(self.lock().events.mark())
    }

    fn wait_event(&self, since: Mark, pid: Option<u32>, scope: &Scope) -> Result<Option<ElementEvent>> {
        self.works("ax", "waiting for an event")?;
        self.wait(scope, |w| {
            let (mark, at, event) = w.events.since(since).find(|(_, _, e)| pid.is_none_or(|p| p == e.pid))?;
            Some(ElementEvent {
                kind: event.kind,
                handle: event.handle.clone(),
                detail: event.detail.clone(),
                at: *at,
                mark: Mark(*mark),
            })
        })
    }
}

impl Fake {
    /// The bus works, the element is there and its application answers.
    fn ready(&self, handle: &Handle, doing: &str, scope: &Scope) -> Result<()> {
        self.enter("ax", doing, scope)?;
        let pid = self.lock().place(handle)?.pid;
        self.answers(pid, doing, scope)
    }
}

/// What a handle stands for.
struct Place {
    pid: u32,
    win: Option<usize>,
    el: Option<usize>,
}

fn has_text(role: Role) -> bool {
    matches!(role, Role::Label | Role::Heading | Role::Paragraph | Role::StatusBar | Role::Document)
}

/// Names of an element's actions, the default one first.
fn actions(role: Role) -> &'static [&'static str] {
    match role {
        Role::Button
        | Role::ToggleButton
        | Role::CheckBox
        | Role::RadioButton
        | Role::Menu
        | Role::MenuItem
        | Role::Tab => &["click"],
        Role::Link => &["jump"],
        Role::ComboBox => &["press"],
        Role::TextField | Role::PasswordField => &["activate"],
        Role::ListItem | Role::TreeItem | Role::Row | Role::Cell => &["select"],
        _ => &[],
    }
}

impl World {
    fn window_pid(&self, id: WindowId) -> Result<u32> {
        let w = self.win(id).ok_or_else(|| PlatformError::WindowNotFound { what: id.0.to_string() })?;
        Ok(self.wins[w].pid)
    }

    /// Whether the accessibility bus knows the application.
    pub(crate) fn on_bus(&self, pid: u32) -> bool {
        !self.wins.iter().any(|w| w.pid == pid && self.scene.windows[w.spec].no_ax)
    }

    fn place(&self, handle: &Handle) -> Result<Place> {
        let gone = || PlatformError::ElementGone { what: handle.0.clone() };
        let mut parts = handle.0.split(':');
        let kind = parts.next();
        let first: u64 = parts.next().and_then(|p| p.parse().ok()).ok_or_else(gone)?;
        if kind == Some("app") {
            let pid = u32::try_from(first).map_err(|_| gone())?;
            return if self.procs.iter().any(|p| p.pid == pid) {
                Ok(Place { pid, win: None, el: None })
            } else {
                Err(gone())
            };
        }
        let w = self.win(WindowId(first)).ok_or_else(gone)?;
        let el = match parts.next() {
            Some(id) => Some(
                self.wins[w].els.iter().position(|e| e.id.to_string() == id && !e.gone).ok_or_else(gone)?,
            ),
            None => None,
        };
        Ok(Place { pid: self.wins[w].pid, win: Some(w), el })
    }

    fn act(&mut self, w: usize, e: usize, action: &ElementAction) -> Result<ActReport> {
        let el = &self.wins[w].els[e];
        let what = format!("{} {:?}", el.spec.role, el.name);
        let refuse = |reason: &str| {
            Err(PlatformError::NotActionable { what: what.clone(), reason: reason.to_owned() })
        };
        let names = actions(el.spec.role);
        if !el.enabled && *action != ElementAction::ScrollTo {
            return refuse("disabled");
        }
        if !self.visible(w, e) {
            return refuse("hidden");
        }
        // What was typed may be a secret; the log says only that something was.
        let said = match action {
            ElementAction::InsertText(t) => format!("insert {} characters", t.chars().count()),
            ElementAction::SetText(t) => format!("set {} characters", t.chars().count()),
            other => format!("{other:?}").to_lowercase(),
        };
        let (editable, drop) = (el.is_edit() && !el.spec.readonly, el.spec.drop_text);
        let strict = self
            .menu_of(w, e)
            .is_some_and(|m| self.wins[w].els[m].spec.strict && !self.wins[w].els[m].expanded);
        self.log.push(InputEvent::Element(format!("{what}: {said}")));
        let report = |how: &str, done| Ok(ActReport { how: how.to_owned(), done });
        match action {
            ElementAction::Press | ElementAction::Named(_) => {
                let name = match action {
                    ElementAction::Named(name) => name.as_str(),
                    _ => names.first().copied().unwrap_or(""),
                };
                if !names.iter().any(|n| n.eq_ignore_ascii_case(name)) {
                    return refuse(&format!("it has no action {name:?}; it has {names:?}"));
                }
                if !strict {
                    self.press(w, e);
                }
                report(&format!("press {name:?}"), None)
            }
            ElementAction::Focus => {
                if !self.wins[w].els[e].focusable() {
                    return refuse("it does not take the focus");
                }
                let id = self.wins[w].id;
                self.focus(w, e);
                self.activate(id);
                report("focus", Some(self.active == Some(id)))
            }
            ElementAction::InsertText(_) | ElementAction::SetText(_) if !editable => {
                refuse("its text cannot be changed")
            }
            ElementAction::InsertText(text) => {
                let kept: String = text.chars().take(text.chars().count().saturating_sub(drop)).collect();
                self.insert(w, e, &kept);
                report("insert text", Some(true))
            }
            ElementAction::SetText(text) => {
                let kept: String = text.chars().take(text.chars().count().saturating_sub(drop)).collect();
                self.set_text(w, e, &kept);
                report("set text", Some(true))
            }
            ElementAction::SetValue(number) => {
                if !matches!(self.wins[w].els[e].spec.role, Role::Slider | Role::SpinButton | Role::ScrollBar)
                {
                    return refuse("it has no number");
                }
                self.set_text(w, e, &number.to_string());
                report("set value", Some(true))
            }
            ElementAction::Select => {
                if !selectable(self.wins[w].els[e].spec.role) {
                    return refuse("it cannot be selected");
                }
                self.select(w, e);
                report("select", Some(true))
            }
            ElementAction::ScrollTo => {
                let pane = self.wins[w].els[e]
                    .spec
                    .parent
                    .filter(|p| self.wins[w].els[*p].spec.role == Role::ScrollArea);
                if let Some(p) = pane {
                    let to = (self.wins[w].els[e].rect.bottom() - self.wins[w].els[p].rect.bottom()).max(0);
                    self.wins[w].els[p].scroll = to;
                    self.damage_el(w, p);
                }
                report("scroll", Some(self.showing(w, e).is_some()))
            }
        }
    }

    pub(crate) fn ax_app(&self, pid: u32) -> Element {
        let name = self.procs.iter().find(|p| p.pid == pid).map(|p| p.program.clone()).unwrap_or_default();
        Element {
            states: States { enabled: true, visible: true, showing: true, ..States::default() },
            ..bare(format!("app:{pid}"), Role::Application, &name, pid)
        }
    }

    pub(crate) fn ax_window(&self, w: usize) -> Element {
        let win = &self.wins[w];
        let role = if win.dialog { Role::Dialog } else { Role::Window };
        let states = States {
            enabled: true,
            visible: true,
            showing: !win.minimized,
            modal: win.modal,
            active: self.active == Some(win.id),
            ..States::default()
        };
        Element { rect: Some(win.bounds), states, ..bare(self.handle(w, None).0, role, &win.title, win.pid) }
    }

    /// Element `e` of window `w` as the bus tells of it.
    pub(crate) fn ax_element(&self, w: usize, e: usize, include_text: bool) -> Element {
        let (win, el) = (&self.wins[w], &self.wins[w].els[e]);
        let role = el.spec.role;
        let states = States {
            enabled: el.enabled,
            visible: self.visible(w, e),
            showing: self.showing(w, e).is_some(),
            focusable: el.focusable(),
            focused: self.focused() == Some((w, e)),
            editable: el.is_edit() && !el.spec.readonly,
            checked: el.checked,
            selected: el.selected,
            selectable: selectable(role),
            expanded: el.expanded,
            expandable: matches!(role, Role::Menu | Role::ComboBox),
            multi_line: role == Role::TextArea,
            ..States::default()
        };
        let numeric = matches!(role, Role::Slider | Role::SpinButton | Role::ProgressBar | Role::ScrollBar);
        let told = (include_text || numeric) && !el.secure() && (el.is_edit() || !el.value.is_empty());
        Element {
            rect: self.menu_of(w, e).is_none_or(|m| win.els[m].expanded).then(|| self.el_rect(w, e)),
            states,
            actions: actions(role).iter().map(|a| (*a).to_owned()).collect(),
            value: told.then(|| el.value.clone()),
            has_text: el.is_edit() || has_text(role),
            editable_text: el.is_edit() && !el.spec.readonly,
            secure: el.secure(),
            description: el.spec.description.clone(),
            label: el.spec.label.clone(),
            identifier: el.spec.id.clone(),
            ..bare(self.handle(w, Some(e)).0, role, &el.name, win.pid)
        }
    }
}

fn selectable(role: Role) -> bool {
    matches!(role, Role::ListItem | Role::Tab | Role::TreeItem | Role::RadioButton | Role::Row | Role::Cell)
}

pub(crate) fn bare(handle: String, role: Role, name: &str, pid: u32) -> Element {
    Element {
        handle: Handle(handle),
        role,
        native_role: role.as_str().replace('_', " "),
        name: name.chars().take(256).collect(),
        description: String::new(),
        label: String::new(),
        identifier: String::new(),
        rect: None,
        states: States::default(),
        actions: Vec::new(),
        value: None,
        has_text: false,
        editable_text: false,
        secure: false,
        pid,
    }
}
