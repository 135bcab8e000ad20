//! The control connection: the machine's bytes and events over a socket.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use sys::clock::monotonic;
use units::Nanos;
use wire::iperf3::{
    Cookie, Failure, Params, Results,
    client::{Event, Machine},
};

use crate::{
    error::{Error, Result},
    socket::{TICK, is_wait, limit_waits},
    stop::Stop,
};

/// Read at a time.
const CHUNK: usize = 16 << 10;
/// How long the server may take to stop before this end stops listening.
const STOPPED: Nanos = Nanos::from_secs(2);
/// How long the server may take to read what is said to it.
const PATIENCE: Nanos = Nanos::from_secs(10);

/// The control connection of one test.
pub(super) struct Control<'a> {
    socket: TcpStream,
    machine: Machine,
    name: String,
    stop: &'a Stop,
}

impl<'a> Control<'a> {
    /// Says the cookie.
    pub(super) fn new(socket: TcpStream, cookie: &Cookie, params: &Params, stop: &'a Stop) -> Result<Self> {
        let peer = socket.peer_addr().map_or_else(|_| "the server".into(), |peer| peer.to_string());
        let name = format!("the control connection to {peer}");
        sys::socket::set_nodelay(&socket, true)?;
        limit_waits(&socket, TICK)?;
        let mut control = Self { socket, machine: Machine::new(cookie, params, now()), name, stop };
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
        self.read(true);
        match self.machine.poll_event() {
            Some(Event::Failed(failure)) => Err(failure.into()),
            _ => Ok(()),
        }
    }

    /// Says that the test is over, and waits a while for the server to have stopped.
    pub(super) fn end_test(&mut self) -> Result<()> {
        let begun = monotonic();
        self.machine.end_test(now());
        self.flush()?;
        while !self.machine.is_asked() && monotonic() - begun < STOPPED.0 {
            self.read(false);
            if let Some(Event::Failed(failure)) = self.machine.poll_event() {
                return Err(failure.into());
            }
        }
        Ok(())
    }

    /// Says what was seen here and returns what was seen there, once all is said.
    pub(super) fn exchange(&mut self, ours: &Results) -> Result<Results> {
        self.machine.exchange(ours, now());
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
        self.machine.terminate();
        // It may be gone; what ended the test is the better reason.
        let _ = self.flush();
    }

    fn await_event(&mut self, is_it: impl Fn(&Event) -> bool) -> Result<Event> {
        loop {
            match self.machine.poll_event() {
                Some(Event::Failed(failure)) => return Err(failure.into()),
                Some(event) if is_it(&event) => {
                    self.flush()?;
                    return Ok(event);
                }
                Some(_) => {}
                None if self.stop.is_asked() => return Err(Error::Stopped),
                None => {
                    self.flush()?;
                    self.read(false);
                }
            }
        }
    }

    /// Hears what has come; waits for it if it may.
    fn read(&mut self, at_once: bool) {
        let mut bytes = [0; CHUNK];
        let read = if at_once {
            sys::socket::recv_nonblocking(&self.socket, &mut bytes)
        } else {
            self.socket.read(&mut bytes)
        };
        match read {
            Ok(0) => self.machine.closed(),
            Ok(length) => self.machine.receive(&bytes[..length], now()),
            Err(error) if is_wait(&error) => {}
            Err(_) => self.machine.closed(),
        }
        self.machine.tick(now());
    }

    /// Says what the machine has to say.
    fn flush(&mut self) -> Result<()> {
        let Some(bytes) = self.machine.poll_transmit() else { return Ok(()) };
        let (mut rest, begun) = (&bytes[..], monotonic());
        while !rest.is_empty() {
            match self.socket.write(rest) {
                Ok(written) => rest = &rest[written..],
                Err(error) if is_wait(&error) => {}
                // The server may have said why it closed.
                Err(_) => return Ok(()),
            }
            if !rest.is_empty() && monotonic() - begun > PATIENCE.0 {
                let missing = "the server to read".into();
                return Err(Error::Silent { object: self.name.clone(), missing, waited: PATIENCE });
            }
        }
        Ok(())
    }
}

fn now() -> Nanos {
    Nanos(monotonic())
}
