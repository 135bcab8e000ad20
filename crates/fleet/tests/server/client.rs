//! A NATS server with the users of a fleet, and raw clients.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Command, Stdio},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use fleet::{NKey, Role, User, users};
use plumb_tests::{PATIENCE, ProcessGuard, wait_until};

pub(crate) const MEMBERS: [&str; 2] = ["a", "b.pod"];
pub(crate) const CONTROLLERS: [&str; 2] = ["ops", "guest"];

pub(crate) struct Server {
    _process: ProcessGuard,
    _folder: tempfile::TempDir,
    pub(crate) port: u16,
    keys: Vec<(&'static str, NKey)>,
}

impl Server {
    pub(crate) fn of_a_fleet() -> Self {
        let roles = MEMBERS.map(|name| (name, Role::Member)).into_iter();
        let roles = roles.chain(CONTROLLERS.map(|name| (name, Role::Controller)));
        let keys = || NKey::generate();
        let (keys, all): (Vec<_>, Vec<_>) = roles
            .map(|(name, role)| {
                let key = keys();
                let user = User { name: name.to_owned(), role, key: key.public() };
                ((name, key), user)
            })
            .unzip();
        Self::start(keys, &users(&all))
    }

    pub(crate) fn of_everyone() -> Self {
        let users = MEMBERS.into_iter().chain(CONTROLLERS);
        Self::start(users.map(|name| (name, NKey::generate())).collect(), "")
    }

    fn start(keys: Vec<(&'static str, NKey)>, config: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let file = folder.path().join("nats.conf");
        fs::write(&file, config).expect("writable");
        let port =
            TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port is free").port();
        let log = File::create(folder.path().join("log")).expect("writable");
        let mut command = Command::new("nats-server");
        command.arg("-c").arg(&file).args(["-a", "127.0.0.1", "-p", &port.to_string()]);
        let process = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn();
        let process = ProcessGuard(process.expect("it is installed"));
        let listens = || TcpStream::connect(("127.0.0.1", port)).is_ok();
        assert!(wait_until(PATIENCE, listens), "{:?}", fs::read_to_string(folder.path().join("log")));
        Self { _process: process, _folder: folder, port, keys }
    }

    pub(crate) fn address(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub(crate) fn key(&self, user: &str) -> NKey {
        let (_, key) = self.keys.iter().find(|(name, _)| *name == user).expect("it is a user");
        NKey::read(&key.seed()).expect("it was a seed")
    }

    pub(crate) fn client(&self, user: &str) -> Client {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("it is not zero");
        stream.set_nodelay(true).expect("it is TCP");
        let mut client = Client { stream: BufReader::new(stream), errors: Vec::new(), messages: Vec::new() };
        let info: serde_json::Value =
            serde_json::from_str(client.line().strip_prefix("INFO ").expect("INFO")).expect("JSON");
        let key = self.key(user);
        let nonce = info["nonce"].as_str().unwrap_or_default();
        let signature = URL_SAFE_NO_PAD.encode(key.sign(nonce.as_bytes()));
        let (key, login) = (key.public(), !nonce.is_empty());
        let credentials =
            if login { format!(",\"nkey\":\"{key}\",\"sig\":\"{signature}\"") } else { String::new() };
        client.send(&format!(
            "CONNECT {{\"verbose\":false,\"headers\":true,\"no_responders\":true{credentials}}}\r\n"
        ));
        client.settle();
        assert!(client.errors.is_empty(), "{user}: {:?}", client.errors);
        client
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) subject: String,
    pub(crate) payload: Vec<u8>,
}

pub(crate) struct Client {
    stream: BufReader<TcpStream>,
    errors: Vec<String>,
    pub(crate) messages: Vec<Received>,
}

impl Client {
    fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.stream.read_line(&mut line).expect("the server replies") > 0, "the server hung up");
        line.trim_end().to_owned()
    }

    fn send(&mut self, text: &str) {
        self.stream.get_mut().write_all(text.as_bytes()).expect("the server listens");
    }

    pub(crate) fn publish(&mut self, subject: &str, reply: &str, payload: &[u8]) -> bool {
        let head = format!("PUB {subject} {reply} {}\r\n", payload.len());
        let message = [head.as_bytes(), payload, b"\r\n"].concat();
        self.stream.get_mut().write_all(&message).expect("the server listens");
        self.settle();
        self.errors.drain(..).count() == 0
    }

    pub(crate) fn subscribe(&mut self, subject: &str, sid: usize) -> bool {
        self.send(&format!("SUB {subject} {sid}\r\n"));
        self.settle();
        self.errors.drain(..).count() == 0
    }

    pub(crate) fn unsubscribe(&mut self, sid: usize) {
        self.send(&format!("UNSUB {sid}\r\n"));
    }

    pub(crate) fn settle(&mut self) {
        self.send("PING\r\n");
        loop {
            let line = self.line();
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["PONG"] => return,
                ["PING"] => self.send("PONG\r\n"),
                ["-ERR", ..] => self.errors.push(line),
                ["MSG" | "HMSG", subject, .., length] => {
                    let length: usize = length.parse().expect("a length");
                    let mut payload = vec![0; length + 2];
                    self.stream.read_exact(&mut payload).expect("the server sends it");
                    payload.truncate(length);
                    self.messages.push(Received { subject: subject.to_owned(), payload });
                }
                _ => {}
            }
        }
    }
}
