//! The server side, which runs a few more threads than the client.

use std::{
    io,
    net::{TcpListener, TcpStream},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

use samples::{ThreadCpu, ThreadRole};
use sys::clock::monotonic;
use workload::{ConnectEnd, ConnectSettings};

use super::{CONTROL, COUNTED, GRACE, PATIENCE, answer::RequestServer, check};
use crate::{
    dial,
    error::{Error, Result},
    gather,
    handshake::{Handshake, Purpose},
    observer::Observer,
    outcome::Outcome,
    socket::{TICK, is_wait, limit_waits},
    spec::ServerSpec,
    stop::Stop,
    workers::{self, CpuMeter, Job, SharedState, cpu_of},
};

const END: &str = "server";
const SPARE: u32 = 2;

#[derive(Debug)]
pub(crate) struct Server {
    spec: ServerSpec<ConnectSettings>,
    listener: TcpListener,
    port: u16,
}

impl Server {
    pub(crate) fn open(spec: ServerSpec<ConnectSettings>) -> Result<Self> {
        check(&spec.load)?;
        let listener = gather::listen(spec.bind, &spec.load.socket)?;
        let port = gather::port(listener.local_addr())?;
        Ok(Self { spec, listener, port })
    }

    #[must_use]
    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    /// Fails if the client does not connect, or if it goes silent before the end of the test.
    pub(crate) fn run(self, stop: &Stop, observer: &dyn Observer) -> Result<Outcome<ConnectEnd>> {
        let Self { spec, listener, port } = self;
        let expected = [(Purpose::Connect, CONTROL)];
        let control = gather::gather(&listener, spec.token, &expected, stop)?;
        let control = control.into_values().next().expect("gather returns the expected connections");
        limit_waits(&control, TICK)?;
        limit_waits(&listener, TICK)?;
        let name = format!("connections to {}:{port}", spec.bind);
        listener.set_nonblocking(false).map_err(Error::socket("await", || name.clone()))?;
        let over = AtomicBool::new(false);
        let shared = SharedState::new(stop);
        let serve = |thread: u32| serve(&listener, &spec, thread, &over, &shared);
        let mut jobs: Vec<_> = (0..spec.load.clients + SPARE)
            .map(|thread| Job {
                name: name.clone(),
                thread: format!("accept {thread}"),
                work: Box::new(move || serve(thread)) as _,
            })
            .collect();
        let watch = || watch(&control, &spec, &name, &over, &shared);
        jobs.push(Job { name: name.clone(), thread: "accept watch".to_owned(), work: Box::new(watch) });
        let threads = workers::run(jobs, &shared, observer)?.into_iter().flatten().collect();
        Ok(Outcome { measured: ConnectEnd::Server, threads })
    }
}

fn serve(
    listener: &TcpListener,
    spec: &ServerSpec<ConnectSettings>,
    thread: u32,
    over: &AtomicBool,
    shared: &SharedState<'_>,
) -> Result<Option<ThreadCpu>> {
    if let Some(cpu) = cpu_of(spec.cpus.as_deref(), thread as usize) {
        sys::affinity::pin_thread(&[cpu])?;
    }
    let carried = AtomicU64::new(0);
    let mut requests = RequestServer::new(PATIENCE, &carried);
    let belongs = |handshake: Handshake| {
        handshake.token == spec.token && handshake.purpose == Purpose::Connect && handshake.number >= COUNTED
    };
    let goes_on = || !over.load(Ordering::Relaxed) && shared.check().is_ok();
    shared.wait_for_start()?;
    let spent = CpuMeter::from_now();
    while goes_on() {
        match listener.accept() {
            // Ignores failures, because the client counts failed connections. Unknown peers get no response.
            Ok((socket, _)) => drop(requests.respond(&socket, belongs, goes_on)),
            Err(error) if is_passing(&error) => {}
            Err(error) => {
                return Err(Error::socket("accept on", || format!("{:?}", listener.local_addr()))(error));
            }
        }
    }
    shared.check()?;
    Ok(Some(spent.until_now(END, ThreadRole::Pong)))
}

/// Returns whether the wait timed out or the peer disconnected before accept(2).
fn is_passing(error: &io::Error) -> bool {
    is_wait(error) || error.kind() == io::ErrorKind::ConnectionAborted
}

fn watch(
    control: &TcpStream,
    spec: &ServerSpec<ConnectSettings>,
    name: &str,
    over: &AtomicBool,
    shared: &SharedState<'_>,
) -> Result<Option<ThreadCpu>> {
    use std::io::Read;
    shared.wait_for_start()?;
    dial::give_go(control, name)?;
    let limit = monotonic() + (spec.load.warmup + spec.load.duration + GRACE).0;
    let ended = loop {
        match { control }.read(&mut [0; 16]) {
            Ok(0) => break Ok(None),
            Ok(_) => {}
            Err(error) if is_wait(&error) => {}
            Err(error) => break Err(Error::socket("await the end of", || name)(error)),
        }
        if let Err(stopped) = shared.check() {
            break Err(stopped);
        }
        if monotonic() >= limit {
            let missing = "the client to finish".into();
            break Err(Error::Silent { object: name.into(), missing, waited: GRACE });
        }
    };
    over.store(true, Ordering::Relaxed);
    ended
}
