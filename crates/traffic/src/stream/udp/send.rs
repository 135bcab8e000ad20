//! The sending end of a datagram stream, with one or many datagrams per call.

use std::{io, net::UdpSocket};

use samples::{ThreadCpu, ThreadRole};
use sys::{
    clock::{monotonic, set_timer_slack},
    socket::SendBatch,
};
use units::Nanos;
use workload::{DatagramSample, EndSeries, Mode, SocketFacts};

use super::{dial::is_refused, format::DatagramFormat, opening};
use crate::{
    error::{Error, Result},
    socket::{TICK, is_dropped, is_wait},
    stream::{
        GRACE,
        flow::{Finish, Flow, Start},
        goal::Goal,
        interval_sampler::{IntervalSampler, Sampled},
        pace::{Pace, await_due},
        series::Reading,
    },
    workers::{CpuMeter, SharedState},
};

const PATIENCE: Nanos = Nanos::from_secs(10);

pub(super) struct Sender<'a> {
    flow: &'a Flow<'a>,
    socket: &'a UdpSocket,
    format: DatagramFormat,
    transmit_method: TransmitMethod,
    pace: Option<Pace>,
}

#[derive(Default)]
struct Departures {
    sent: u64,
    reported: u64,
}

impl Sampled for Departures {
    fn begin(&mut self) {}

    fn sample(&mut self) -> Reading {
        let count = self.sent - std::mem::replace(&mut self.reported, self.sent);
        Reading {
            datagrams: Some(DatagramSample { count, ..DatagramSample::default() }),
            ..Reading::default()
        }
    }
}

impl<'a> Sender<'a> {
    pub(super) fn prepare(flow: &'a Flow<'a>, socket: &'a UdpSocket, format: DatagramFormat) -> Result<Self> {
        let pace = Pace::of(flow.load);
        if pace.is_some() {
            set_timer_slack(1)?;
        }
        let length = flow.load.message.0 as usize;
        let transmit_method = match flow.load.mode {
            Mode::App => TransmitMethod::One(vec![0xA5; length]),
            Mode::Limit => TransmitMethod::Many(SendBatch::new(at_once(length), length, true)?),
        };
        Ok(Self { flow, socket, format, transmit_method, pace })
    }

    pub(super) fn run(mut self, shared: &SharedState<'_>) -> Result<(EndSeries, ThreadCpu)> {
        let flow = self.flow;
        if let Start::Opening(opening) = flow.start {
            self.open(opening, shared)?;
        }
        let spent = CpuMeter::from_now();
        let mut sampler = IntervalSampler::new(flow, shared, Departures::default());
        sampler.begin(monotonic());
        self.send_all(&mut sampler)?;
        let thread = spent.until_now(flow.end, ThreadRole::Send);
        let segments = u32::try_from(self.transmit_method.per_message()).ok();
        let sent = sampler.sampled.sent;
        let series = sampler.finish(monotonic(), SocketFacts { segments, ..flow.facts() });
        if matches!(flow.finish, Finish::HalfClose) {
            self.close(sent, shared)?;
        }
        let (lateness, skipped) = self.pace.map(Pace::into_lateness_and_shift).unzip();
        Ok((EndSeries { lateness, skipped, ..series }, thread))
    }

    fn send_all(&mut self, sampler: &mut IntervalSampler<'_, Departures>) -> Result<()> {
        let length = self.flow.load.message.0;
        let most = self.transmit_method.capacity() as u64;
        let mut now = monotonic();
        let goal = Goal::of(self.flow, now);
        if let Some(pace) = &mut self.pace {
            pace.begin(now);
        }
        while !goal.is_reached(sampler, now) && !self.flow.is_ended() {
            let mut many = most.min(goal.left(sampler).div_ceil(length));
            if let Some(pace) = &mut self.pace {
                let due = await_due(pace, || sampler.wake().min(goal.wake(sampler)), now);
                now = due.now;
                many = many.min(due.messages);
                if many == 0 {
                    sampler.count(0, now)?;
                    continue;
                }
            }
            let sent = self.send(many as usize, sampler.sampled.sent, now)?;
            if let Some(pace) = &mut self.pace {
                pace.leave(sent as u64, now);
            }
            now = monotonic();
            sampler.sampled.sent += sent as u64;
            sampler.count(sent * length as usize, now)?;
        }
        Ok(())
    }

    #[inline]
    fn send(&mut self, many: usize, before: u64, now: u64) -> Result<usize> {
        let written = |index: usize, datagram: &mut [u8]| {
            self.format.write(datagram, before + 1 + index as u64, now);
        };
        match self.transmit_method.send(self.socket, many, written) {
            Ok(sent) => Ok(sent),
            Err(error) if self.transmit_method.per_message() > 1 && is_uncut(&error) => {
                let length = self.flow.load.message.0 as usize;
                self.transmit_method = TransmitMethod::Many(SendBatch::new(at_once(length), length, false)?);
                Ok(0)
            }
            Err(error) if is_wait(&error) || is_dropped(&error) => Ok(0),
            Err(error) => Err(Error::socket("send on", || self.flow.name.clone())(error)),
        }
    }

    fn open(&self, opening: opening::Opening, shared: &SharedState<'_>) -> Result<()> {
        let mut bytes = [0; opening::LENGTH + 1];
        let begun = monotonic();
        while monotonic() - begun < PATIENCE.0 {
            if !self.flow.is_server() {
                self.send_or_drop(&opening.encode())?;
            }
            match self.socket.recv(&mut bytes) {
                Ok(length) if bytes[..length] == opening.encode() => return Ok(()),
                Ok(length) if self.flow.is_server() && bytes[..length] == opening.greeting().encode() => {
                    self.send_or_drop(&opening.encode())?;
                }
                Ok(_) => {}
                Err(error) if is_wait(&error) || is_refused(&error) => {}
                Err(error) => return Err(Error::socket("start", || self.flow.name.clone())(error)),
            }
            shared.check()?;
        }
        let missing = "the other end's start signal".into();
        Err(Error::Silent { object: self.flow.name.clone(), missing, waited: PATIENCE })
    }

    fn close(&self, sent: u64, shared: &SharedState<'_>) -> Result<()> {
        let closing = DatagramFormat::closing(sent);
        let mut bytes = [0; opening::LENGTH + 1];
        let begun = monotonic();
        while monotonic() - begun < GRACE.0 {
            self.send_or_drop(&closing)?;
            let answered_by = monotonic() + TICK.as_nanos() as u64;
            while monotonic() < answered_by {
                match self.socket.recv(&mut bytes) {
                    Ok(length) if bytes[..length] == closing => return Ok(()),
                    Ok(_) => {}
                    Err(error) if is_refused(&error) => return Ok(()),
                    Err(error) if is_wait(&error) || is_dropped(&error) => {}
                    Err(error) => return Err(Error::socket("end", || self.flow.name.clone())(error)),
                }
            }
            shared.check()?;
        }
        let missing = "the other end to acknowledge the end".into();
        Err(Error::Silent { object: self.flow.name.clone(), missing, waited: GRACE })
    }

    fn send_or_drop(&self, bytes: &[u8]) -> Result<()> {
        match self.socket.send(bytes) {
            Ok(_) => Ok(()),
            Err(error) if is_wait(&error) || is_dropped(&error) || is_refused(&error) => Ok(()),
            Err(error) => Err(Error::socket("send on", || self.flow.name.clone())(error)),
        }
    }
}

enum TransmitMethod {
    One(Vec<u8>),
    Many(SendBatch),
}

impl TransmitMethod {
    fn capacity(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Many(batch) => batch.capacity(),
        }
    }

    const fn per_message(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Many(batch) => batch.per_message(),
        }
    }

    #[inline]
    fn send(
        &mut self,
        socket: &UdpSocket,
        many: usize,
        write: impl Fn(usize, &mut [u8]),
    ) -> io::Result<usize> {
        match self {
            Self::One(datagram) => {
                write(0, datagram);
                socket.send(datagram).map(|_| 1)
            }
            Self::Many(batch) => {
                (0..many).for_each(|index| write(index, batch.payload_mut(index)));
                batch.send(socket, many)
            }
        }
    }
}

/// Returns the number of datagrams per call: up to 64 KiB of payload, but at most 64 datagrams, because datagrams of
/// the same call share a timestamp, which affects the jitter.
fn at_once(length: usize) -> usize {
    (65_507 / length).clamp(1, 64)
}

/// Returns whether the error means that the device cannot segment, or that a datagram exceeds its MTU
/// (EINVAL, EMSGSIZE or EIO).
fn is_uncut(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(22 | 90 | 5))
}
