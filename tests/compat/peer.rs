//! Programs at either end of a test: started, awaited within a bound, ended whatever happens.

use std::{
    io::Read,
    net::{Ipv6Addr, TcpListener, UdpSocket},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use plumb_tests::{Output, wait_until};

/// No test takes longer than this.
const PATIENCE: Duration = Duration::from_secs(20);

/// A program that runs. It goes when this is dropped.
pub(crate) struct Running {
    name: String,
    child: Child,
    out: Option<JoinHandle<String>>,
    err: Option<JoinHandle<String>>,
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Self {
        let name = format!("{command:?}");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{name}: {error}"));
        let out = child.stdout.take().map(collect);
        let err = child.stderr.take().map(collect);
        Self { name, child, out, err }
    }

    /// Waits for its end.
    pub(crate) fn finish(mut self) -> Output {
        let begun = Instant::now();
        let status = loop {
            match self.child.try_wait().expect("it was started") {
                Some(status) => break status,
                None if begun.elapsed() > PATIENCE => {
                    let _ = self.child.kill();
                    let (out, err) = (self.said(true), self.said(false));
                    panic!("{} did not end in {PATIENCE:?}: {out}{err}", self.name);
                }
                None => thread::sleep(Duration::from_millis(5)),
            }
        };
        Output { status: status.code(), out: self.said(true), err: self.said(false) }
    }

    /// Sends a signal by its name.
    pub(crate) fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", signal, &pid]).status().expect("kill is there");
        assert!(sent.success(), "{}", self.name);
    }

    fn said(&mut self, out: bool) -> String {
        let reader = if out { self.out.take() } else { self.err.take() };
        reader.map(|reader| reader.join().expect("it only reads")).unwrap_or_default()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn collect(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// A port that was free a moment ago, for TCP and UDP, and that no connection is given by the kernel: the ports
/// below 32768 are not (net.ipv4.ip_local_port_range).
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let free = |port: &u16| {
        let tcp = TcpListener::bind((Ipv6Addr::UNSPECIFIED, *port));
        tcp.is_ok() && UdpSocket::bind((Ipv6Addr::UNSPECIFIED, *port)).is_ok()
    };
    let first = std::process::id().wrapping_mul(61);
    let next = |_| (10_000 + first.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % 20_000) as u16;
    (0..1000).map(next).find(free).expect("one of a thousand ports is free")
}

/// Waits until somebody listens on a TCP port: a server of one client cannot be asked.
pub(crate) fn await_listener(port: u16) {
    let suffix = format!(":{port:04X}");
    let listens = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        // proc_net_tcp.rst: the local address, the remote one, the state; 0A is LISTEN.
        words.next().is_some_and(|local| local.ends_with(&suffix)) && words.nth(1) == Some("0A")
    };
    let there = || {
        ["/proc/net/tcp", "/proc/net/tcp6"]
            .iter()
            .any(|table| std::fs::read_to_string(table).unwrap_or_default().lines().any(listens))
    };
    assert!(wait_until(PATIENCE, there), "nobody listens on port {port}");
}

/// iperf3 with these words, not yet started.
pub(crate) fn iperf3(words: &[&str]) -> Command {
    let mut command = Command::new("iperf3");
    command.args(words);
    command
}

/// Does something with each of many, a few at a time, and names all that failed.
pub(crate) fn each<T: Sync>(cases: &[T], name: impl Fn(&T) -> String + Sync, check: impl Fn(&T) + Sync) {
    const AT_ONCE: usize = 6;
    let next = std::sync::atomic::AtomicUsize::new(0);
    let failed = std::sync::Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    let tried = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(case)));
                    if tried.is_err() {
                        failed.lock().expect("no panic while held").push(name(case));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("no panic while held");
    assert!(failed.is_empty(), "{} of {} failed: {failed:#?}", failed.len(), cases.len());
}
