//! Uses a few threads to serve a client that opens a new connection for every request.

use std::{
    io::Read,
    net::TcpStream,
    sync::{
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError},
    },
    thread,
};

use codecs::sockperf::Counts;
use parking_lot::Mutex;
use samples::{ThreadCpu, ThreadRole};
use sys::clock::monotonic;
use traffic::{
    Error, Outcome, Result, Stop,
    bounds::{Bounds, EndReason, Guard},
    connect, dial,
    handshake::Handshake,
    socket::{TICK, is_wait, limit_waits},
    workers::CpuMeter,
};
use units::Nanos;
use workload::ConnectEnd;

const THREADS: usize = 4;
const REQUEST: Nanos = Nanos::from_secs(2);

/// Serves requests until the client closes the control connection or exceeds `bounds`.
pub(super) fn serve(
    control: &TcpStream,
    arriving: Receiver<(TcpStream, Handshake)>,
    bounds: Bounds,
    stop: &Stop,
) -> Result<Outcome<ConnectEnd>> {
    let name =
        control.peer_addr().map_or_else(|_| "a client".into(), |peer| format!("connections of {peer}"));
    limit_waits(control, TICK)?;
    let work = Work {
        arriving: Mutex::new(arriving),
        over: AtomicBool::new(false),
        connections: AtomicU64::new(0),
        carried: AtomicU64::new(0),
    };
    let (ended, threads) = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(|| work.run(stop))).collect();
        let ended = dial::give_go(control, &name)
            .and_then(|()| await_end(control, &work, bounds, stop, &name))
            .inspect_err(|error| dial::refuse(control, error.refusal()));
        work.over.store(true, Ordering::Relaxed);
        let threads: Vec<_> = threads.into_iter().filter_map(|thread| thread.join().ok()).collect();
        (ended, threads)
    });
    ended.map(|()| Outcome { measured: ConnectEnd::Server, threads })
}

struct Work {
    arriving: Mutex<Receiver<(TcpStream, Handshake)>>,
    over: AtomicBool,
    connections: AtomicU64,
    carried: AtomicU64,
}

impl Work {
    fn run(&self, stop: &Stop) -> ThreadCpu {
        let spent = CpuMeter::from_now();
        let goes_on = || !self.over.load(Ordering::Relaxed) && !stop.is_asked();
        while goes_on() {
            let next = self.arriving.lock().recv_timeout(TICK);
            match next {
                Ok((socket, handshake)) => {
                    self.connections.fetch_add(1, Ordering::Relaxed);
                    // Ignores errors, because the client counts failed requests.
                    let _ = connect::serve(&socket, handshake, REQUEST, &self.carried, goes_on);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        spent.until_now("server", ThreadRole::Pong)
    }

    fn counts(&self) -> Counts {
        let received = self.connections.load(Ordering::Relaxed);
        Counts { received, answered: received, bytes: self.carried.load(Ordering::Relaxed) }
    }
}

fn await_end(mut control: &TcpStream, work: &Work, bounds: Bounds, stop: &Stop, name: &str) -> Result<()> {
    let mut guard = Guard::new(bounds, stop, monotonic());
    loop {
        match control.read(&mut [0; 16]) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if is_wait(&error) => {}
            Err(error) => return Err(Error::socket("await the end of", || name)(error)),
        }
        match guard.look(work.counts(), monotonic())? {
            None => {}
            Some(EndReason::Limit(limit)) => return Err(Error::Limit(limit)),
            Some(EndReason::Left | EndReason::Silent) => {
                let missing = "a connection".into();
                return Err(Error::Silent { object: name.to_owned(), missing, waited: bounds.idle });
            }
        }
    }
}
