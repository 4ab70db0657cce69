//! Owning the clipboard: a thread that answers whoever asks for its contents.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use deskhand_platform::{PlatformError, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::pipe::{PipeFlags, pipe_with};
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, CreateWindowAux, EventMask, PropMode, Property,
    SELECTION_NOTIFY_EVENT, SelectionNotifyEvent, SelectionRequestEvent, Window, WindowClass,
};
use x11rb::wrapper::ConnectionExt as _;

use crate::x11::{Conn, Reply};

const DOING: &str = "owning the clipboard";
/// Pieces of larger contents.
const PIECE: usize = 256 * 1024;
/// Handovers in pieces at once.
const TRANSFERS: usize = 16;
/// A receiver that takes no piece for this long is given up.
const STALLED: Duration = Duration::from_secs(20);
/// Longest wait for the thread's answer.
const ANSWER: Duration = Duration::from_secs(5);

/// Formats and their bytes.
pub(super) type Items = Arc<Vec<(String, Vec<u8>)>>;

enum Order {
    Own(Items, mpsc::Sender<Result<()>>),
    Disown(mpsc::Sender<Result<()>>),
}

#[derive(Default)]
struct Shared {
    items: Mutex<Option<Items>>,
    times_read: AtomicU64,
    dead: AtomicBool,
}

/// The handle to the thread; dropping it ends the thread.
pub(super) struct Owner {
    shared: Arc<Shared>,
    orders: mpsc::Sender<Order>,
    wake: OwnedFd,
    window: Window,
}

impl Owner {
    pub(super) fn start(display: Option<&str>) -> Result<Self> {
        let conn = Conn::open(display)?;
        let window = conn.id()?;
        let look = CreateWindowAux::new().event_mask(EventMask::PROPERTY_CHANGE);
        conn.x
            .create_window(
                0,
                window,
                conn.root,
                -1,
                -1,
                1,
                1,
                0,
                WindowClass::INPUT_ONLY,
                x11rb::COPY_FROM_PARENT,
                &look,
            )
            .wait(DOING)?;
        let (woken, wake) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)
            .map_err(|e| PlatformError::other(DOING, std::io::Error::from(e)))?;
        let (orders, receive) = mpsc::channel();
        let shared = Arc::new(Shared::default());
        let mut thread = Thread {
            conn,
            window,
            woken,
            orders: receive,
            shared: Arc::clone(&shared),
            since: 0,
            transfers: Vec::new(),
        };
        std::thread::Builder::new()
            .name("clipboard".into())
            .stack_size(128 * 1024)
            .spawn(move || {
                let _ = thread.run();
                thread.shared.dead.store(true, Ordering::SeqCst);
                *thread.shared.items.lock().unwrap_or_else(PoisonError::into_inner) = None;
            })
            .map_err(|e| PlatformError::other(DOING, e))?;
        Ok(Self { shared, orders, wake, window })
    }

    pub(super) fn alive(&self) -> bool {
        !self.shared.dead.load(Ordering::SeqCst)
    }

    /// The window that owns the clipboard for us.
    pub(super) fn window(&self) -> Window {
        self.window
    }

    pub(super) fn times_read(&self) -> u64 {
        self.shared.times_read.load(Ordering::SeqCst)
    }

    /// What we hold, while we are the owner.
    pub(super) fn items(&self) -> Option<Items> {
        self.shared.items.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Becomes the owner of `items`.
    pub(super) fn own(&self, items: Vec<(String, Vec<u8>)>) -> Result<()> {
        let (send, receive) = mpsc::channel();
        self.order(Order::Own(Arc::new(items), send), &receive)
    }

    /// Gives the clipboard up.
    pub(super) fn disown(&self) -> Result<()> {
        let (send, receive) = mpsc::channel();
        self.order(Order::Disown(send), &receive)
    }

    fn order(&self, order: Order, answer: &mpsc::Receiver<Result<()>>) -> Result<()> {
        let gone = || PlatformError::DisplayUnavailable { doing: DOING.into(), source: None };
        self.orders.send(order).map_err(|_| gone())?;
        let _ = rustix::io::write(&self.wake, &[1]);
        answer.recv_timeout(ANSWER).map_err(|_| gone())?
    }
}

/// Contents on their way in pieces.
struct Transfer {
    window: Window,
    property: u32,
    kind: u32,
    items: Items,
    item: usize,
    at: usize,
    moved: Instant,
}

struct Thread {
    conn: Conn,
    window: Window,
    woken: OwnedFd,
    orders: mpsc::Receiver<Order>,
    shared: Arc<Shared>,
    /// Server time at which we became the owner.
    since: u32,
    transfers: Vec<Transfer>,
}

impl Thread {
    fn run(&mut self) -> Result<()> {
        loop {
            // Round trips made below may have read events: always empty the queue before sleeping.
            while let Some(event) = self.event()? {
                self.handle(event)?;
            }
            loop {
                match self.orders.try_recv() {
                    Ok(Order::Own(items, answer)) => {
                        let result = self.own(items);
                        let fatal = matches!(result, Err(PlatformError::DisplayUnavailable { .. }));
                        let _ = answer.send(result);
                        if fatal {
                            return Ok(());
                        }
                    }
                    Ok(Order::Disown(answer)) => {
                        let _ = answer.send(self.disown());
                    }
                    Err(mpsc::TryRecvError::Empty) => break,
                    Err(mpsc::TryRecvError::Disconnected) => return Ok(()),
                }
            }
            self.transfers.retain(|t| t.moved.elapsed() < STALLED);
            if let Some(event) = self.event()? {
                self.handle(event)?;
                continue;
            }
            self.conn.flush(DOING)?;
            self.sleep();
        }
    }

    fn event(&self) -> Result<Option<Event>> {
        self.conn.x.poll_for_event().map_err(|e| PlatformError::display(DOING, e))
    }

    /// Sleeps until the server or the handle has something for us.
    fn sleep(&self) {
        let second = Timespec { tv_sec: 1, tv_nsec: 0 };
        let limit = (!self.transfers.is_empty()).then_some(&second);
        let mut fds = [
            PollFd::from_borrowed_fd(self.conn.x.stream().as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.woken.as_fd(), PollFlags::IN),
        ];
        let _ = poll(&mut fds, limit);
        let mut bytes = [0u8; 64];
        let _ = rustix::io::read(&self.woken, &mut bytes);
    }

    /// The server's time, which owners must name: it comes with a change of a property of ours.
    fn server_time(&mut self) -> Result<u32> {
        let name = self.conn.atoms._DESKHAND_TIME;
        self.conn
            .x
            .change_property8(PropMode::APPEND, self.window, name, AtomEnum::STRING, &[])
            .wait(DOING)?;
        // The notice was sent before the answer to the request.
        let mut time = x11rb::CURRENT_TIME;
        while let Some(event) = self.event()? {
            match event {
                Event::PropertyNotify(e) if e.window == self.window && e.atom == name => time = e.time,
                other => self.handle(other)?,
            }
        }
        Ok(time)
    }

    fn own(&mut self, items: Items) -> Result<()> {
        let time = self.server_time()?;
        let clipboard = self.conn.atoms.CLIPBOARD;
        *self.items() = Some(items);
        self.shared.times_read.store(0, Ordering::SeqCst);
        self.conn.x.set_selection_owner(self.window, clipboard, time).wait(DOING)?;
        let owner = self.conn.x.get_selection_owner(clipboard).wait(DOING)?.owner;
        self.since = time;
        if owner == self.window {
            return Ok(());
        }
        *self.items() = None;
        Err(PlatformError::AppUnresponsive { app: "another clipboard owner".into(), doing: DOING.into() })
    }

    fn disown(&mut self) -> Result<()> {
        let held = self.items().take().is_some();
        if held {
            self.conn
                .x
                .set_selection_owner(x11rb::NONE, self.conn.atoms.CLIPBOARD, self.since)
                .wait(DOING)?;
        }
        Ok(())
    }

    fn items(&self) -> std::sync::MutexGuard<'_, Option<Items>> {
        self.shared.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn handle(&mut self, event: Event) -> Result<()> {
        match event {
            Event::SelectionRequest(e) => self.answer(&e),
            Event::SelectionClear(e) if e.selection == self.conn.atoms.CLIPBOARD => {
                // A late notice about an ownership before the present one changes nothing.
                let owner = self.conn.x.get_selection_owner(e.selection).wait(DOING)?.owner;
                if owner != self.window {
                    *self.items() = None;
                }
                Ok(())
            }
            Event::PropertyNotify(e) if e.state == Property::DELETE => self.go_on(e.window, e.atom),
            _ => Ok(()),
        }
    }

    fn answer(&mut self, e: &SelectionRequestEvent) -> Result<()> {
        let property = if e.property == x11rb::NONE { e.target } else { e.property };
        let given = self.give(e, property)?;
        let notice = SelectionNotifyEvent {
            response_type: SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time: e.time,
            requestor: e.requestor,
            selection: e.selection,
            target: e.target,
            property: if given { property } else { x11rb::NONE },
        };
        self.conn.x.send_event(false, e.requestor, EventMask::NO_EVENT, notice).wait_opt(DOING)?;
        self.conn.flush(DOING)
    }

    /// Puts what was asked for into the asker's property; false when we do not have it.
    fn give(&mut self, e: &SelectionRequestEvent, property: u32) -> Result<bool> {
        let Some(items) = self.items().clone() else { return Ok(false) };
        let a = self.conn.atoms;
        let put32 = |kind: u32, values: &[u32]| {
            self.conn
                .x
                .change_property32(PropMode::REPLACE, e.requestor, property, kind, values)
                .wait_opt(DOING)
                .map(|r| r.is_some())
        };
        if e.target == a.TARGETS {
            let mut targets = vec![a.TARGETS, a.TIMESTAMP];
            for (format, _) in items.iter() {
                targets.push(self.conn.x.intern_atom(false, format.as_bytes()).wait(DOING)?.atom);
            }
            return put32(AtomEnum::ATOM.into(), &targets);
        }
        if e.target == a.TIMESTAMP {
            return put32(AtomEnum::INTEGER.into(), &[self.since]);
        }
        let Some(name) = self.conn.x.get_atom_name(e.target).wait_opt(DOING)? else { return Ok(false) };
        let Some(item) = items.iter().position(|(f, _)| f.as_bytes() == name.name) else { return Ok(false) };
        let bytes = &items[item].1;
        // TEXT means "whatever text you have"; the answer names what it is.
        let kind = if e.target == a.TEXT { a.UTF8_STRING } else { e.target };
        if bytes.len() <= PIECE {
            let done = self
                .conn
                .x
                .change_property8(PropMode::REPLACE, e.requestor, property, kind, bytes)
                .wait_opt(DOING)?;
            if done.is_some() {
                self.shared.times_read.fetch_add(1, Ordering::SeqCst);
            }
            return Ok(done.is_some());
        }
        if self.transfers.len() >= TRANSFERS {
            return Ok(false);
        }
        let attributes = ChangeWindowAttributesAux::new().event_mask(EventMask::PROPERTY_CHANGE);
        if self.conn.x.change_window_attributes(e.requestor, &attributes).wait_opt(DOING)?.is_none() {
            return Ok(false);
        }
        let size = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let told = put32(a.INCR, &[size])?;
        if told {
            self.transfers.push(Transfer {
                window: e.requestor,
                property,
                kind,
                items: Arc::clone(&items),
                item,
                at: 0,
                moved: Instant::now(),
            });
        }
        Ok(told)
    }

    /// The receiver took a piece: give the next; an empty one ends it.
    fn go_on(&mut self, window: Window, property: u32) -> Result<()> {
        let Some(i) = self.transfers.iter().position(|t| t.window == window && t.property == property) else {
            return Ok(());
        };
        let t = &mut self.transfers[i];
        let bytes = &t.items[t.item].1;
        let end = (t.at + PIECE).min(bytes.len());
        let piece = &bytes[t.at..end];
        let last = piece.is_empty();
        let sent = self
            .conn
            .x
            .change_property8(PropMode::REPLACE, window, property, t.kind, piece)
            .wait_opt(DOING)?;
        t.at = end;
        t.moved = Instant::now();
        if last || sent.is_none() {
            self.transfers.swap_remove(i);
            if last && sent.is_some() {
                self.shared.times_read.fetch_add(1, Ordering::SeqCst);
            }
        }
        self.conn.flush(DOING)
    }
}
