//! A small X11 client: a window of one colour that remembers the events it got.

use deskhand_protocol::Rect;
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::*;
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

pub struct Client {
    pub x: RustConnection,
    pub window: Window,
    pub root: Window,
}

impl Client {
    pub fn new(display: &str, rect: Rect, color: u32) -> Self {
        let me = Self::hidden(display, rect, color);
        me.map();
        me
    }

    /// Not mapped yet, to be given properties first.
    pub fn hidden(display: &str, rect: Rect, color: u32) -> Self {
        Self::with(display, rect, color, false)
    }

    /// A window the window manager leaves alone, like a menu.
    pub fn unmanaged(display: &str, rect: Rect, color: u32) -> Self {
        let me = Self::with(display, rect, color, true);
        me.map();
        me
    }

    fn with(display: &str, rect: Rect, color: u32, unmanaged: bool) -> Self {
        let (x, screen) = RustConnection::connect(Some(display)).expect("connect");
        let root = x.setup().roots[screen].root;
        let window = x.generate_id().expect("an id");
        let mask = EventMask::KEY_PRESS
            | EventMask::KEY_RELEASE
            | EventMask::BUTTON_PRESS
            | EventMask::BUTTON_RELEASE
            | EventMask::POINTER_MOTION;
        let look = CreateWindowAux::new()
            .background_pixel(color)
            .override_redirect(u32::from(unmanaged))
            .event_mask(mask);
        let (w, h) = (rect.width as u16, rect.height as u16);
        x.create_window(
            0,
            window,
            root,
            rect.x as i16,
            rect.y as i16,
            w,
            h,
            0,
            WindowClass::INPUT_OUTPUT,
            0,
            &look,
        )
        .expect("create");
        let pid = [std::process::id()];
        x.change_property32(PropMode::REPLACE, window, atom(&x, "_NET_WM_PID"), AtomEnum::CARDINAL, &pid)
            .expect("pid");
        x.change_property8(
            PropMode::REPLACE,
            window,
            AtomEnum::WM_CLASS,
            AtomEnum::STRING,
            b"probe\0Probe\0",
        )
        .expect("class");
        let me = Self { x, window, root };
        me.title(b"probe");
        me
    }

    pub fn map(&self) {
        self.x.map_window(self.window).expect("map");
        self.sync();
    }

    pub fn title(&self, bytes: &[u8]) {
        self.property(AtomEnum::WM_NAME.into(), AtomEnum::STRING.into(), bytes);
    }

    pub fn property(&self, name: u32, kind: u32, bytes: &[u8]) {
        self.x.change_property8(PropMode::REPLACE, self.window, name, kind, bytes).expect("property");
        self.sync();
    }

    pub fn atom(&self, name: &str) -> u32 {
        atom(&self.x, name)
    }

    /// Fills a rectangle of the window.
    pub fn fill(&self, rect: Rect, color: u32) {
        let gc = self.x.generate_id().expect("an id");
        self.x.create_gc(gc, self.window, &CreateGCAux::new().foreground(color)).expect("gc");
        let r = Rectangle {
            x: rect.x as i16,
            y: rect.y as i16,
            width: rect.width as u16,
            height: rect.height as u16,
        };
        self.x.poly_fill_rectangle(self.window, gc, &[r]).expect("fill");
        self.x.free_gc(gc).expect("free");
        self.sync();
    }

    pub fn sync(&self) {
        self.x.get_input_focus().expect("send").reply().expect("sync");
    }

    pub fn focus(&self) {
        self.x.set_input_focus(InputFocus::PARENT, self.window, x11rb::CURRENT_TIME).expect("focus");
        self.sync();
    }

    /// What arrived so far.
    pub fn events(&self) -> Vec<Event> {
        self.sync();
        std::iter::from_fn(|| self.x.poll_for_event().expect("events")).collect()
    }
}

fn atom(x: &RustConnection, name: &str) -> u32 {
    x.intern_atom(false, name.as_bytes()).expect("send").reply().expect("an atom").atom
}
