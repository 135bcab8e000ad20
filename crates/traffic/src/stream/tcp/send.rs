//! The sending end of one connection: messages until the time is over or all is sent, at a rate or as fast as
//! it goes.

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

/// The send buffer of a spliced stream over a path of at most [`NEAR`], unless the load has a window: the kernel
/// doubles it. Left to grow (to 4 MiB), references to pages outran the caches and the receiver, and the rate had
/// two humps: 11 to 23 Gbit/s or 90 to 160 over the same veth pair.
const BOUND: usize = 512 << 10;
/// A buffer of 1 MiB carries 33 Gbit/s and more over a round trip of this; over a longer one it would be the
/// limit itself and stays the kernel's.
const NEAR: Nanos = Nanos(250_000);

/// All that a sender needs, made before the time begins.
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

    /// Sends until the end, then waits until the peer has read everything, unless that is the protocol's affair.
    pub(super) fn run(mut self, shared: &SharedState<'_>) -> Result<(EndSeries, ThreadCpu)> {
        let Self { flow, socket, .. } = self;
        let mut sampler = IntervalSampler::new(flow, shared, Tcp::of(socket));
        sampler.begin(monotonic());
        let spent = CpuMeter::since(sampler.begun());
        self.send_all(&mut sampler)?;
        let thread = spent.until_now(flow.end, ThreadRole::Send);
        let facts = SocketFacts { zero_copy: self.transmit_method.is_zero_copy(), ..flow.facts() };
        let series = sampler.finish(monotonic(), facts);
        // The socket waits again from here on.
        drop(self.transmit_method);
        if matches!(flow.finish, Finish::HalfClose) {
            await_drained(flow, socket, shared)?;
        }
        let (lateness, skipped) = self.pace.map(Pace::kept).unzip();
        Ok((EndSeries { lateness, skipped, ..series }, thread))
    }

    fn send_all(&mut self, sampler: &mut IntervalSampler<'_, Tcp<'_>>) -> Result<()> {
        let message = self.flow.load.message.0;
        // All were let go at once, and end at once, whenever their threads came to run.
        let goal = Goal::of(self.flow, sampler.begun());
        let mut now = monotonic();
        if let Some(pace) = &mut self.pace {
            pace.begin(now);
        }
        // Of the message under way.
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

    /// 0 when the socket took nothing for as long as a wait may last.
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

/// How bytes get into the kernel.
///
/// References to pages won over writes of 1 MiB wherever they were compared. Over a veth pair (MTU 1500, cubic),
/// to a receiver that drops inside the kernel, the two threads together took 0.06 to 0.08 CPU-s a GB instead of
/// 0.09 to 0.12 with both ends on one CPU, and 0.16 to 0.20 instead of 0.23 to 0.29 on two.
enum TransmitMethod<'a> {
    /// By writes of this message.
    Written(Vec<u8>),
    /// By references to constant pages.
    Spliced(Box<ZeroCopySender<'a>>),
}

impl<'a> TransmitMethod<'a> {
    /// Whatever the mode wants and the kernel has: the record tells which.
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

    /// The message is written once, so that every page is there before the time begins.
    fn written(length: usize) -> Self {
        Self::Written(vec![0xA5; length])
    }

    #[inline]
    fn send(&mut self, mut socket: &TcpStream, upto: usize) -> io::Result<usize> {
        match self {
            Self::Written(message) => socket.write(&message[..upto]),
            Self::Spliced(sender) => match sender.send(upto) {
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                    // This kind of socket cannot be spliced into.
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

/// By the least round trip until now: that of the handshake at least.
fn is_near(socket: &TcpStream) -> bool {
    tcp_info(socket).is_ok_and(|info| is_short(info.min_rtt_us))
}

/// The kernel's microseconds; all ones before the first round trip.
const fn is_short(least_rtt: u32) -> bool {
    least_rtt as u64 * 1000 <= NEAR.0
}

/// How long nothing may come back where the path loses segments: the end of either side is sent again after 0.2,
/// 0.6, 1.4, 3, 6.2, 12.6 and 25.4 s, and later where round trips are long.
const LOST_END: Nanos = Nanos::from_secs(30);
/// The state of congestion control after a time-out.
const LOSS: u8 = 4;

/// Half-closes, and waits for the peer to close: it does so once it has read the last byte. What a slow path still
/// carries when the wait is over is given up where a time was asked for: it came too late to be counted.
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
        // A peer that does not read is no path that loses.
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
    fn a_buffer_is_bounded_only_where_it_is_no_limit_itself() {
        for (least, bounded) in [(20, true), (250, true), (251, false), (20_000, false), (u32::MAX, false)] {
            assert_eq!(is_short(least), bounded, "{least} us");
        }
    }
}
