//! Programs at either end of a test, with a timeout. A program is killed when its value is dropped.

use std::{
    io::Read,
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU16, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use plumb_tests::{Output, Sandbox, wait_until};

use crate::tables::host;

pub(crate) const PATIENCE: Duration = Duration::from_secs(40);

pub(crate) struct Running {
    name: String,
    child: Child,
    out: Option<CapturedOutput>,
    err: Option<CapturedOutput>,
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Self {
        let name = format!("{command:?}");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{name}: {error}"));
        let out = child.stdout.take().map(CapturedOutput::collect);
        let err = child.stderr.take().map(CapturedOutput::collect);
        Self { name, child, out, err }
    }

    pub(crate) fn finish(mut self) -> Output {
        let begun = Instant::now();
        let status = loop {
            match self.child.try_wait().expect("it was started") {
                Some(status) => break status,
                None if begun.elapsed() > PATIENCE => {
                    let _ = self.child.kill();
                    let (out, err) = (self.printed(true), self.printed(false));
                    panic!("{} did not end in {PATIENCE:?}: {out}{err}", self.name);
                }
                None => thread::sleep(Duration::from_millis(5)),
            }
        };
        Output { status: status.code(), out: self.printed(true), err: self.printed(false) }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", signal, &pid]).status().expect("kill starts");
        assert!(sent.success(), "{}", self.name);
    }

    pub(crate) fn await_word(&self, word: &str) {
        let printed =
            || [&self.out, &self.err].into_iter().flatten().map(CapturedOutput::so_far).collect::<String>();
        assert!(
            wait_until(PATIENCE, || printed().contains(word)),
            "{}: no `{word}` in: {}",
            self.name,
            printed()
        );
    }

    fn printed(&mut self, out: bool) -> String {
        let reader = if out { self.out.take() } else { self.err.take() };
        reader.map(CapturedOutput::all).unwrap_or_default()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct CapturedOutput {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl CapturedOutput {
    fn collect(mut from: impl Read + Send + 'static) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&bytes);
        let reader = thread::spawn(move || {
            let mut some = [0; 4096];
            while let Ok(count @ 1..) = from.read(&mut some) {
                kept.lock().unwrap_or_else(PoisonError::into_inner).extend(&some[..count]);
            }
        });
        Self { bytes, reader }
    }

    fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }

    fn all(self) -> String {
        let Self { bytes, reader } = self;
        reader.join().expect("it only reads");
        let bytes = bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Returns a port below the kernel's ephemeral ports (net.ipv4.ip_local_port_range). All such ports are free in
/// the private network.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    10_000 + NEXT.fetch_add(1, Ordering::Relaxed) % 20_000
}

/// Waits without connecting, because a server for a single client would count the connection.
pub(crate) fn await_listener(port: u16) {
    let suffix = format!(":{port:04X}");
    let listens = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        // See proc_net_tcp.rst: local address, remote address, and state, where 0A is LISTEN.
        words.next().is_some_and(|local| local.ends_with(&suffix)) && words.nth(1) == Some("0A")
    };
    let there = || ["tcp", "tcp6"].iter().any(|table| of_network(table).lines().any(listens));
    assert!(wait_until(PATIENCE, there), "no listener on port {port}");
}

pub(crate) fn await_capture() {
    assert!(wait_until(PATIENCE, || of_network("packet").lines().count() > 1), "no packet capture");
}

pub(crate) fn of_network(file: &str) -> String {
    std::fs::read_to_string(format!("/proc/thread-self/net/{file}")).unwrap_or_default()
}

pub(crate) fn dropped_by_full_buffers() -> i64 {
    let table = of_network("snmp");
    let mut rows = table.lines().filter_map(|line| line.strip_prefix("Udp: ")).map(str::split_whitespace);
    let (names, values) = (rows.next().expect("names"), rows.next().expect("values"));
    let found = names.zip(values).find(|(name, _)| *name == "RcvbufErrors");
    let ipv4: i64 = found.and_then(|(_, value)| value.parse().ok()).expect("RcvbufErrors is counted");
    let table = of_network("snmp6");
    let ipv6 = table.lines().find_map(|line| line.strip_prefix("Udp6RcvbufErrors"));
    ipv4 + ipv6.map_or(0, |value| value.trim().parse().expect("a count"))
}

pub(crate) fn iperf3(words: &[&str]) -> Command {
    let mut command = Command::new("iperf3");
    command.args(words);
    command
}

pub(crate) fn client_of(sandbox: &Sandbox, client: &str, port: u16) -> Running {
    let words: Vec<_> = client.split_whitespace().collect();
    let (place, port) = (host(client), port.to_string());
    let command = match words[0] {
        flag if flag.starts_with('-') => iperf3(&[&["-c", place, "-p", &port], &words[..]].concat()),
        "sockperf" => {
            let mut command = Command::new("sockperf");
            command.args(&words[1..]).args(["-i", place, "-p", &port]);
            command
        }
        command => sandbox.command(&[&[command, place, "-p", &port], &words[1..]].concat()),
    };
    Running::start(command)
}
