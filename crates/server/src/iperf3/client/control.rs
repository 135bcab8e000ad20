//! Runs the client state machine over the control connection.

use std::net::TcpStream;

use codecs::iperf3::{
    Cookie, Failure, Params, Results,
    client::{Event, Machine},
};
use sys::clock::monotonic;
use traffic::{Error, Result, Stop};
use units::Nanos;

use super::super::transport::{Transport, now};

const STOPPED: Nanos = Nanos::from_secs(2);

/// The wait for the server's results after a stop request.
const LAST: Nanos = Nanos::from_millis(1250);

const LONGEST: Nanos = Nanos::from_secs(60);

pub(super) struct Control<'a> {
    transport: Transport<Machine>,
    stop: &'a Stop,
    /// The deadline for the server's results, also after a stop request.
    until: u64,
}

impl<'a> Control<'a> {
    pub(super) fn new(socket: TcpStream, cookie: &Cookie, params: &Params, stop: &'a Stop) -> Result<Self> {
        let peer = socket.peer_addr().map_or_else(|_| "the server".into(), |peer| peer.to_string());
        let name = format!("the control connection to {peer}");
        let machine = Box::new(Machine::new(cookie, params, now()));
        let mut control = Self { transport: Transport::new(socket, machine, name)?, stop, until: 0 };
        control.flush()?;
        Ok(control)
    }

    pub(super) fn await_streams(&mut self) -> Result<()> {
        self.await_event(|event| matches!(event, Event::CreateStreams)).map(drop)
    }

    pub(super) fn await_running(&mut self) -> Result<()> {
        self.await_event(|event| matches!(event, Event::Start))?;
        self.await_event(|event| matches!(event, Event::Running)).map(drop)
    }

    pub(super) fn poll(&mut self) -> Result<()> {
        self.transport.receive_available(true);
        match self.transport.machine.poll_event() {
            Some(Event::Failed(failure)) => Err(self.failed(failure)),
            _ => Ok(()),
        }
    }

    pub(super) fn end_test(&mut self) -> Result<()> {
        let started = monotonic();
        let mut deadline = started + STOPPED.0;
        if self.stop.keeps() {
            deadline = started + LAST.0;
            self.until = deadline;
        }
        self.transport.machine.end_test(now());
        self.flush()?;
        while !self.transport.machine.is_asked() && monotonic() < deadline {
            self.transport.receive_available(false);
            if let Some(Event::Failed(failure)) = self.transport.machine.poll_event() {
                return Err(self.failed(failure));
            }
        }
        Ok(())
    }

    pub(super) fn exchange(&mut self, ours: &Results) -> Result<Results> {
        self.transport.machine.exchange(ours, now());
        let event = self.await_event(|event| matches!(event, Event::Results(_)))?;
        // The results are valid even if the server's final message is missing.
        let _ = self.await_event(|event| matches!(event, Event::Done));
        match event {
            Event::Results(results) => Ok(*results),
            _ => Err(Failure::Closed { awaited: "the server's results" }.into()),
        }
    }

    pub(super) fn give_up_unless_over(&mut self) {
        self.transport.machine.terminate();
        let _ = self.flush();
    }

    fn await_event(&mut self, is_it: impl Fn(&Event) -> bool) -> Result<Event> {
        let started = monotonic();
        loop {
            match self.transport.machine.poll_event() {
                Some(Event::Failed(failure)) => return Err(self.failed(failure)),
                Some(event) if is_it(&event) => {
                    self.flush()?;
                    return Ok(event);
                }
                Some(_) => {}
                None if self.stop.is_asked() && monotonic() >= self.until => return Err(Error::Stopped),
                None if monotonic() - started >= LONGEST.0 => return Err(self.silent("an answer", LONGEST)),
                None => {
                    self.flush()?;
                    self.transport.receive_available(false);
                }
            }
        }
    }

    fn failed(&self, failure: Failure) -> Error {
        match failure {
            Failure::Silent { awaited, waited } => self.silent(awaited, waited),
            other => other.into(),
        }
    }

    fn silent(&self, missing: &str, waited: Nanos) -> Error {
        Error::Silent { object: self.transport.name.clone(), missing: missing.to_owned(), waited }
    }

    fn flush(&mut self) -> Result<()> {
        match self.transport.flush() {
            Err(Error::Socket { .. }) => Ok(()),
            flushed => flushed,
        }
    }
}
