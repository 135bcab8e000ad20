//! The sending end of a connection, at a rate or as fast as possible.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpStream},
};

use samples::{ThreadCpu, ThreadRole};
use sys::{
    clock::{monotonic, set_timer_slack},
    socket::{ZeroCopySender, set_send_buffer, tcp_info},
};
use units::Nanos;
use workload::{EndSeries, Mode, SocketFacts, Until};

use super::sample::Tcp;
use crate::{
    error::{Error, Result},
    socket::is_wait,
    stream::{
        GRACE,
        flow::{Finish, Flow},
        goal::Goal,
        interval_sampler::IntervalSampler,
        pace::{Pace, await_due},
    },
    workers::{CpuMeter, SharedState},
};

/// The send buffer to request for a spliced stream if the round-trip time is at most [`NEAR`]. The kernel doubles it.
/// With autotuning (up to 4 MiB), the spliced pages outgrew the CPU caches, and the receiver fell behind. The rate on a
/// veth pair was then bimodal: 11 to 23 or 90 to 160 Gbit/s.
const BOUND: usize = 512 << 10;
/// At this round-trip time, a 1 MiB buffer is enough for 33 Gbit/s. Longer paths use autotuning.
const NEAR: Nanos = Nanos(250_000);

pub(super) struct Sender<'a> {
    flow: &'a Flow<'a>,
    socket: &'a TcpStream,
    transmit_method: TransmitMethod<'a>,
    pace: Option<Pace>,
}

impl<'a> Sender<'a> {
    pub(super) fn prepare(flow: &'a Flow<'a>, socket: &'a TcpStream) -> Result<Self> {
        let pace = Pace::of(flow.load);
        if pace.is_some() {
            set_timer_slack(1)?;
        }
        Ok(Self { flow, socket, transmit_method: TransmitMethod::open(flow, socket)?, pace })
    }

    pub(super) fn run(mut self, shared: &SharedState<'_>) -> Result<(EndSeries, ThreadCpu)> {
        let Self { flow, socket, .. } = self;
        let mut sampler = IntervalSampler::new(flow, shared, Tcp::of(socket));
        sampler.begin(monotonic());
        let spent = CpuMeter::since(sampler.begun());
        self.send_all(&mut sampler)?;
        let thread = spent.until_now(flow.end, ThreadRole::Send);
        let facts = SocketFacts { zero_copy: self.transmit_method.is_zero_copy(), ..flow.facts() };
        let series = sampler.finish(monotonic(), facts);
        drop(self.transmit_method);
        if matches!(flow.finish, Finish::HalfClose) {
            await_drained(flow, socket, shared)?;
        }
        let (lateness, skipped) = self.pace.map(Pace::into_lateness_and_shift).unzip();
        Ok((EndSeries { lateness, skipped, ..series }, thread))
    }

    fn send_all(&mut self, sampler: &mut IntervalSampler<'_, Tcp<'_>>) -> Result<()> {
        let message = self.flow.load.message.0;
        let goal = Goal::of(self.flow, sampler.begun());
        let mut now = monotonic();
        if let Some(pace) = &mut self.pace {
            pace.begin(now);
        }
        let mut left = 0;
        while !goal.is_reached(sampler, now) && !self.flow.is_ended() {
            if left == 0 {
                if let Some(pace) = &mut self.pace {
                    let due = await_due(pace, || sampler.wake().min(goal.wake(sampler)), now);
                    now = due.now;
                    if due.messages == 0 {
                        sampler.count(0, now)?;
                        continue;
                    }
                    pace.leave(1, now);
                }
                left = message.min(goal.left(sampler));
            }
            let sent = self.send(left as usize)?;
            now = monotonic();
            left -= sent as u64;
            sampler.count(sent, now)?;
            if sent == 0 {
                self.check_moving(&goal, sampler, now)?;
            }
        }
        Ok(())
    }

    #[inline]
    fn send(&mut self, upto: usize) -> Result<usize> {
        match self.transmit_method.send(self.socket, upto) {
            Ok(sent) => Ok(sent),
            Err(error) if is_wait(&error) => Ok(0),
            Err(error) => Err(Error::socket("send on", || self.flow.name.clone())(error)),
        }
    }

    fn check_moving(&self, goal: &Goal, sampler: &IntervalSampler<'_, Tcp<'_>>, now: u64) -> Result<()> {
        match goal {
            Goal::Elapsed { .. } => Ok(()),
            Goal::Sent(_) => sampler.check_moving(now),
        }
    }
}

/// Over a veth pair (MTU 1500, cubic), with both ends on one CPU and a receiver that discards data in the kernel, both
/// threads took 0.06 to 0.08 s of CPU time per GB for spliced pages, and 0.09 to 0.12 s for writes of 1 MiB.
enum TransmitMethod<'a> {
    Written(Vec<u8>),
    Spliced(Box<ZeroCopySender<'a>>),
}

impl<'a> TransmitMethod<'a> {
    fn open(flow: &Flow<'_>, socket: &'a TcpStream) -> Result<Self> {
        let spliced = match flow.load.mode {
            Mode::App => None,
            Mode::Limit => ZeroCopySender::new(socket).ok(),
        };
        Ok(match spliced {
            Some(sender) => {
                if flow.load.socket.window.is_none() && is_near(socket) {
                    set_send_buffer(socket, BOUND)?;
                }
                Self::Spliced(Box::new(sender))
            }
            None => Self::written(flow.load.message.0 as usize),
        })
    }

    /// Writes the buffer once, so that all its pages are mapped before the start.
    fn written(length: usize) -> Self {
        Self::Written(vec![0xA5; length])
    }

    #[inline]
    fn send(&mut self, mut socket: &TcpStream, upto: usize) -> io::Result<usize> {
        match self {
            Self::Written(message) => socket.write(&message[..upto]),
            Self::Spliced(sender) => match sender.send(upto) {
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                    *self = Self::written(upto);
                    Ok(0)
                }
                other => other,
            },
        }
    }

    const fn is_zero_copy(&self) -> bool {
        matches!(self, Self::Spliced(_))
    }
}

fn is_near(socket: &TcpStream) -> bool {
    tcp_info(socket).is_ok_and(|info| is_short(info.min_rtt_us))
}

/// Returns whether the path is short. `least_rtt` is in microseconds, with all bits set before the first round trip.
const fn is_short(least_rtt: u32) -> bool {
    least_rtt as u64 * 1000 <= NEAR.0
}

/// The wait for the end of the stream. Either side retransmits a lost FIN after 0.2, 0.6, 1.4, 3, 6.2, 12.6 and 25.4 s.
const LOST_END: Nanos = Nanos::from_secs(30);
const LOSS: u8 = 4;

/// Waits until the peer closes after reading the last byte. If the stream has a time limit, data still in transit on a
/// slow path is discarded when the wait ends.
fn await_drained(flow: &Flow<'_>, mut socket: &TcpStream, shared: &SharedState<'_>) -> Result<()> {
    socket.shutdown(Shutdown::Write).map_err(Error::socket("half-close", || flow.name.clone()))?;
    let begun = monotonic();
    let (mut moved, mut acked) = (begun, tcp_info(socket)?.bytes_acked);
    loop {
        match socket.read(&mut [0]) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if is_wait(&error) => {}
            Err(error) => return Err(Error::socket("end", || flow.name.clone())(error)),
        }
        shared.check()?;
        let (now, info) = (monotonic(), tcp_info(socket)?);
        if info.bytes_acked > acked {
            (moved, acked) = (now, info.bytes_acked);
        }
        let is_left = info.unacked + info.notsent_bytes > 0;
        let is_late = now - begun > GRACE.0 && matches!(flow.load.until, Until::Elapsed(_));
        if is_left && is_late && moved > begun {
            return Ok(sys::socket::set_linger_zero(socket)?);
        }
        // Without this limit, a peer that has stopped reading could be mistaken for a lossy path.
        let patience = if is_left && info.ca_state != LOSS { GRACE } else { LOST_END };
        let waited = Nanos(now - moved);
        if waited > patience {
            let missing = "the other end to read everything".into();
            return Err(Error::Silent { object: flow.name.clone(), missing, waited });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_buffer_only_where_it_is_not_the_bottleneck() {
        for (least, bounded) in [(20, true), (250, true), (251, false), (20_000, false), (u32::MAX, false)] {
            assert_eq!(is_short(least), bounded, "{least} us");
        }
    }
}
