//! Exchanges messages through a lab.

use std::{
    net::{IpAddr, SocketAddr},
    sync::{
        atomic::{AtomicBool, AtomicU16, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use workload::Transport;

use super::{
    lab::Lab,
    line::{Line, Listener, PATIENCE},
};

const PORT: u16 = 7000;
const OVERDUE: Duration = Duration::from_millis(250);

#[derive(Debug, Clone, Copy)]
pub(super) struct Play {
    pub(super) transport: Transport,
    pub(super) length: usize,
    pub(super) server: IpAddr,
    pub(super) port: u16,
    pub(super) messages: u32,
    pub(super) every: u32,
    pub(super) token: u64,
    pub(super) lose: Option<u32>,
    pub(super) spin: bool,
    pub(super) background: bool,
}

impl Play {
    /// Every instance has its own port, because short messages have no token and concurrent tests would mix them up.
    pub(super) fn new(transport: Transport, length: usize, server: impl Into<IpAddr>) -> Self {
        static NEXT: AtomicU16 = AtomicU16::new(PORT);
        Self {
            transport,
            length,
            server: server.into(),
            port: NEXT.fetch_add(1, Ordering::Relaxed),
            messages: 1000,
            every: 4,
            token: 0x1234_5678_9abc_def0,
            lose: None,
            spin: false,
            background: false,
        }
    }

    pub(super) fn run(&self, lab: &Lab, ends: [&str; 2]) -> u64 {
        let cpu = if self.spin { [0, 1] } else { [0, 0] };
        thread::scope(|scope| {
            let (ready, is_ready) = mpsc::channel();
            let server = scope.spawn(move || {
                lab.inside(ends[1], || {
                    pin(cpu[1]);
                    let listener = Listener::open(self.transport, self.server, self.port);
                    ready.send(()).expect("the client waits");
                    self.serve(&listener);
                });
            });
            is_ready.recv_timeout(PATIENCE).expect("the server listens");
            let median = lab.inside(ends[0], || {
                pin(cpu[0]);
                self.send()
            });
            server.join().expect("the server returns every message");
            median
        })
    }

    fn serve(&self, listener: &Listener) {
        let mut line = listener.next();
        line.wait(Some(PATIENCE));
        thread::scope(|scope| {
            if self.background {
                let mut stream = listener.next();
                scope.spawn(move || {
                    let mut bytes = vec![0; 1 << 16];
                    while stream.receive(&mut bytes[..1], false) && bytes[0] > 0 {
                        stream.receive(&mut bytes[1..], false);
                    }
                });
            }
            let mut bytes = vec![0; self.length];
            for number in 1..=self.messages {
                if !line.receive(&mut bytes, false) {
                    assert!(self.lose.is_some(), "message {number} did not arrive");
                    break;
                }
                if self.lose.is_none_or(|every| number % every > 0) {
                    line.send(&bytes);
                }
            }
        });
    }

    fn send(&self) -> u64 {
        let server = SocketAddr::from((self.server, self.port));
        let mut line = Line::to(self.transport, server);
        line.wait((!self.spin).then_some(if self.lose.is_some() { OVERDUE } else { PATIENCE }));
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            if self.background {
                let mut stream = Line::to(self.transport, server);
                let over = &over;
                scope.spawn(move || {
                    while !over.load(Ordering::Relaxed) {
                        stream.send(&[1; 1 << 16]);
                    }
                    stream.send(&[0]);
                });
            }
            let median = self.exchange(&mut line);
            over.store(true, Ordering::Relaxed);
            median
        })
    }

    fn exchange(&self, line: &mut Line) -> u64 {
        let mut bytes = vec![0; self.length];
        let mut times = Vec::new();
        for number in 0..self.messages {
            self.write(number, &mut bytes);
            let (sent, message) = (Instant::now(), bytes.clone());
            line.send(&bytes);
            while line.receive(&mut bytes, self.spin) {
                if bytes == message {
                    times.push(sent.elapsed().as_nanos() as u64);
                    break;
                }
            }
        }
        times.sort_unstable();
        times[times.len() / 2]
    }

    fn write(&self, number: u32, bytes: &mut [u8]) {
        let head = [u64::from(number).to_be_bytes(), self.token.to_be_bytes()].concat();
        let from = 8_usize.saturating_sub(bytes.len());
        let fits = bytes.len().min(head.len() - from);
        bytes[..fits].copy_from_slice(&head[from..from + fits]);
    }
}

fn pin(cpu: u32) {
    let _ = sys::affinity::pin_thread(&[cpu]);
}
