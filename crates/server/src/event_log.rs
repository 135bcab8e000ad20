//! The server's log. A separate thread writes it, so that a slow reader cannot block clients. Lines that do not fit
//! into the bounded queue are dropped and counted.

use std::{
    io,
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel},
    },
    thread,
    time::Duration,
};

use parking_lot::Mutex;
use sys::clock::monotonic;

use super::{
    ledger::{Rate, Rates},
    line_limiter::LineLimiter,
};

const LINES: usize = 4096;
/// The size of the queue. A test with many connections produces megabytes of JSON.
const BYTES: usize = 64 << 20;
/// The limit on JSON output per client address. A typical test produces 5 kB.
const OF_ONE: Rate = Rate { per_second: 64 << 10, burst: 16 << 20 };
const OF_ALL: Rate = Rate { per_second: 256 << 10, burst: 64 << 20 };
const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogTarget {
    Stdout,
    Stderr,
}

pub struct EventLog {
    lines: Option<SyncSender<(LogTarget, String)>>,
    state: Arc<State>,
    over: Mutex<Receiver<()>>,
    started: u64,
    limiter: Mutex<LineLimiter>,
    documents: Mutex<Rates>,
}

#[derive(Default)]
struct State {
    bytes: AtomicUsize,
    written: AtomicU64,
    dropped: AtomicU64,
}

impl EventLog {
    pub fn start(write: impl FnMut(LogTarget, &str) + Send + 'static) -> io::Result<Self> {
        let (lines, coming) = sync_channel(LINES);
        let (done, over) = channel();
        let state = Arc::new(State::default());
        let own = Arc::clone(&state);
        thread::Builder::new().name("log".into()).spawn(move || {
            write_all(&coming, &own, write);
            let _ = done.send(());
        })?;
        Ok(Self {
            lines: Some(lines),
            state,
            over: Mutex::new(over),
            started: monotonic(),
            limiter: Mutex::default(),
            documents: Mutex::new(Rates::new(OF_ONE, OF_ALL)),
        })
    }

    pub fn write_some(&self, to: LogTarget, line: String) {
        let now = Duration::from_nanos(monotonic() - self.started);
        let allowed = self.limiter.lock().allows(now);
        if allowed { self.write(to, line) } else { self.miss() }
    }

    /// Writes a JSON document, or skips and counts it if the client's address has exceeded its limit.
    pub fn write_document(&self, peer: IpAddr, document: String) {
        let length = document.len() as u64 + 1;
        let mut documents = self.documents.lock();
        let allowed = documents.spend(peer.into(), length, monotonic());
        drop(documents);
        if allowed { self.write(LogTarget::Stdout, document) } else { self.miss() }
    }

    pub fn write(&self, to: LogTarget, line: String) {
        let length = line.len();
        let room = self.state.bytes.fetch_add(length, Ordering::Relaxed) + length <= BYTES;
        let taken = room && self.lines.as_ref().is_some_and(|lines| lines.try_send((to, line)).is_ok());
        if !taken {
            self.state.bytes.fetch_sub(length, Ordering::Relaxed);
            self.miss();
        }
    }

    fn miss(&self) {
        self.state.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for EventLog {
    fn drop(&mut self) {
        self.lines = None;
        let mut written = self.state.written.load(Ordering::Relaxed);
        let over = self.over.get_mut();
        while let Err(RecvTimeoutError::Timeout) = over.recv_timeout(PATIENCE) {
            let now = self.state.written.load(Ordering::Relaxed);
            if now == written {
                return;
            }
            written = now;
        }
    }
}

fn write_all(coming: &Receiver<(LogTarget, String)>, state: &State, mut write: impl FnMut(LogTarget, &str)) {
    while let Ok((to, line)) = coming.recv() {
        write(to, &line);
        state.bytes.fetch_sub(line.len(), Ordering::Relaxed);
        state.written.fetch_add(1, Ordering::Relaxed);
        report_dropped(state, &mut write);
    }
    report_dropped(state, &mut write);
}

fn report_dropped(state: &State, write: &mut impl FnMut(LogTarget, &str)) {
    let dropped = state.dropped.swap(0, Ordering::Relaxed);
    if dropped > 0 {
        write(LogTarget::Stderr, &format!("{dropped} events not shown"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    type Lines = Arc<Mutex<Vec<String>>>;

    fn stopped() -> (EventLog, SyncSender<()>, Lines) {
        let (go, wait) = sync_channel::<()>(1);
        let lines = Lines::default();
        let written = Arc::clone(&lines);
        let log = EventLog::start(move |_, line| {
            let _ = wait.recv();
            written.lock().push(line.to_owned());
        });
        (log.expect("a thread"), go, lines)
    }

    fn written(lines: &Lines) -> Vec<String> {
        lines.lock().clone()
    }

    #[test]
    fn stalled_reader_blocks_no_client_and_dropped_lines_are_counted() {
        let (log, go, lines) = stopped();
        for number in 0..LINES + 1000 {
            log.write(LogTarget::Stdout, number.to_string());
        }
        drop(go);
        drop(log);
        let lines = written(&lines);
        let number = |line: &String| line.parse::<usize>().ok();
        let shown = lines.iter().filter_map(number).count();
        let missed: usize = lines
            .iter()
            .filter_map(|line| line.strip_suffix(" events not shown")?.parse::<usize>().ok())
            .sum();
        assert!((LINES..=LINES + 1).contains(&shown), "{shown}");
        assert_eq!(shown + missed, LINES + 1000);
    }

    #[test]
    fn limits_documents_per_address() {
        let (log, go, lines) = stopped();
        let addresses =
            ["2001:db8::1", "2001:db8::2", "198.18.0.1"].map(|text| text.parse().expect("an address"));
        for number in 0..40 {
            log.write_document(addresses[number % 2], "x".repeat(1 << 20));
        }
        log.write_document(addresses[2], "another's".into());
        drop(go);
        drop(log);
        let lines = written(&lines);
        let long = lines.iter().filter(|line| line.len() == 1 << 20).count();
        assert!((15..=16).contains(&long), "{long} of 40 MiB");
        assert!(lines.contains(&"another's".into()));
        let missed: usize = lines
            .iter()
            .filter_map(|line| line.strip_suffix(" events not shown")?.parse::<usize>().ok())
            .sum();
        assert_eq!(missed, 40 - long);
    }

    #[test]
    fn limits_queued_bytes() {
        let (log, go, lines) = stopped();
        for _ in 0..70 {
            log.write(LogTarget::Stdout, "x".repeat(1 << 20));
        }
        log.write(LogTarget::Stdout, "short".into());
        drop(go);
        drop(log);
        let lines = written(&lines);
        assert_eq!(lines.iter().filter(|line| line.len() == 1 << 20).count(), 64);
        assert!(lines.contains(&"6 events not shown".into()) || lines.contains(&"7 events not shown".into()));
    }

    #[test]
    fn server_exits_despite_stalled_reader() {
        let (log, go, lines) = stopped();
        log.write(LogTarget::Stdout, "unread".into());
        drop(log);
        assert!(written(&lines).is_empty());
        drop(go);
    }
}
