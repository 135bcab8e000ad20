//! The receiving end of a datagram stream. Its time starts with the first datagram.

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

const PATIENCE: Nanos = Nanos::from_secs(10);
/// The time after the end during which the receiver accepts reordered datagrams, and repeats its reply to a sender that
/// missed it.
const LINGER: Nanos = Nanos::from_millis(150);
/// The interval at which the receiver repeats its closing reply. A sender that waits for a CPU repeats its closing
/// datagram too rarely.
const AGAIN: Nanos = Nanos::from_millis(50);
/// More datagrams than fit into any socket buffer, even one with several MiB of the shortest datagrams.
const BUFFERFUL: u64 = 1 << 14;

pub(super) struct Receiver<'a> {
    flow: &'a Flow<'a>,
    socket: &'a UdpSocket,
    receive_method: ReceiveMethod,
    headers: StreamHeaders,
}

struct StreamHeaders {
    format: DatagramFormat,
    is_closed_by_sender: bool,
    begun: bool,
    closed: Option<(u64, u64)>,
    most: u32,
}

#[derive(Default)]
struct ReceivedBatch {
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

    fn await_first(
        &mut self,
        sampler: &mut IntervalSampler<'_, Arrivals>,
        shared: &SharedState<'_>,
    ) -> Result<()> {
        let since = monotonic();
        while !self.headers.begun {
            if let Start::Opening(opening) = self.flow.start
                && !self.flow.is_server()
            {
                self.send(&opening.encode())?;
            }
            let batch = self.receive(sampler)?;
            sampler.add(batch.bytes);
            shared.check()?;
            if monotonic() - since > PATIENCE.0 {
                let missing = "the first datagram".into();
                return Err(Error::Silent { object: self.flow.name.clone(), missing, waited: PATIENCE });
            }
        }
        Ok(())
    }

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

    /// Receives the data in flight. If this thread had to wait for a CPU, the data is already in the socket buffer,
    /// so there is no need to wait for more.
    fn run_down(&mut self, sampler: &mut IntervalSampler<'_, Arrivals>, end: u64) -> Result<u64> {
        sys::socket::set_receive_timeout(self.socket, Some(Duration::from(QUIET)))?;
        let (mut latest, mut taken) = (end, 0);
        let mut waits = true;
        while waits || taken < BUFFERFUL {
            if waits && latest >= end + RUNDOWN.0 {
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
        Ok(end)
    }

    /// Counts datagrams after the closing datagram, without extending the measured time. Repeats the closing reply in
    /// case it was lost.
    fn linger(
        &mut self,
        sampler: &mut IntervalSampler<'_, Arrivals>,
        closed: u64,
        shared: &SharedState<'_>,
    ) -> Result<()> {
        let (mut latest, mut replied) = (closed, closed);
        while monotonic() - latest < LINGER.0 && monotonic() - closed < GRACE.0 {
            let batch = self.receive(sampler)?;
            if batch.datagrams > 0 {
                latest = batch.now;
            } else if batch.now.saturating_sub(replied) >= AGAIN.0 {
                replied = batch.now;
                self.reply(&batch)?;
            }
            sampler.add(batch.bytes);
            shared.check()?;
        }
        Ok(())
    }

    #[inline]
    fn receive(&mut self, sampler: &mut IntervalSampler<'_, Arrivals>) -> Result<ReceivedBatch> {
        let headers = &mut self.headers;
        let mut batch = ReceivedBatch::default();
        let received = self.receive_method.receive(self.socket, |datagram, now| {
            batch.now = now;
            batch.datagrams += 1;
            headers.on_datagram(datagram, &mut batch, sampler);
        });
        match received {
            Ok(()) => {}
            Err(error) if is_wait(&error) || is_refused(&error) => batch.now = monotonic(),
            Err(error) => return Err(Error::socket("receive on", || self.flow.name.clone())(error)),
        }
        headers.most = headers.most.max(batch.datagrams);
        if batch.opening.is_some() || batch.closing {
            self.reply(&batch)?;
        }
        Ok(batch)
    }

    #[cold]
    fn reply(&self, batch: &ReceivedBatch) -> Result<()> {
        if let (Some(opening), Start::Opening(known)) = (batch.opening, self.flow.start)
            && self.flow.is_server()
            && opening.greeting() == known.greeting()
        {
            self.send(&known.encode())?;
        }
        match self.headers.closed {
            Some((sent, _)) => self.send(&DatagramFormat::closing(sent)),
            None => Ok(()),
        }
    }

    fn send(&self, bytes: &[u8]) -> Result<()> {
        match self.socket.send(bytes) {
            Ok(_) => Ok(()),
            Err(error) if is_wait(&error) || is_refused(&error) => Ok(()),
            Err(error) => Err(Error::socket("send on", || self.flow.name.clone())(error)),
        }
    }
}

impl StreamHeaders {
    #[inline]
    fn on_datagram(
        &mut self,
        datagram: &[u8],
        batch: &mut ReceivedBatch,
        sampler: &mut IntervalSampler<'_, Arrivals>,
    ) {
        if let Some(opening) = Opening::decode(datagram) {
            batch.opening = Some(opening);
            return;
        }
        match self.format.read(datagram) {
            Some(Head::Data { number, sent }) => {
                self.begin(batch.now, sampler);
                let number = self.format.whole(number, sampler.sampled.highest());
                let datagram = Datagram { number, sent, now: batch.now, bytes: datagram.len() };
                batch.bytes += sampler.sampled.note(datagram);
            }
            Some(Head::Closing { sent }) if self.is_closed_by_sender => {
                self.begin(batch.now, sampler);
                self.closed = Some((sent, self.closed.map_or(batch.now, |(_, first)| first)));
                batch.closing = true;
            }
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
