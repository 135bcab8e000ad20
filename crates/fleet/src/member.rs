//! The member side of a fleet: announces this host, and starts agents for the controllers that its policy accepts.

mod carry;

use std::{
    collections::BTreeMap,
    io::{Read, Write},
    net::{IpAddr, SocketAddr, ToSocketAddrs, UdpSocket},
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    thread::{self, Scope},
    time::Duration,
};

use parking_lot::Mutex;
use serde::Serialize;

use self::carry::carry;
use crate::{
    connection::{Connection, Incoming, LogLine, Message, Subscription},
    controller,
    dial::{self, ServerAccess},
    error::FleetError,
    key::PublicKey,
    message::{MemberInfo, OrderReply, VERSION, drawn},
    order::{self, Obeyed, OrderAddress, StartOrder, Task},
    seal::{Opener, Seal, Signed},
    stream::{Session, StreamReader, StreamWriter},
    subject,
};

const DEVICES: &str = "/proc/net/dev";
const GLANCE: Duration = Duration::from_millis(200);
const MOST: usize = 16;
const MOST_LINES: u64 = 100;
const FIRST: Duration = Duration::from_secs(1);
const FARTHEST: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub struct MemberPolicy {
    pub access: Arc<ServerAccess>,
    pub controllers: BTreeMap<String, PublicKey>,
    pub address: Option<IpAddr>,
    pub tool: String,
    pub since: i64,
}

#[derive(Debug, Default)]
pub struct MemberStatus {
    pub drained: AtomicBool,
    pub agents: AtomicUsize,
    pub started: AtomicU64,
    pub refused: AtomicU64,
    connection: OnceLock<Weak<Connection>>,
}

impl MemberStatus {
    #[must_use]
    pub fn is_connected(&self) -> bool {
        let connection = self.connection.get().and_then(Weak::upgrade);
        connection.is_some_and(|connection| connection.away().is_none())
    }
}

pub trait AgentStarter: Sync {
    /// The agent exits with the calling thread.
    fn start(&self) -> Result<Box<dyn Agent>, String>;
}

pub trait Agent {
    fn streams(&mut self) -> (Box<dyn Read + Send>, Box<dyn Write + Send>);

    fn stop(&mut self) -> String;
}

/// Keeps trying while the server is unreachable. Fails if the server refuses this user, or if the name is
/// taken.
pub fn serve(
    policy: &MemberPolicy,
    starter: &dyn AgentStarter,
    status: &MemberStatus,
    stop: &Arc<AtomicBool>,
    log: impl Fn(&str) + Send + Sync + 'static,
) -> Result<(), FleetError> {
    let log: LogLine = Arc::new(log);
    let Some(connection) = connect(policy, stop, &log)? else { return Ok(()) };
    let name = &policy.access.name;
    let connection = Arc::new(connection);
    let _ = status.connection.set(Arc::downgrade(&connection));
    if let Some(other) = controller::members(&connection, name)?.into_iter().find(|other| other.name == *name)
    {
        return Err(FleetError::Taken { name: name.clone(), host: other.host });
    }
    let orders = connection.subscribe(subject::order(name, "*"))?;
    let roll = connection.subscribe(subject::roll("*"))?;
    let member = Member {
        policy,
        starter,
        status,
        stop,
        log,
        connection,
        instance: drawn(),
        sessions: Mutex::default(),
    };
    let controllers: Vec<&str> = policy.controllers.keys().map(String::as_str).collect();
    (member.log)(&format!("member {name} takes orders from {}", controllers.join(", ")));
    thread::scope(|scope| {
        scope.spawn(|| member.answer_rolls(roll));
        member.obey(scope, orders);
        member.end_all();
    });
    Ok(())
}

fn connect(
    policy: &MemberPolicy,
    stop: &Arc<AtomicBool>,
    log: &LogLine,
) -> Result<Option<Connection>, FleetError> {
    let mut pause = FIRST;
    while !stop.load(Ordering::Relaxed) {
        match Connection::open(&policy.access, stop, log) {
            Ok(connection) => return Ok(Some(connection)),
            Err(error @ (FleetError::Away { .. } | FleetError::Broken { .. })) => {
                log(&format!("{error}; retrying in {} s", pause.as_secs()));
            }
            Err(error) => return Err(error),
        }
        let mut left = pause;
        while !left.is_zero() && !stop.load(Ordering::Relaxed) {
            thread::sleep(GLANCE);
            left = left.saturating_sub(GLANCE);
        }
        pause = FARTHEST.min(pause * 2);
    }
    Ok(None)
}

struct Member<'a> {
    policy: &'a MemberPolicy,
    starter: &'a dyn AgentStarter,
    status: &'a MemberStatus,
    stop: &'a AtomicBool,
    log: LogLine,
    connection: Arc<Connection>,
    instance: String,
    sessions: Mutex<Vec<Arc<Session>>>,
}

struct Begun {
    session: Arc<Session>,
    agent: Box<dyn Agent>,
    reader: StreamReader,
    writer: StreamWriter,
}

impl Member<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn info(&self) -> MemberInfo {
        MemberInfo {
            name: self.policy.access.name.clone(),
            host: sys::uname::hostname(),
            tool: self.policy.tool.clone(),
            messages: VERSION,
            since: self.policy.since,
            devices: devices(),
            address: self.policy.address,
            sessions: self.status.agents.load(Ordering::Relaxed),
            drained: self.status.drained.load(Ordering::Relaxed),
            instance: self.instance.clone(),
        }
    }

    fn next_request(&self, questions: &mut Subscription) -> Option<(Message, String)> {
        while !self.is_stopped() {
            match questions.next(GLANCE) {
                Incoming::Message(message) => {
                    let user = subject::ordering(&message.subject);
                    if subject::is_name(&user) {
                        return Some((message, user));
                    }
                }
                Incoming::Nothing => {}
                Incoming::Ended => return None,
            }
        }
        None
    }

    fn answer_rolls(&self, mut roll: Subscription) {
        while let Some((question, user)) = self.next_request(&mut roll) {
            let id = String::from_utf8(question.payload).unwrap_or_default();
            if subject::is_id(&id) {
                self.answer(&user, &id, &self.info());
            }
        }
    }

    /// Replies on a subject with this member's name, never on the message's reply subject.
    fn answer(&self, user: &str, id: &str, answer: &impl Serialize) {
        let answer = serde_json::to_vec(answer).expect("texts and numbers are JSON");
        let _ = self.connection.publish(&subject::answer(user, &self.policy.access.name, id), &answer);
    }

    fn obey<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, mut orders: Subscription) {
        let mut obeyed = Obeyed::default();
        while let Some((message, controller)) = self.next_request(&mut orders) {
            let Some((signed, address)) = self.addressed(&message.payload) else { continue };
            let id = address.id.clone();
            match self.accept(&controller, &signed, &address, &mut obeyed) {
                Ok(Task::Drain(drain)) => {
                    self.status.drained.store(drain, Ordering::Relaxed);
                    let what = if drain { "drained" } else { "returned to service" };
                    (self.log)(&format!("{what} by {controller}"));
                    self.answer(&controller, &id, &OrderReply::Done);
                }
                Ok(Task::Start(order)) => {
                    self.status.agents.fetch_add(1, Ordering::Relaxed);
                    scope.spawn(move || self.run_session(&controller, &order, &id));
                }
                Err(reason) => {
                    let refused = self.status.refused.fetch_add(1, Ordering::Relaxed);
                    // A hostile server can send any number of orders.
                    if refused < MOST_LINES {
                        (self.log)(&format!("refused {controller}: {reason}"));
                    } else if refused == MOST_LINES {
                        (self.log)("further refused orders are not shown (see `--metrics`)");
                    }
                    self.answer(&controller, &id, &OrderReply::Refused { reason });
                }
            }
        }
    }

    /// Returns `None` for an order to another process with this member's name.
    fn addressed(&self, message: &[u8]) -> Option<(Signed, OrderAddress)> {
        let signed: Signed = serde_json::from_slice(message).ok()?;
        let address: OrderAddress = serde_json::from_str(&signed.order).ok()?;
        (address.instance == self.instance && subject::is_id(&address.id)).then_some((signed, address))
    }

    fn accept(
        &self,
        controller: &str,
        signed: &Signed,
        address: &OrderAddress,
        obeyed: &mut Obeyed,
    ) -> Result<Task, String> {
        if address.messages != VERSION {
            return Err(format!(
                "it uses version {VERSION} of fleet messages, not {}; install the same version of plumb on both hosts",
                address.messages
            ));
        }
        let Some(key) = self.policy.controllers.get(controller) else {
            return Err(format!("`{controller}` is not listed in `controllers` of its policy"));
        };
        let names = [controller, &self.policy.access.name];
        let task = obeyed.check(signed, names, key, order::now())?.task;
        if let Task::Start(order) = &task {
            self.may_start(order)?;
        }
        Ok(task)
    }

    fn may_start(&self, order: &StartOrder) -> Result<(), String> {
        if !subject::is_id(&order.session) || order.run.chars().any(char::is_control) {
            return Err("invalid session or run name in the order".to_owned());
        }
        if self.status.drained.load(Ordering::Relaxed) {
            return Err("it is drained; return it to service with `plumb fleet drain --undo`".to_owned());
        }
        if self.status.agents.load(Ordering::Relaxed) >= MOST {
            return Err(format!("it already runs {MOST} agents"));
        }
        Ok(())
    }

    fn run_session(&self, controller: &str, order: &StartOrder, id: &str) {
        let (what, log) = (format!("agent for {} of {controller}", order.run), &self.log);
        match self.begin(controller, order, id) {
            Ok(Begun { session, mut agent, reader, writer }) => {
                self.status.started.fetch_add(1, Ordering::Relaxed);
                log(&format!("{what}: started"));
                let _open = carry(&mut *agent, &session, reader, writer);
                session.end(&agent.stop());
                self.sessions.lock().retain(|other| !Arc::ptr_eq(other, &session));
                let reason = session.end_reason().filter(|reason| !reason.is_empty());
                log(&format!(
                    "{what}: ended{}",
                    reason.map(|reason| format!(" ({reason})")).unwrap_or_default()
                ));
            }
            Err(reason) => {
                self.status.refused.fetch_add(1, Ordering::Relaxed);
                log(&format!("{what}: not started: {reason}"));
                self.answer(controller, id, &OrderReply::Refused { reason });
            }
        }
        self.status.agents.fetch_sub(1, Ordering::Relaxed);
    }

    fn begin(&self, controller: &str, order: &StartOrder, id: &str) -> Result<Begun, String> {
        let [to, from] = subject::session(&self.policy.access.name, controller, &order.session);
        let key = self.policy.controllers.get(controller).cloned().ok_or("its controller has no key")?;
        let opener = Opener::Verified { key, subject: to.clone(), number: 0 };
        let incoming = self.connection.subscribe(to).map_err(|error| error.to_string())?;
        let agent = self.starter.start()?;
        // The reply must come before the first session message.
        self.answer(controller, id, &OrderReply::Started);
        let (session, reader, writer) =
            Session::begin(&self.connection, incoming, from, (Seal::None, opener))
                .map_err(|error| error.to_string())?;
        let session = Arc::new(session);
        self.sessions.lock().push(Arc::clone(&session));
        if self.is_stopped() {
            // This session may have missed the shutdown of the other sessions.
            self.end_all();
        }
        Ok(Begun { session, agent, reader, writer })
    }

    fn end_all(&self) {
        let sessions = self.sessions.lock().clone();
        for session in &sessions {
            session.abort("the member was stopped");
        }
    }
}

#[must_use]
pub fn address_towards(server: &str) -> Option<IpAddr> {
    let mut places = dial::place(server).ok()?.to_socket_addrs().ok()?;
    places.find_map(source_towards).filter(|address| !address.is_loopback())
}

fn source_towards(place: SocketAddr) -> Option<IpAddr> {
    let socket = UdpSocket::bind(if place.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" }).ok()?;
    socket.connect(place).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

fn devices() -> Vec<String> {
    let table = std::fs::read_to_string(DEVICES).unwrap_or_default();
    let names = table.lines().filter_map(|line| Some(line.split_once(':')?.0.trim().to_owned()));
    names.filter(|name| name != "lo").collect()
}
