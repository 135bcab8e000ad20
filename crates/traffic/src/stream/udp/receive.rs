//! The receiving end of a stream of datagrams: one a call, or many.
//!
//! The time of a stream that was opened begins with its first datagram; the record ends with the last one, or,
//! within the time that was asked, with the sender's word that it was the last ([`end_of_record`]).

use std::{net::UdpSocket, time::Duration};

use codecs::iperf3::Connect;
use samples::{ThreadCpu, ThreadRole};
use sys::clock::monotonic;
use units::Nanos;
use workload::{EndSeries, SocketFacts};

use super::{
    dial::is_refused,
    format::{DatagramFormat, Head},
    opening::Opening,
    receive_method::ReceiveMethod,
    sequence::{Arrivals, Datagram},
};
use crate::{
    error::{Error, Result},
    socket::is_wait,
    stream::{
        GRACE, QUIET, RUNDOWN,
        flow::{Finish, Flow, Start},
        goal::{Patience, end_of_record},
        interval_sampler::IntervalSampler,
    },
    workers::{CpuMeter, SharedState},
};

/// How long the first datagram may take to come.
const PATIENCE: Nanos = Nanos::from_secs(10);
/// How long a receiver that was told the end listens on: for what was overtaken by it, and for a sender that
/// did not hear the answer.
const LINGER: Nanos = Nanos::from_millis(150);
/// How often it says again meanwhile that it heard the end: a sender that waits for its turn asks too seldom.
const AGAIN: Nanos = Nanos::from_millis(50);
/// No fewer datagrams than a socket's buffer holds, even one of several MiB that is full of the shortest.
const BUFFERFUL: u64 = 1 << 14;

/// All that a receiver needs, made before the time begins.
pub(super) struct Receiver<'a> {
    flow: &'a Flow<'a>,
    socket: &'a UdpSocket,
    receive_method: ReceiveMethod,
    headers: StreamHeaders,
}

/// What the datagrams say beside their payload.
struct StreamHeaders {
    format: DatagramFormat,
    /// Whether the sender ends the stream by saying how many it sent.
    is_closed_by_sender: bool,
    begun: bool,
    /// How many were sent, as was said last, and when this was heard first.
    closed: Option<(u64, u64)>,
    /// Most datagrams that one call has brought.
    most: u32,
}

/// What one call brought.
#[derive(Default)]
struct ReceivedBatch {
    /// Payload that came for the first time.
    bytes: usize,
    datagrams: u32,
    opening: Option<Opening>,
    closing: bool,
    now: u64,
}

impl<'a> Receiver<'a> {
    pub(super) fn prepare(flow: &'a Flow<'a>, socket: &'a UdpSocket, format: DatagramFormat) -> Self {
        let headers = StreamHeaders {
            format,
            is_closed_by_sender: matches!(flow.finish, Finish::HalfClose),
            begun: !matches!(flow.start, Start::Opening(_)),
            closed: None,
            most: 0,
        };
        Self { flow, socket, receive_method: ReceiveMethod::open(flow.load.mode, socket), headers }
    }

    /// Receives until the end of the stream.
    pub(super) fn run(mut self, shared: &SharedState<'_>) -> Result<(EndSeries, ThreadCpu)> {
        let flow = self.flow;
        let mut sampler = IntervalSampler::new(flow, shared, Arrivals::new());
        if self.headers.begun {
            sampler.begin(monotonic());
        }
        self.await_first(&mut sampler, shared)?;
        let spent = CpuMeter::from_now();
        let found = self.receive_all(&mut sampler)?;
        let end = end_of_record(flow.load, sampler.begun(), sampler.latest(), found);
        let thread = spent.until_now(flow.end, ThreadRole::Receive);
        if self.headers.closed.is_some() {
            self.linger(&mut sampler, found, shared)?;
        }
        if let Some((sent, _)) = self.headers.closed {
            let late = sampler.sampled.announce(sent);
            sampler.add(late);
        }
        sampler.sampled.end();
        let facts = SocketFacts { segments: Some(self.headers.most), ..flow.facts() };
        Ok((sampler.finish(end, facts), thread))
    }

    /// Says that it listens, until the stream has begun.
    fn await_first(
        &mut self,
        sampler: &mut IntervalSampler<'_, Arrivals>,
        shared: &SharedState<'_>,
    ) -> Result<()> {
        let since = monotonic();
        while !self.headers.begun {
            if let Start::Opening(said) = self.flow.start
                && !self.flow.is_server()
            {
                self.say(&said.encode())?;
            }
            let came = self.receive(sampler)?;
            sampler.add(came.bytes);
            shared.check()?;
            if monotonic() - since > PATIENCE.0 {
                let missing = "the first datagram".into();
                return Err(Error::Silent { object: self.flow.name.clone(), missing, waited: PATIENCE });
            }
        }
        Ok(())
    }

    /// Returns when it found that the stream was over.
    fn receive_all(&mut self, sampler: &mut IntervalSampler<'_, Arrivals>) -> Result<u64> {
        let patience = Patience::of(self.flow, sampler.begun());
        loop {
            if let Some((_, at)) = self.headers.closed {
                return Ok(at);
            }
            let ReceivedBatch { bytes, datagrams, now, .. } = self.receive(sampler)?;
            sampler.count(bytes, now)?;
            match datagrams {
                0 => patience.check(self.flow, sampler, now)?,
                _ => patience.check_ends(self.flow, sampler, now)?,
            }
            if self.flow.is_ended() {
                return self.run_down(sampler, now);
            }
        }
    }

    /// Takes what is still under way. A thread that has to wait for its turn finds it in the socket's buffer,
    /// however late it comes; it then waits for nothing more.
    fn run_down(&mut self, sampler: &mut IntervalSampler<'_, Arrivals>, told: u64) -> Result<u64> {
        sys::socket::set_receive_timeout(self.socket, Some(Duration::from(QUIET)))?;
        let (mut latest, mut taken) = (told, 0);
        let mut waits = true;
        while waits || taken < BUFFERFUL {
            if waits && latest >= told + RUNDOWN.0 {
                waits = false;
                self.socket.set_nonblocking(true).map_err(Error::socket("end", || self.flow.name.clone()))?;
            }
            let ReceivedBatch { bytes, datagrams, now, .. } = self.receive(sampler)?;
            if datagrams == 0 {
                break;
            }
            latest = now;
            taken += u64::from(datagrams);
            sampler.count(bytes, now)?;
        }
        Ok(told)
    }

    /// Counts what was overtaken by the sender's last word, which takes no more time, and answers that word when
    /// it is repeated, and once or twice unasked: the answer may have been lost. A sender that does not end is left.
    fn linger(
        &mut self,
        sampler: &mut IntervalSampler<'_, Arrivals>,
        closed: u64,
        shared: &SharedState<'_>,
    ) -> Result<()> {
        let (mut latest, mut said) = (closed, closed);
        while monotonic() - latest < LINGER.0 && monotonic() - closed < GRACE.0 {
            let came = self.receive(sampler)?;
            if came.datagrams > 0 {
                latest = came.now;
            } else if came.now.saturating_sub(said) >= AGAIN.0 {
                said = came.now;
                self.answer(&came)?;
            }
            sampler.add(came.bytes);
            shared.check()?;
        }
        Ok(())
    }

    /// One call, and its answer where one is due.
    #[inline]
    fn receive(&mut self, sampler: &mut IntervalSampler<'_, Arrivals>) -> Result<ReceivedBatch> {
        let headers = &mut self.headers;
        let mut came = ReceivedBatch::default();
        let received = self.receive_method.receive(self.socket, |datagram, now| {
            came.now = now;
            came.datagrams += 1;
            headers.hear(datagram, &mut came, sampler);
        });
        match received {
            Ok(()) => {}
            Err(error) if is_wait(&error) || is_refused(&error) => came.now = monotonic(),
            Err(error) => return Err(Error::socket("receive on", || self.flow.name.clone())(error)),
        }
        headers.most = headers.most.max(came.datagrams);
        if came.opening.is_some() || came.closing {
            self.answer(&came)?;
        }
        Ok(came)
    }

    /// The sender repeats its first and its last word until it hears them again.
    #[cold]
    fn answer(&self, came: &ReceivedBatch) -> Result<()> {
        if let (Some(said), Start::Opening(known)) = (came.opening, self.flow.start)
            && self.flow.is_server()
            && said.greeting() == known.greeting()
        {
            self.say(&known.encode())?;
        }
        match self.headers.closed {
            Some((sent, _)) => self.say(&DatagramFormat::closing(sent)),
            None => Ok(()),
        }
    }

    /// What cannot leave now is lost, as it may be on its way: it is asked for again.
    fn say(&self, bytes: &[u8]) -> Result<()> {
        match self.socket.send(bytes) {
            Ok(_) => Ok(()),
            Err(error) if is_wait(&error) || is_refused(&error) => Ok(()),
            Err(error) => Err(Error::socket("send on", || self.flow.name.clone())(error)),
        }
    }
}

impl StreamHeaders {
    #[inline]
    fn hear(
        &mut self,
        datagram: &[u8],
        came: &mut ReceivedBatch,
        sampler: &mut IntervalSampler<'_, Arrivals>,
    ) {
        if let Some(said) = Opening::decode(datagram) {
            came.opening = Some(said);
            return;
        }
        match self.format.read(datagram) {
            Some(Head::Data { number, sent }) => {
                self.begin(came.now, sampler);
                let number = self.format.whole(number, sampler.sampled.highest());
                let datagram = Datagram { number, sent, now: came.now, bytes: datagram.len() };
                came.bytes += sampler.sampled.note(datagram);
            }
            Some(Head::Closing { sent }) if self.is_closed_by_sender => {
                self.begin(came.now, sampler);
                // A sender that does not hear its own word again says it once more.
                self.closed = Some((sent, self.closed.map_or(came.now, |(_, first)| first)));
                came.closing = true;
            }
            // Another stream's greeting, or its answer, said again.
            None if Connect::parse_request(datagram).or(Connect::parse_reply(datagram)).is_some() => {}
            Some(Head::Closing { .. }) | None => sampler.sampled.stray(),
        }
    }

    #[inline]
    fn begin(&mut self, now: u64, sampler: &mut IntervalSampler<'_, Arrivals>) {
        if !self.begun {
            self.begun = true;
            sampler.begin(now);
        }
    }
}
