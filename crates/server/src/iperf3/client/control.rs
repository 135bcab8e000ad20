//! The control connection: the machine's bytes and events over a socket.

use std::net::TcpStream;

use codecs::iperf3::{
    Cookie, Failure, Params, Results,
    client::{Event, Machine},
};
use sys::clock::monotonic;
use traffic::{Error, Result, Stop};
use units::Nanos;

use super::super::transport::{Transport, now};

/// How long the server may take to stop before this end stops listening.
const STOPPED: Nanos = Nanos::from_secs(2);

/// How long the server may take to say what it saw of a test that was ended early.
const LAST: Nanos = Nanos::from_secs(3);

/// Nothing is awaited for longer, whatever the machine knows of it; its own patience is shorter.
const LONGEST: Nanos = Nanos::from_secs(60);

/// The control connection of one test.
pub(super) struct Control<'a> {
    transport: Transport<Machine>,
    stop: &'a Stop,
    /// Until then a stop does not keep it from hearing what the server saw.
    until: u64,
}

impl<'a> Control<'a> {
    /// Says the cookie.
    pub(super) fn new(socket: TcpStream, cookie: &Cookie, params: &Params, stop: &'a Stop) -> Result<Self> {
        let peer = socket.peer_addr().map_or_else(|_| "the server".into(), |peer| peer.to_string());
        let name = format!("the control connection to {peer}");
        let machine = Box::new(Machine::new(cookie, params, now()));
        let mut control = Self { transport: Transport::new(socket, machine, name)?, stop, until: 0 };
        control.flush()?;
        Ok(control)
    }

    /// Says the parameters; returns once the server awaits the streams.
    pub(super) fn await_streams(&mut self) -> Result<()> {
        self.await_event(|event| matches!(event, Event::CreateStreams)).map(drop)
    }

    /// Returns once the server says go.
    pub(super) fn await_running(&mut self) -> Result<()> {
        self.await_event(|event| matches!(event, Event::Start))?;
        self.await_event(|event| matches!(event, Event::Running)).map(drop)
    }

    /// Looks, without waiting, whether the server has ended the test.
    pub(super) fn look(&mut self) -> Result<()> {
        self.transport.hear(true);
        match self.transport.machine.poll_event() {
            Some(Event::Failed(failure)) => Err(self.failed(failure)),
            _ => Ok(()),
        }
    }

    /// Says that the test is over, and waits a while for the server to have stopped.
    pub(super) fn end_test(&mut self) -> Result<()> {
        let begun = monotonic();
        if self.stop.keeps() {
            self.until = begun + LAST.0;
        }
        self.transport.machine.end_test(now());
        self.flush()?;
        while !self.transport.machine.is_asked() && monotonic() - begun < STOPPED.0 {
            self.transport.hear(false);
            if let Some(Event::Failed(failure)) = self.transport.machine.poll_event() {
                return Err(self.failed(failure));
            }
        }
        Ok(())
    }

    /// Says what was seen here and returns what was seen there, once all is said.
    pub(super) fn exchange(&mut self, ours: &Results) -> Result<Results> {
        self.transport.machine.exchange(ours, now());
        let event = self.await_event(|event| matches!(event, Event::Results(_)))?;
        // What the server saw counts, even if it does not say its last word.
        let _ = self.await_event(|event| matches!(event, Event::Done));
        match event {
            Event::Results(results) => Ok(*results),
            _ => Err(Failure::Closed { awaited: "the server's results" }.into()),
        }
    }

    /// Tells the server that there will be no more, if it does not know.
    pub(super) fn give_up_unless_over(&mut self) {
        self.transport.machine.terminate();
        // It may be gone; what ended the test is the better reason.
        let _ = self.flush();
    }

    fn await_event(&mut self, is_it: impl Fn(&Event) -> bool) -> Result<Event> {
        let begun = monotonic();
        loop {
            match self.transport.machine.poll_event() {
                Some(Event::Failed(failure)) => return Err(self.failed(failure)),
                Some(event) if is_it(&event) => {
                    self.flush()?;
                    return Ok(event);
                }
                Some(_) => {}
                None if self.stop.is_asked() && monotonic() >= self.until => return Err(Error::Stopped),
                None if monotonic() - begun >= LONGEST.0 => return Err(self.silent("an answer", LONGEST)),
                None => {
                    self.flush()?;
                    self.transport.hear(false);
                }
            }
        }
    }

    /// Who is silent has an address.
    fn failed(&self, failure: Failure) -> Error {
        match failure {
            Failure::Silent { awaited, waited } => self.silent(awaited, waited),
            other => other.into(),
        }
    }

    fn silent(&self, missing: &str, waited: Nanos) -> Error {
        Error::Silent { object: self.transport.name.clone(), missing: missing.to_owned(), waited }
    }

    /// Says what the machine has to say. Where that is cut off, the server may have said why.
    fn flush(&mut self) -> Result<()> {
        match self.transport.flush() {
            Err(Error::Socket { .. }) => Ok(()),
            flushed => flushed,
        }
    }
}
