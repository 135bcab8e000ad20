//! A blocking interface to a NATS connection. [`INCOMING`] and [`OUTGOING`] limit the memory that a server
//! can make this process use.

mod driver;

use std::{
    collections::HashMap,
    fmt,
    future::Future,
    io,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    runtime, select,
    sync::{
        Notify, OwnedSemaphorePermit, Semaphore,
        mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
        oneshot,
    },
    time::{Instant, sleep, sleep_until, timeout},
};

use self::driver::Driver;
use crate::{
    dial::{ServerAccess, Target},
    error::FleetError,
    wire,
};

/// The timeout for queueing a message, and for receiving the reply to a request.
const PATIENCE: Duration = Duration::from_secs(10);
/// The maximum total size of unread messages, in bytes. Above this, the socket is not read.
const INCOMING: usize = 8 << 20;
const OUTGOING: usize = 16 << 20;
const OVERHEAD: usize = 256;
const MOST_ANSWERS: usize = 10_000;
const ANSWERS: usize = 8 << 20;
const ROLL_CALL: Duration = Duration::from_secs(10);
const LAST: Duration = Duration::from_secs(1);
/// How often blocking calls check the stop flag.
const GLANCE: Duration = Duration::from_millis(100);
/// After a stop request, all waits together may take this long. Each further wait may take `LATE_WAIT`.
const AFTER_STOP: Duration = Duration::from_millis(500);
const LATE_WAIT: Duration = Duration::from_millis(100);
const MOST_LINES: u32 = 10;

pub(crate) type LogLine = Arc<dyn Fn(&str) + Send + Sync>;

pub(crate) struct Connection {
    shared: Arc<Shared>,
    runtime: runtime::Handle,
    outgoing: UnboundedSender<Outgoing>,
    _driver: oneshot::Sender<()>,
}

struct Shared {
    access: Arc<ServerAccess>,
    log: LogLine,
    stop: Arc<AtomicBool>,
    deadline: OnceLock<Instant>,
    is_connected: AtomicBool,
    complaint: Mutex<Option<String>>,
    subscriptions: Mutex<HashMap<u64, Subscribed>>,
    next_sid: AtomicU64,
    incoming: Arc<Semaphore>,
    outgoing: Arc<Semaphore>,
    pulse: Pulse,
    lines: AtomicU32,
}

struct Subscribed {
    subject: String,
    sender: UnboundedSender<Message>,
}

#[derive(Default)]
struct Pulse {
    ping: AtomicBool,
    pong: AtomicBool,
    unanswered: AtomicU32,
    due: Notify,
}

enum Outgoing {
    Line(Vec<u8>, OwnedSemaphorePermit),
    Flushed(oneshot::Sender<()>),
}

pub(crate) struct Message {
    pub(crate) subject: String,
    pub(crate) payload: Vec<u8>,
    no_responders: bool,
    _room: OwnedSemaphorePermit,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Connection to {}", self.shared.access.server)
    }
}

pub(crate) enum Answer {
    Message(Vec<u8>),
    Nobody,
    None,
}

/// Starts a thread that runs until the returned sender is dropped.
fn spawn_runtime() -> io::Result<(runtime::Handle, oneshot::Sender<()>)> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    let (driver, ended) = oneshot::channel::<()>();
    let drive = move || {
        let _ = runtime.block_on(ended);
        // Does not wait, because a DNS lookup may still be running.
        runtime.shutdown_background();
    };
    thread::Builder::new().name("nats".to_owned()).spawn(drive)?;
    Ok((handle, driver))
}

impl Connection {
    /// The connection's blocking calls return soon after `stop` is set.
    pub(crate) fn open(
        access: &Arc<ServerAccess>,
        stop: &Arc<AtomicBool>,
        log: &LogLine,
    ) -> Result<Self, FleetError> {
        let target = Target::new(access)?;
        let (handle, driver) = spawn_runtime().map_err(|error| FleetError::Broken {
            server: access.server.clone(),
            reason: error.to_string(),
        })?;
        let shared = Arc::new(Shared {
            access: Arc::clone(access),
            log: Arc::clone(log),
            stop: Arc::clone(stop),
            deadline: OnceLock::new(),
            is_connected: AtomicBool::new(true),
            complaint: Mutex::default(),
            subscriptions: Mutex::default(),
            next_sid: AtomicU64::new(1),
            incoming: Arc::new(Semaphore::new(INCOMING)),
            outgoing: Arc::new(Semaphore::new(OUTGOING)),
            pulse: Pulse::default(),
            lines: AtomicU32::new(0),
        });
        let dialed = handle.block_on(async {
            select! {
                dialed = target.dial(&shared.access) => dialed,
                () = shared.stopped() => Err(shared.broken(&"interrupted")),
            }
        })?;
        let (outgoing, lines) = unbounded_channel();
        let session = Driver { shared: Arc::clone(&shared), target, outgoing: lines };
        drop(handle.spawn(session.run(dialed)));
        Ok(Self { shared, runtime: handle, outgoing, _driver: driver })
    }

    pub(crate) fn publish(&self, subject: &str, message: &[u8]) -> Result<(), FleetError> {
        self.send(wire::publish(subject, None, message))
    }

    pub(crate) fn subscribe(self: &Arc<Self>, subject: String) -> Result<Subscription, FleetError> {
        let sid = self.shared.next_sid.fetch_add(1, Ordering::Relaxed);
        let line = wire::subscribe(&subject, sid);
        let (sender, messages) = unbounded_channel();
        self.shared.subscriptions.lock().insert(sid, Subscribed { subject, sender });
        let subscription = Subscription { sid, messages, connection: Arc::clone(self) };
        self.send(line)?;
        Ok(subscription)
    }

    pub(crate) fn ask(
        self: &Arc<Self>,
        subject: &str,
        answer: String,
        message: &[u8],
    ) -> Result<Answer, FleetError> {
        let question = wire::publish(subject, Some(&answer), message);
        let mut answers = self.subscribe(answer)?;
        self.send(question)?;
        Ok(match answers.answer(PATIENCE) {
            Some(message) if message.no_responders => Answer::Nobody,
            Some(message) => Answer::Message(message.payload),
            None => Answer::None,
        })
    }

    /// Collects replies on `answers` until there is a pause. The server reports a lack of subscribers on `none`.
    pub(crate) fn ask_all(
        self: &Arc<Self>,
        subject: &str,
        [answers, none]: [String; 2],
        message: &[u8],
        [first, next]: [Duration; 2],
    ) -> Result<Vec<(String, Vec<u8>)>, FleetError> {
        let mut answers = self.subscribe(answers)?;
        self.send(wire::publish(subject, Some(&none), message))?;
        let (mut all, mut patience, mut bytes) = (Vec::new(), first, 0);
        let end = Instant::now() + ROLL_CALL;
        while all.len() < MOST_ANSWERS
            && let Some(message) = answers.answer(patience.min(end.saturating_duration_since(Instant::now())))
            && !message.no_responders
        {
            bytes += message.payload.len();
            if bytes > ANSWERS {
                return Err(self.shared.broken(&format!("it sent replies with more than {ANSWERS} bytes")));
            }
            all.push((message.subject, message.payload));
            patience = next;
        }
        Ok(all)
    }

    pub(crate) fn flush(&self) {
        let (sender, flushed) = oneshot::channel();
        // If this fails, the receiver finds out when the lease expires.
        let _ = self.outgoing.send(Outgoing::Flushed(sender));
        let _ = self.with_timeout(LAST, flushed);
    }

    pub(crate) fn away(&self) -> Option<&str> {
        (!self.shared.is_connected.load(Ordering::Relaxed)).then_some(&*self.shared.access.server)
    }

    pub(crate) fn complaint(&self) -> Option<String> {
        self.shared.complaint.lock().take()
    }

    fn send(&self, line: Vec<u8>) -> Result<(), FleetError> {
        let room = Arc::clone(&self.shared.outgoing).acquire_many_owned(cost(line.len()));
        let room = self.with_timeout(PATIENCE, room).and_then(Result::ok);
        let room = room.ok_or_else(|| self.shared.broken(&"too many queued messages"))?;
        let sent = self.outgoing.send(Outgoing::Line(line, room));
        sent.map_err(|_| self.shared.broken(&"its thread ended"))
    }

    /// Waits up to `patience` for `work`, or only briefly once the stop flag is set.
    fn with_timeout<T>(&self, patience: Duration, work: impl Future<Output = T>) -> Option<T> {
        self.runtime.block_on(async {
            select! {
                biased;
                result = work => Some(result),
                () = sleep(patience) => None,
                () = self.shared.stopped() => None,
            }
        })
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.flush();
    }
}

fn cost(bytes: usize) -> u32 {
    u32::try_from(bytes + OVERHEAD).unwrap_or(u32::MAX)
}

impl Shared {
    async fn stopped(&self) {
        while !self.stop.load(Ordering::Relaxed) {
            sleep(GLANCE).await;
        }
        let deadline = self.deadline.get_or_init(|| Instant::now() + AFTER_STOP);
        sleep_until(*deadline.max(&(Instant::now() + LATE_WAIT))).await;
    }

    fn broken(&self, reason: &dyn fmt::Display) -> FleetError {
        FleetError::Broken { server: self.access.server.clone(), reason: reason.to_string() }
    }

    fn line(&self, text: &str) {
        if self.lines.fetch_add(1, Ordering::Relaxed) < MOST_LINES {
            (self.log)(&format!("the NATS server {} {text}", self.access.server));
        }
    }

    fn complain(&self, reason: String) {
        self.line(&format!("reports: {reason}"));
        *self.complaint.lock() = Some(reason);
    }
}

pub(crate) struct Subscription {
    sid: u64,
    messages: UnboundedReceiver<Message>,
    connection: Arc<Connection>,
}

pub(crate) enum Incoming {
    Message(Message),
    Nothing,
    Ended,
}

impl Subscription {
    pub(crate) fn next(&mut self, within: Duration) -> Incoming {
        let messages = &mut self.messages;
        match self.connection.runtime.block_on(async { timeout(within, messages.recv()).await }) {
            Ok(Some(message)) => Incoming::Message(message),
            Ok(None) => Incoming::Ended,
            Err(_) => Incoming::Nothing,
        }
    }

    fn answer(&mut self, within: Duration) -> Option<Message> {
        self.connection.with_timeout(within, self.messages.recv()).flatten()
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.connection.shared.subscriptions.lock().remove(&self.sid);
        // If this fails, later messages for the subscription are dropped on arrival.
        let _ = self.connection.send(wire::unsubscribe(self.sid));
    }
}
