//! A blocking client. Several threads may use one connection: whoever waits reads for all.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use deskhand_protocol::{
    BRIDGE_VERSION, Error, ErrorCode, Hello, HelloReply, MAX_REPLY_BYTES, RpcResponse, method,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use serde_json::{Value, json};

use crate::call_request::CallRequest;
use crate::frame::{Decoder, Frame};
use crate::handshake::challenge_in;

/// Calls sent with [`Client::send_call`] that may wait for their answer; the host takes as many.
pub const MAX_IN_FLIGHT: usize = 32;

/// Bytes read at once.
const CHUNK: usize = 64 * 1024;
/// Time the host may take to read a request from the socket.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
/// Time to wait for `hello` alone.
const HELLO_TIMEOUT: Duration = Duration::from_secs(10);
/// The id `hello` is sent under.
const HELLO_ID: u64 = 0;

/// The answer to a call sent with [`Client::send_call`].
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// What `send_call` returned.
    pub ticket: u64,
    /// The result or the error.
    pub result: Result<Value, Error>,
}

/// A connection to the host.
pub struct Client {
    socket: UnixStream,
    next: AtomicU64,
    writing: Mutex<Writing>,
    state: Mutex<State>,
    arrived: Condvar,
}

struct Writing {
    /// `hello` without its challenge, until it went out in front of the first request.
    greeting: Option<Hello>,
}

struct State {
    /// Taken by the thread that reads for all.
    reader: Option<Box<Reader>>,
    waiting: HashMap<u64, Option<Result<Value, Error>>>,
    /// Tickets of `send_call`, and those answered, in order of arrival.
    tickets: HashSet<u64>,
    answered: VecDeque<Answer>,
    /// The host's first line.
    challenge: Option<String>,
    hello: Option<HelloReply>,
    /// Why the connection is of no more use.
    dead: Option<Error>,
}

struct Reader {
    decoder: Decoder,
    chunk: Vec<u8>,
}

/// What a waiter looks for.
enum Want {
    Reply(u64),
    AnyTicket,
    Hello,
    Challenge,
}

impl Client {
    /// Connects. The host's challenge is awaited when the first request is sent, and `hello` goes
    /// out together with that request, so a refusal shows up there.
    ///
    /// No host: `DESKTOP_HOST_NOT_RUNNING`, with `details.reason` `missing` or `stale`. A socket
    /// that another user listens on: `DESKTOP_PERMISSION_MISSING`.
    pub fn connect(socket: &Path, name: &str, version: &str) -> Result<Self, Error> {
        let stream = crate::endpoint::connect(socket).map_err(|error| not_running(socket, &error))?;
        let owner = crate::peer::credentials(&stream).map_err(|error| broken(&error))?.uid;
        let me = rustix::process::geteuid().as_raw();
        if owner != me {
            return Err(Error::new(
                ErrorCode::PermissionMissing,
                format!("uid {owner} listens on {}, not you (uid {me})", socket.display()),
            )
            .hint(
                "somebody else put this socket there: remove it, or set DESKHAND_HOME to a folder of yours",
            ));
        }
        stream.set_write_timeout(Some(WRITE_TIMEOUT)).map_err(|error| broken(&error))?;
        let hello = Hello {
            versions: vec![BRIDGE_VERSION],
            client: name.to_owned(),
            client_version: version.to_owned(),
            challenge: String::new(),
        };
        let state = State {
            reader: Some(Box::new(Reader { decoder: Decoder::new(MAX_REPLY_BYTES), chunk: vec![0; CHUNK] })),
            waiting: HashMap::new(),
            tickets: HashSet::new(),
            answered: VecDeque::new(),
            challenge: None,
            hello: None,
            dead: None,
        };
        Ok(Self {
            socket: stream,
            next: AtomicU64::new(HELLO_ID + 1),
            writing: Mutex::new(Writing { greeting: Some(hello) }),
            state: Mutex::new(state),
            arrived: Condvar::new(),
        })
    }

    /// What the host said about itself; sends `hello` alone if nothing was sent yet.
    pub fn hello(&self) -> Result<HelloReply, Error> {
        let deadline = Instant::now() + HELLO_TIMEOUT;
        self.write(&[], deadline)?;
        self.wait(&Want::Hello, deadline, HELLO_TIMEOUT)?;
        self.lock().hello.clone().ok_or_else(|| Error::new(ErrorCode::Internal, "hello was not answered"))
    }

    /// Sends a request and waits for its answer.
    pub fn request(&self, method: &str, params: &Value, timeout: Duration) -> Result<Value, Error> {
        let deadline = Instant::now() + timeout;
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.lock().waiting.insert(id, None);
        let result = self
            .write(&request_line(id, method, params), deadline)
            .and_then(|()| self.wait(&Want::Reply(id), deadline, timeout));
        let taken = self.lock().waiting.remove(&id).flatten();
        result?;
        taken.unwrap_or_else(|| Err(Error::new(ErrorCode::Internal, "the answer was lost")))
    }

    /// Runs a tool and waits for its outcome. Nonce, expiry and, if missing, the request id are
    /// filled in.
    pub fn call(&self, request: CallRequest, timeout: Duration) -> Result<Value, Error> {
        let params = request.into_params()?;
        self.request(method::CALL, &json!(params), timeout)
    }

    /// Sends a call without waiting; [`Client::recv`] gives the answers as they come. At most
    /// [`MAX_IN_FLIGHT`] may wait.
    pub fn send_call(&self, request: CallRequest) -> Result<u64, Error> {
        let params = request.into_params()?;
        let ticket = self.next.fetch_add(1, Ordering::Relaxed);
        let mut state = self.lock();
        if state.tickets.len() >= MAX_IN_FLIGHT {
            return Err(Error::new(ErrorCode::Busy, format!("{MAX_IN_FLIGHT} calls wait for their answer"))
                .hint("take an answer with recv first"));
        }
        state.tickets.insert(ticket);
        drop(state);
        let deadline = Instant::now() + HELLO_TIMEOUT;
        if let Err(error) = self.write(&request_line(ticket, method::CALL, &json!(params)), deadline) {
            self.lock().tickets.remove(&ticket);
            return Err(error);
        }
        Ok(ticket)
    }

    /// The next answer to any call sent with [`Client::send_call`].
    pub fn recv(&self, timeout: Duration) -> Result<Answer, Error> {
        self.wait(&Want::AnyTicket, Instant::now() + timeout, timeout)?;
        let answer = self.lock().answered.pop_front();
        answer.ok_or_else(|| {
            Error::new(ErrorCode::NotFound, "no call waits for an answer").hint("send_call first")
        })
    }

    /// Sends a line; the first one waits for the challenge and goes out behind `hello`.
    fn write(&self, line: &[u8], deadline: Instant) -> Result<(), Error> {
        let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = if let Some(hello) = &writing.greeting {
            let left = deadline.saturating_duration_since(Instant::now()).min(HELLO_TIMEOUT);
            self.wait(&Want::Challenge, Instant::now() + left, left)?;
            let challenge = self.lock().challenge.clone().unwrap_or_default();
            let hello = json!(Hello { challenge, ..hello.clone() });
            writing.greeting = None;
            send_all(&self.socket, &[&request_line(HELLO_ID, method::HELLO, &hello), line].concat())
        } else {
            send_all(&self.socket, line)
        };
        let Err(error) = sent else { return Ok(()) };
        // A host that turned us away has said why before it closed.
        self.drain_words();
        let mut state = self.lock();
        let why = if error == Errno::AGAIN {
            Error::new(ErrorCode::Timeout, "the host does not read from its socket")
                .hint("it may hang: `deskhand down`, then `deskhand up`")
        } else {
            broken(&error.into())
        };
        Err(state.dead.get_or_insert(why).clone())
    }

    /// Reads what is there already, so that a refusal is known.
    fn drain_words(&self) {
        let reader = self.lock().reader.take();
        if let Some(mut reader) = reader {
            let words = loop {
                match self.read_once(&mut reader, Instant::now()) {
                    Ok(true) => {}
                    Ok(false) => break None,
                    Err(error) => break Some(error),
                }
            };
            let mut state = self.lock();
            state.reader = Some(reader);
            if let Some(error) = words {
                state.dead.get_or_insert(error);
            }
            drop(state);
            self.arrived.notify_all();
        }
    }

    /// Waits until what is wanted is there. The first to wait reads; others wait for it.
    fn wait(&self, want: &Want, deadline: Instant, timeout: Duration) -> Result<(), Error> {
        let mut state = self.lock();
        loop {
            let there = match want {
                Want::Reply(id) => !matches!(state.waiting.get(id), Some(None)),
                Want::AnyTicket => !state.answered.is_empty() || state.tickets.is_empty(),
                Want::Hello => state.hello.is_some(),
                Want::Challenge => state.challenge.is_some(),
            };
            if there {
                return Ok(());
            }
            if let Some(dead) = &state.dead {
                return Err(dead.clone());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let what = if matches!(want, Want::Challenge) { "challenge" } else { "answer" };
                return Err(Error::new(
                    ErrorCode::Timeout,
                    format!("no {what} from the host within {} ms", timeout.as_millis()),
                ));
            }
            state = match state.reader.take() {
                Some(mut reader) => {
                    drop(state);
                    let read = self.read_once(&mut reader, deadline);
                    let mut state = self.lock();
                    state.reader = Some(reader);
                    if let Err(error) = read {
                        state.dead.get_or_insert(error);
                    }
                    self.arrived.notify_all();
                    state
                }
                None => self.arrived.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
            };
        }
    }

    /// Reads once and hands out what came. `Ok(false)` when nothing came in time.
    fn read_once(&self, reader: &mut Reader, deadline: Instant) -> Result<bool, Error> {
        let left = deadline.saturating_duration_since(Instant::now());
        let time = Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: left.subsec_nanos().into(),
        };
        match poll(&mut [PollFd::new(&self.socket, PollFlags::IN)], Some(&time)) {
            Ok(0) | Err(Errno::INTR) => return Ok(false),
            Ok(_) => {}
            Err(error) => return Err(broken(&error.into())),
        }
        let count = match rustix::net::recv(&self.socket, reader.chunk.as_mut_slice(), RecvFlags::DONTWAIT) {
            Ok((0, _)) => return Err(broken(&io::Error::from(io::ErrorKind::UnexpectedEof))),
            Ok((count, _)) => count,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(false),
            Err(error) => return Err(broken(&error.into())),
        };
        reader.decoder.push(&reader.chunk[..count]);
        while let Some(frame) = reader.decoder.next_frame() {
            match frame {
                Frame::Line(line) => self.hand_out(line)?,
                Frame::TooLarge => {
                    return Err(Error::new(
                        ErrorCode::FrameTooLarge,
                        format!("the host's answer is longer than {MAX_REPLY_BYTES} bytes"),
                    )
                    .detail("limitBytes", MAX_REPLY_BYTES));
                }
            }
        }
        Ok(true)
    }

    fn hand_out(&self, line: &[u8]) -> Result<(), Error> {
        if self.lock().challenge.is_none()
            && let Some(challenge) = challenge_in(line)
        {
            self.lock().challenge = Some(challenge);
            return Ok(());
        }
        let response: RpcResponse = serde_json::from_slice(line).map_err(|error| {
            Error::new(ErrorCode::Internal, format!("the host's answer cannot be read: {error}"))
        })?;
        let result = match response.error {
            Some(error) => Err(error.data),
            None => Ok(response.result.unwrap_or(Value::Null)),
        };
        let Some(id) = response.id.as_u64() else {
            // An answer to no request of ours: the host speaks about the connection itself.
            return Err(result
                .err()
                .unwrap_or_else(|| Error::new(ErrorCode::Internal, "an answer without an id")));
        };
        let mut state = self.lock();
        if id == HELLO_ID {
            let reply = result.and_then(|value| {
                serde_json::from_value(value)
                    .map_err(|error| Error::new(ErrorCode::Internal, format!("the host's hello: {error}")))
            });
            state.hello = Some(reply?);
        } else if state.tickets.remove(&id) {
            state.answered.push_back(Answer { ticket: id, result });
        } else if let Some(slot) = state.waiting.get_mut(&id) {
            *slot = Some(result);
        }
        // Else: it was waited for too long ago.
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn request_line(id: u64, method: &str, params: &Value) -> Vec<u8> {
    let mut line =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{},\"params\":", json!(method)).into_bytes();
    line.extend_from_slice(params.to_string().as_bytes());
    line.extend_from_slice(b"}\n");
    line
}

fn send_all(socket: &UnixStream, mut bytes: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        match rustix::net::send(socket, bytes, SendFlags::NOSIGNAL) {
            Ok(sent) => bytes = &bytes[sent..],
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn not_running(socket: &Path, error: &io::Error) -> Error {
    let shown = socket.display();
    let (reason, message) = match error.kind() {
        io::ErrorKind::NotFound => ("missing", format!("no host runs: there is no socket {shown}")),
        io::ErrorKind::ConnectionRefused => {
            ("stale", format!("no host runs: {shown} was left behind by one that ended"))
        }
        io::ErrorKind::PermissionDenied => {
            return Error::new(ErrorCode::PermissionMissing, format!("{shown}: {error}"))
                .hint("this socket belongs to another user; set DESKHAND_HOME to a folder of yours");
        }
        _ => ("unreachable", format!("the host cannot be reached at {shown}: {error}")),
    };
    Error::new(ErrorCode::HostNotRunning, message)
        .detail("reason", reason)
        .detail("socket", shown.to_string())
}

fn broken(error: &io::Error) -> Error {
    let what = match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => {
            "the host closed the connection".to_owned()
        }
        _ => format!("the connection to the host broke: {error}"),
    };
    Error::new(ErrorCode::HostNotRunning, what)
        .hint("it may have ended: `deskhand status`; observe before you repeat an action")
        .detail("reason", "closed")
}
