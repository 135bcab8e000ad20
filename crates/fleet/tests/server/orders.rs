//! Tests in which a server attacks its members. The server enforces no permissions, so any client can do what a hostile
//! server could do.

use std::{
    collections::BTreeMap,
    io::{Read, Write},
    os::unix::net::UnixStream,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use fleet::{
    Agent, AgentStarter, Controller, MemberPolicy, MemberStatus, NKey, PublicKey, ServerAccess, serve,
};
use plumb_tests::{PATIENCE, wait_until};

use crate::client::{Client, MEMBERS, Received, Server};

#[derive(Default)]
struct Agents {
    started: Mutex<Vec<UnixStream>>,
}

struct Echo(UnixStream);

impl AgentStarter for Agents {
    fn start(&self) -> Result<Box<dyn Agent>, String> {
        let (ours, theirs) = UnixStream::pair().map_err(|error| error.to_string())?;
        self.started.lock().unwrap_or_else(PoisonError::into_inner).push(ours);
        Ok(Box::new(Echo(theirs)))
    }
}

impl Agent for Echo {
    fn streams(&mut self) -> (Box<dyn Read + Send>, Box<dyn Write + Send>) {
        let copy = || Box::new(self.0.try_clone().expect("it is open"));
        (copy(), copy())
    }

    fn stop(&mut self) -> String {
        let _ = self.0.shutdown(std::net::Shutdown::Both);
        String::new()
    }
}

struct Member {
    status: Arc<MemberStatus>,
    agents: Arc<Agents>,
    log: Arc<Mutex<Vec<String>>>,
    stop: Arc<AtomicBool>,
}

fn access(server: &Server, name: &str, key: Option<NKey>) -> Arc<ServerAccess> {
    Arc::new(ServerAccess { server: server.address(), name: name.to_owned(), key, ca: None })
}

impl Member {
    fn start(server: &Server, name: &str) -> Self {
        let member = Self {
            status: Arc::default(),
            agents: Arc::default(),
            log: Arc::default(),
            stop: Arc::default(),
        };
        let public = |name: &str| PublicKey::read(&server.key(name).public()).expect("a public key");
        let controllers: BTreeMap<String, PublicKey> =
            ["ops", "guest"].map(|name| (name.to_owned(), public(name))).into();
        let access = access(server, name, Some(server.key(name)));
        let policy = MemberPolicy { access, controllers, address: None, tool: "test".to_owned(), since: 0 };
        let (status, agents) = (Arc::clone(&member.status), Arc::clone(&member.agents));
        let (log, stop) = (Arc::clone(&member.log), Arc::clone(&member.stop));
        thread::spawn(move || {
            let lines = Arc::clone(&log);
            let add = move |line: &str| lines.lock().expect("no panic").push(line.to_owned());
            serve(&policy, &*agents, &status, &stop, add).expect("it is a member");
        });
        assert!(wait_until(PATIENCE, || member.has_logged("takes orders")), "{:?}", member.log);
        member
    }

    fn has_logged(&self, text: &str) -> bool {
        self.log.lock().expect("no panic").iter().any(|line| line.contains(text))
    }

    fn started(&self) -> usize {
        self.agents.started.lock().expect("no panic").len()
    }

    fn refused(&self) -> u64 {
        self.status.refused.load(Ordering::Relaxed)
    }

    #[track_caller]
    fn refuses(&self, before: u64, reason: &str) {
        assert!(wait_until(PATIENCE, || self.refused() > before), "not refused: {reason}; {:?}", self.log);
        assert!(self.has_logged(reason), "{reason} in {:?}", self.log);
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn controller(server: &Server, name: &str) -> Controller {
    Controller::open(&access(server, name, Some(server.key(name))), &Arc::default(), |_| ())
        .expect("it listens")
}

fn captured(client: &mut Client, begin: &str, count: usize) -> Vec<Received> {
    for _ in 0..500 {
        client.settle();
        let found =
            client.messages.iter().filter(|it| it.subject.starts_with(begin)).cloned().collect::<Vec<_>>();
        if found.len() >= count {
            return found;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("fewer than {count} messages to {begin}: {:?}", client.messages);
}

pub(crate) fn forged_and_repeated() {
    let server = Server::of_everyone();
    let members = MEMBERS.map(|name| Member::start(&server, name));
    let [a, b] = &members;
    let mut attacker = server.client("b.pod");
    assert!(attacker.subscribe("plumb.>", 1));
    let (ops, guest) = (controller(&server, "ops"), controller(&server, "guest"));
    ops.drain("a", true).expect("it replies");
    ops.drain("a", false).expect("it replies");
    guest.drain("b.pod", false).expect("it replies");
    let orders = captured(&mut attacker, "plumb.order.", 3);
    let [drain, _, of_guest] = &orders[..] else { panic!("{orders:?}") };

    let before = a.refused();
    let _ = attacker.publish("plumb.order.a.ops", "", &drain.payload);
    a.refuses(before, "already received");
    let before = a.refused();
    let _ = attacker.publish("plumb.order.a.guest", "", &drain.payload);
    a.refuses(before, "not signed with the key of `guest`");
    let before = a.refused();
    let _ = attacker.publish("plumb.order.a.b~pod", "", &drain.payload);
    a.refuses(before, "`b.pod` is not listed in `controllers`");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("JSON");
    let order: serde_json::Value = serde_json::from_slice(&drain.payload).expect("JSON");
    let inner: serde_json::Value =
        serde_json::from_str(order["order"].as_str().expect("a text")).expect("JSON");
    let instance = inner["instance"].clone();
    for (key, value) in [
        ("id", serde_json::json!("0123")),
        ("expires", serde_json::json!(i64::MAX)),
        ("controller", serde_json::json!("guest")),
        ("member", serde_json::json!("b.pod")),
        ("task", serde_json::json!({"start": {"session": "0f", "run": "x"}})),
    ] {
        let mut changed = inner.clone();
        changed[key] = value;
        let mut forged = order.clone();
        forged["order"] = changed.to_string().into();
        let before = a.refused();
        let _ = attacker.publish("plumb.order.a.ops", "", forged.to_string().as_bytes());
        a.refuses(before, "not signed with the key of `ops`");
    }
    let mut unsigned = inner.clone();
    unsigned["instance"] = instance;
    for payload in [text(&of_guest.payload), unsigned.to_string(), "{}".to_owned(), String::new()] {
        let _ = attacker.publish("plumb.order.a.guest", "", payload.as_bytes());
        let _ = attacker.publish("plumb.order.a.ops", "", payload.as_bytes());
    }
    // Members handle orders one at a time, so this reply shows that they have handled all forged orders.
    ops.drain("a", false).expect("it replies");
    assert!(!a.status.drained.load(Ordering::Relaxed) && !b.status.drained.load(Ordering::Relaxed));
    assert_eq!((a.started(), b.started()), (0, 0));
}

pub(crate) fn sessions() {
    let server = Server::of_everyone();
    let member = Member::start(&server, "a");
    let mut attacker = server.client("guest");
    assert!(attacker.subscribe("plumb.>", 1));
    let ops = controller(&server, "ops");
    let input = |number: usize| {
        let agents = member.agents.started.lock().expect("no panic");
        agents[number].try_clone().expect("it is open")
    };
    let (session, _, mut writer) = ops.start("a", "run").expect("it starts an agent");
    writer.write_all(b"orders").expect("the session is open");
    let mut bytes = [0; 6];
    input(0).read_exact(&mut bytes).expect("they come");
    assert_eq!(&bytes, b"orders");
    let start = captured(&mut attacker, "plumb.order.a.ops", 1).remove(0);
    let frame = captured(&mut attacker, "plumb.session.a.ops.", 1).remove(0);
    let before = member.refused();
    let _ = attacker.publish("plumb.order.a.ops", "", &start.payload);
    member.refuses(before, "already received");
    assert_eq!(member.started(), 1);
    drop((session, writer));
    // Each forged message ends its session without reaching the agent.
    let forged = |frame: &[u8]| {
        let mut changed = frame.to_vec();
        changed[30] ^= 1;
        [changed, frame.to_vec(), [&[0; 17][..], b"evil"].concat(), Vec::new()]
    };
    for (number, payload) in forged(&frame.payload).into_iter().enumerate() {
        let (_session, _reader, _writer) = ops.start("a", "run").expect("it starts an agent");
        let subject = |it: &Received| it.subject.starts_with("plumb.order.a.ops");
        attacker.settle();
        let order = attacker.messages.iter().rfind(|it| subject(it)).expect("it was sent").clone();
        let outer: serde_json::Value = serde_json::from_slice(&order.payload).expect("JSON");
        let inner: serde_json::Value =
            serde_json::from_str(outer["order"].as_str().expect("a text")).expect("JSON");
        let session = inner["task"]["start"]["session"].as_str().expect("a text");
        let _ = attacker.publish(&format!("plumb.session.a.ops.{session}.to"), "", &payload);
        let mut received = Vec::new();
        input(number + 1).read_to_end(&mut received).expect("it ends");
        assert!(received.is_empty(), "{received:?}");
        assert!(wait_until(PATIENCE, || member.has_logged("did not sign")), "{:?}", member.log);
    }
}

pub(crate) fn names_of_others() {
    let server = Server::of_everyone();
    let _member = Member::start(&server, "a");
    let ops = controller(&server, "ops");
    let members = || {
        let mut attacker = server.client("b.pod");
        assert!(attacker.subscribe("plumb.>", 1));
        thread::scope(|scope| {
            let members = scope.spawn(|| ops.members().expect("the server runs"));
            answer_for_others(&mut attacker);
            members.join().expect("no panic")
        })
    };
    let complete =
        (0..20).map(|_| members()).find(|members| members.len() > 1).expect("replies arrive in time");
    let named = complete.iter().map(|member| (&*member.name, &*member.host)).collect::<Vec<_>>();
    assert_eq!(named[1], ("b.pod", "honest"));
    assert!(named.len() == 2 && named[0].0 == "a" && named[0].1 != "elsewhere", "{named:?}");
}

fn answer_for_others(attacker: &mut Client) {
    let answer = captured(attacker, "plumb.answer.ops.a.", 1).remove(0);
    let id = answer.subject.rsplit('.').next().expect("it has parts").to_owned();
    let named = |name: &str, host: &str| {
        let mut info: serde_json::Value = serde_json::from_slice(&answer.payload).expect("JSON");
        (info["name"], info["host"]) = (name.into(), host.into());
        info.to_string()
    };
    for (from, info) in [
        ("b~pod", named("a", "elsewhere")),
        ("b~pod", named("b.pod", "\u{1b}[2J")),
        ("a", "{}".to_owned()),
        ("b~pod", named("b.pod", "honest")),
    ] {
        let _ = attacker.publish(&format!("plumb.answer.ops.{from}.{id}"), "", info.as_bytes());
    }
}
