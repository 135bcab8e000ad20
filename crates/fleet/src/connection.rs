//! A connection to a NATS server, for threads that wait: the one place where anything is asynchronous, on a thread of its own.
//! Must not know what is sent.

use std::{
    fmt,
    future::{Future, Ready, ready},
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use async_nats::{
    Client, ClientError, ConnectErrorKind, ConnectOptions, Event, ServerAddr, ServerError, Subscriber,
    client::RequestErrorKind,
};
use futures_util::StreamExt;
use tokio::{runtime, sync::oneshot, time::timeout};

use crate::{error::FleetError, key::NKey, subject};

/// How long a message may wait to be sent, and a question for its answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// A server that does not answer is given up after three of these.
const PING: Duration = Duration::from_secs(5);
/// Attempts to connect again are so far apart at most.
const FARTHEST: Duration = Duration::from_secs(15);
/// Messages of a subscription that wait to be read, at most.
const WAITING: usize = 4096;
/// What the client says where a server lets a user in no more.
const REFUSED: &str = "authorization violation";
/// How an address begins, encrypted and not.
const ENCRYPTED: &str = "tls://";
const PLAIN: &str = "nats://";
/// Answers of all that listen, at most.
const MOST_ANSWERS: usize = 10_000;
/// How long what was sent last may take when a connection ends.
const LAST: Duration = Duration::from_secs(1);

/// How a server is reached, and as whom.
#[derive(Debug)]
pub struct ServerAccess {
    /// `tls://host:4222`, or `nats://` where nobody listens on the way.
    pub server: String,
    /// What this user is called in subjects.
    pub name: String,
    /// What the server knows it by; `None` of a server that lets anybody in.
    pub key: Option<NKey>,
    /// The certificate of the authority that signed the server's, in place of those of this system.
    pub ca: Option<PathBuf>,
}

/// Who is told that the server is away, and back.
pub(crate) type Tell = Arc<dyn Fn(&str) + Send + Sync>;

/// The last complaint of a server.
type Complaint = Arc<Mutex<Option<String>>>;

/// A connection, which is made again whenever it breaks. Dropping it ends it, once all is sent.
pub(crate) struct Connection {
    client: Client,
    server: String,
    runtime: runtime::Handle,
    complaint: Complaint,
    /// Dropping it ends the thread that all of this runs on.
    _driver: oneshot::Sender<()>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Connection to {}", self.server)
    }
}

/// What came of a question.
pub(crate) enum Answer {
    Message(Vec<u8>),
    /// Nobody listens to it.
    Nobody,
    /// No answer in time.
    None,
}

impl Connection {
    /// Connects, and stays connected.
    ///
    /// # Errors
    /// When the server is not reached, or does not let this user in.
    pub(crate) fn open(access: &ServerAccess, tell: &Tell) -> Result<Self, FleetError> {
        if !is_address(&access.server) {
            let said = "it begins with neither tls:// nor nats://".to_owned();
            return Err(FleetError::NoAddress { server: access.server.clone(), said });
        }
        let address: ServerAddr = access.server.parse().map_err(|error: std::io::Error| {
            FleetError::NoAddress { server: access.server.clone(), said: error.to_string() }
        })?;
        let broken = |error: std::io::Error| FleetError::Broken {
            server: access.server.clone(),
            said: error.to_string(),
        };
        let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(broken)?;
        let handle = runtime.handle().clone();
        let (driver, ended) = oneshot::channel::<()>();
        let drive = move || {
            // Ends with its sender.
            let _ = runtime.block_on(ended);
        };
        thread::Builder::new().name("nats".to_owned()).spawn(drive).map_err(broken)?;
        let complaint = Complaint::default();
        let options = options(access, tell, &complaint);
        let client = handle.block_on(options.connect(address)).map_err(|error| refused(access, &error))?;
        Ok(Self { client, server: access.server.clone(), runtime: handle, complaint, _driver: driver })
    }

    /// Sends a message; it waits while the server is away, for a while.
    pub(crate) fn publish(&self, subject: &str, message: Vec<u8>) -> Result<(), FleetError> {
        self.wait(self.client.publish(subject.to_owned(), message.into()))
    }

    /// Hears what is sent to a subject from now on.
    pub(crate) fn subscribe(self: &Arc<Self>, subject: String) -> Result<Subscription, FleetError> {
        let subscriber = self.wait(self.client.subscribe(subject))?;
        Ok(Subscription { subscriber, connection: Arc::clone(self) })
    }

    /// Asks one, and waits for its answer.
    pub(crate) fn ask(&self, subject: String, message: Vec<u8>) -> Result<Answer, FleetError> {
        let asked = self
            .runtime
            .block_on(async { timeout(PATIENCE, self.client.request(subject, message.into())).await });
        match asked {
            Ok(Ok(message)) => Ok(Answer::Message(message.payload.to_vec())),
            Ok(Err(error)) if error.kind() == RequestErrorKind::NoResponders => Ok(Answer::Nobody),
            Ok(Err(error)) if error.kind() != RequestErrorKind::TimedOut => Err(self.broken(&error)),
            Ok(Err(_)) | Err(_) => Ok(Answer::None),
        }
    }

    /// Asks all that listen: answers are awaited until none has come for a while.
    pub(crate) fn ask_all(
        self: &Arc<Self>,
        subject: &str,
        [first, next]: [Duration; 2],
    ) -> Result<Vec<Vec<u8>>, FleetError> {
        let inbox = self.client.new_inbox();
        let mut answers = self.subscribe(inbox.clone())?;
        self.wait(self.client.publish_with_reply(subject.to_owned(), inbox, Vec::<u8>::new().into()))?;
        let mut all = Vec::new();
        let mut patience = first;
        while all.len() < MOST_ANSWERS
            && let Incoming::Message(message) = answers.next(patience)
        {
            // A server says so where nobody listens.
            if message.status.is_some() {
                break;
            }
            all.push(message.payload.to_vec());
            patience = next;
        }
        Ok(all)
    }

    /// Waits until what was sent is with the server, no longer than a moment.
    pub(crate) fn flush(&self) {
        // Whoever it was for notices the silence otherwise.
        let _ = self.runtime.block_on(async { timeout(LAST, self.client.flush()).await });
    }

    /// The server, while there is no connection with it.
    pub(crate) fn away(&self) -> Option<&str> {
        let connected = self.client.connection_state() == async_nats::connection::State::Connected;
        (!connected).then_some(&*self.server)
    }

    /// What the server complained of since this was asked last.
    pub(crate) fn complaint(&self) -> Option<String> {
        self.complaint.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn wait<T, E: fmt::Display>(&self, work: impl Future<Output = Result<T, E>>) -> Result<T, FleetError> {
        let waited = self.runtime.block_on(async { timeout(PATIENCE, work).await });
        match waited {
            Ok(result) => result.map_err(|error| self.broken(&error)),
            Err(_) => Err(self.broken(&"too much waits to be sent")),
        }
    }

    fn broken(&self, said: &dyn fmt::Display) -> FleetError {
        FleetError::Broken { server: self.server.clone(), said: said.to_string() }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.flush();
    }
}

fn options(access: &ServerAccess, tell: &Tell, complaint: &Complaint) -> ConnectOptions {
    let mut options = ConnectOptions::new()
        .name(format!("plumb {}", access.name))
        .custom_inbox_prefix(subject::inbox(&access.name))
        .ping_interval(PING)
        .subscription_capacity(WAITING)
        .max_reconnects(None)
        // Servers that this one names come without their scheme.
        .require_tls(access.server.starts_with(ENCRYPTED))
        .reconnect_delay_callback(delay)
        .event_callback(on_event(access, tell, complaint));
    if let Some(key) = &access.key {
        options = options.nkey(key.seed());
    }
    if let Some(ca) = &access.ca {
        options = options.add_root_certificates(ca.clone());
    }
    options
}

/// What becomes of what the client tells.
fn on_event(
    access: &ServerAccess,
    tell: &Tell,
    complaint: &Complaint,
) -> impl Fn(Event) -> Ready<()> + Send + Sync + use<> {
    let (server, tell, complaint) = (access.server.clone(), Arc::clone(tell), Arc::clone(complaint));
    let away = AtomicBool::new(false);
    let unknown = format!("the NATS server {server} does not take this key any more");
    move |event: Event| {
        match event {
            Event::Disconnected => {
                away.store(true, Ordering::Relaxed);
                tell(&format!("the NATS server {server} is away; it is tried again"));
            }
            Event::Connected if away.swap(false, Ordering::Relaxed) => {
                tell(&format!("the NATS server {server} is back"));
            }
            Event::ServerError(ServerError::Other(said)) => {
                tell(&format!("the NATS server {server} says: {said}"));
                *complaint.lock().unwrap_or_else(PoisonError::into_inner) = Some(said);
            }
            Event::ServerError(ServerError::AuthorizationViolation) => tell(&unknown),
            // What an attempt to connect again came to.
            Event::ClientError(ClientError::Other(said)) if said.contains(REFUSED) => tell(&unknown),
            _ => {}
        }
        ready(())
    }
}

/// The first attempt is made at once, each further one after twice the time.
fn delay(attempts: usize) -> Duration {
    let doublings = u32::try_from(attempts).unwrap_or(u32::MAX).saturating_sub(2).min(10);
    if attempts < 2 {
        Duration::ZERO
    } else {
        FARTHEST.min(Duration::from_millis(250) * 2_u32.pow(doublings))
    }
}

fn refused(access: &ServerAccess, error: &async_nats::ConnectError) -> FleetError {
    let (server, said) = (access.server.clone(), error.to_string());
    match (error.kind(), &access.key) {
        (ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication, key) => {
            let unkeyed = || "lets nobody in without a key".to_owned();
            let because = key.as_ref().map_or_else(unkeyed, |key| format!("takes no key {}", key.public()));
            FleetError::NotPermitted { server, because }
        }
        (ConnectErrorKind::Tls, _) => FleetError::Tls { server, said },
        _ if is_of_tls(error) => FleetError::Tls { server, said },
        (ConnectErrorKind::ServerParse, _) => FleetError::NoAddress { server, said },
        _ => FleetError::Away { server, said },
    }
}

/// Whether the handshake failed, which the client counts as input and output.
fn is_of_tls(error: &async_nats::ConnectError) -> bool {
    let cause = std::error::Error::source(error).and_then(|source| source.downcast_ref::<std::io::Error>());
    cause.and_then(std::io::Error::get_ref).is_some_and(|inner| inner.is::<async_nats::rustls::Error>())
}

/// Whether an address says whether it is encrypted: the client takes others for plain ones.
#[must_use]
pub fn is_address(server: &str) -> bool {
    [ENCRYPTED, PLAIN].iter().any(|scheme| server.starts_with(scheme))
}

/// What is heard on a subject.
pub(crate) struct Subscription {
    subscriber: Subscriber,
    connection: Arc<Connection>,
}

/// What a wait for a message came to.
pub(crate) enum Incoming {
    Message(async_nats::Message),
    /// Nothing in that time.
    Nothing,
    /// No more will come.
    Ended,
}

impl Subscription {
    /// Waits so long for the next message.
    pub(crate) fn next(&mut self, within: Duration) -> Incoming {
        let subscriber = &mut self.subscriber;
        match self.connection.runtime.block_on(async { timeout(within, subscriber.next()).await }) {
            Ok(Some(message)) => Incoming::Message(message),
            Ok(None) => Incoming::Ended,
            Err(_) => Incoming::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_get_rarer_to_a_limit() {
        let delays = [1, 2, 3, 4, 8, 9, 1000].map(|attempts| delay(attempts).as_millis());
        assert_eq!(delays, [0, 250, 500, 1000, 15_000, 15_000, 15_000]);
    }
}
