//! A client that makes connections for one request each: a few threads serve them as long as it stands.

use std::{
    io::Read,
    net::TcpStream,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError},
    },
    thread,
};

use samples::{ConnectData, ThreadCpu, ThreadRole};
use sys::clock::monotonic;
use units::Nanos;

use super::config::Config;
use crate::{
    connect,
    crew::Spent,
    dial,
    ends::Outcome,
    error::{Error, Result},
    handshake::Handshake,
    socket::{TICK, is_wait, limit_waits},
    stop::Stop,
};

/// Threads that serve connections.
const THREADS: usize = 4;
/// How long one request and its answer may take.
const REQUEST: Nanos = Nanos::from_secs(2);

/// Lets the client begin and serves its connections until it closes the one that stands for all.
pub(super) fn serve(
    control: &TcpStream,
    arriving: Receiver<(TcpStream, Handshake)>,
    config: &Config,
    stop: &Stop,
) -> Result<Outcome> {
    let name =
        control.peer_addr().map_or_else(|_| "a client".into(), |peer| format!("connections of {peer}"));
    limit_waits(control, TICK)?;
    let work =
        Work { arriving: Mutex::new(arriving), over: AtomicBool::new(false), heard: AtomicU64::new(0) };
    work.heard.store(monotonic(), Ordering::Relaxed);
    let (ended, threads) = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(|| work.run(stop))).collect();
        let ended =
            dial::give_go(control, &name).and_then(|()| await_end(control, &work, config, stop, &name));
        work.over.store(true, Ordering::Relaxed);
        let threads: Vec<_> = threads.into_iter().filter_map(|thread| thread.join().ok()).collect();
        (ended, threads)
    });
    ended.map(|()| Outcome { threads, connect: Some(ConnectData::default()), ..Outcome::default() })
}

/// What the threads share.
struct Work {
    arriving: Mutex<Receiver<(TcpStream, Handshake)>>,
    over: AtomicBool,
    /// When a connection came last.
    heard: AtomicU64,
}

impl Work {
    fn run(&self, stop: &Stop) -> ThreadCpu {
        let spent = Spent::from_now();
        while !self.over.load(Ordering::Relaxed) && !stop.is_asked() {
            let next = self.arriving.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(TICK);
            match next {
                Ok((socket, said)) => {
                    self.heard.store(monotonic(), Ordering::Relaxed);
                    // One that fails is counted by the client.
                    let _ = connect::serve(&socket, said, stop, REQUEST);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        spent.until_now("server", ThreadRole::Pong)
    }
}

fn await_end(mut control: &TcpStream, work: &Work, config: &Config, stop: &Stop, name: &str) -> Result<()> {
    let (begun, patience) = (monotonic(), config.patience());
    loop {
        match control.read(&mut [0; 16]) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if is_wait(&error) => {}
            Err(error) => return Err(Error::socket("await the end of", || name)(error)),
        }
        if stop.is_asked() {
            return Err(Error::Stopped);
        }
        let now = monotonic();
        if now - begun > config.limits.duration.0 {
            return Err(Error::Limit("duration"));
        }
        if now.saturating_sub(work.heard.load(Ordering::Relaxed)) > patience.0 {
            let missing = "a connection".into();
            return Err(Error::Silent { object: name.to_owned(), missing, waited: patience });
        }
    }
}
