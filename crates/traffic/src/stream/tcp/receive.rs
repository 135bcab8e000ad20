//! The receiving end of a connection, with or without copying.

use std::{
    io::{self, Read},
    net::TcpStream,
    time::Duration,
};

use samples::{ThreadCpu, ThreadRole};
use sys::{clock::monotonic, socket::recv_truncated};
use units::{Bytes, Nanos};
use workload::{EndSeries, Mode, Until};

use super::sample::Tcp;
use crate::{
    error::{Error, Result},
    socket::is_wait,
    stream::{
        QUIET, RUNDOWN,
        flow::{Finish, Flow},
        goal::{Patience, end_of_record},
        interval_sampler::IntervalSampler,
    },
    workers::{CpuMeter, SharedState},
};

const TOLERANCE: Nanos = Nanos::from_millis(500);
const BUFFERFUL: u64 = 8 << 20;

pub(super) struct Receiver<'a> {
    flow: &'a Flow<'a>,
    socket: &'a TcpStream,
    receive_method: ReceiveMethod,
}

enum ReceiveMethod {
    Copied(Vec<u8>),
    Dropped(usize),
}

enum Arrival {
    Bytes(usize),
    End,
    Nothing,
}

impl<'a> Receiver<'a> {
    pub(super) fn prepare(flow: &'a Flow<'a>, socket: &'a TcpStream) -> Self {
        let length = flow.load.message.0 as usize;
        let receive_method = match flow.load.mode {
            Mode::App => ReceiveMethod::Copied(vec![0xA5; length]),
            Mode::Limit => ReceiveMethod::Dropped(length),
        };
        Self { flow, socket, receive_method }
    }

    pub(super) fn run(mut self, shared: &SharedState<'_>) -> Result<(EndSeries, ThreadCpu)> {
        let flow = self.flow;
        let mut sampler = IntervalSampler::new(flow, shared, Tcp::of(self.socket));
        sampler.begin(monotonic());
        let spent = CpuMeter::since(sampler.begun());
        let found = self.receive_all(&mut sampler)?;
        let end = end_of_record(flow.load, sampler.begun(), sampler.latest(), found);
        let thread = spent.until_now(flow.end, ThreadRole::Receive);
        let total = sampler.total();
        let series = sampler.finish(end, flow.facts());
        if matches!(flow.finish, Finish::HalfClose) {
            check_whole(flow, total, Nanos(found - shared.created()))?;
        }
        Ok((series, thread))
    }

    fn receive_all(&mut self, sampler: &mut IntervalSampler<'_, Tcp<'_>>) -> Result<u64> {
        let patience = Patience::of(self.flow, sampler.begun());
        loop {
            let arrival = self.read();
            let now = monotonic();
            let arrival = match arrival {
                // The reset comes from the sender, which discarded data that a slow path did not deliver in time.
                Err(error) if error.is_reset() && patience.has_lasted(now) => Arrival::End,
                other => other?,
            };
            match arrival {
                Arrival::Bytes(bytes) => {
                    sampler.count(bytes, now)?;
                    patience.check_ends(self.flow, sampler, now)?;
                }
                Arrival::End => return Ok(now),
                Arrival::Nothing => {
                    sampler.count(0, now)?;
                    if matches!(self.flow.finish, Finish::HalfClose)
                        && patience.has_lost_its_end(sampler, now)
                    {
                        return Ok(now);
                    }
                    patience.check(self.flow, sampler, now)?;
                }
            }
            if self.flow.is_ended() {
                return self.run_down(sampler, now);
            }
        }
    }

    /// Reads the data in flight. If this thread had to wait for a CPU, the data is already in the socket buffer, so
    /// there is no need to wait for more.
    fn run_down(&mut self, sampler: &mut IntervalSampler<'_, Tcp<'_>>, end: u64) -> Result<u64> {
        sys::socket::set_receive_timeout(self.socket, Some(Duration::from(QUIET)))?;
        let (mut now, before) = (end, sampler.total());
        let mut waits = true;
        while waits || sampler.total() - before < BUFFERFUL {
            if waits && now >= end + RUNDOWN.0 {
                waits = false;
                self.socket.set_nonblocking(true).map_err(Error::socket("end", || self.flow.name.clone()))?;
            }
            match self.read()? {
                Arrival::Bytes(bytes) => {
                    now = monotonic();
                    sampler.count(bytes, now)?;
                }
                Arrival::End | Arrival::Nothing => break,
            }
        }
        Ok(end)
    }

    #[inline]
    fn read(&mut self) -> Result<Arrival> {
        match self.receive_method.read(self.socket) {
            Ok(0) => Ok(Arrival::End),
            Ok(bytes) => Ok(Arrival::Bytes(bytes)),
            Err(error) if is_wait(&error) => Ok(Arrival::Nothing),
            Err(error) => Err(Error::socket("receive on", || self.flow.name.clone())(error)),
        }
    }
}

impl ReceiveMethod {
    #[inline]
    fn read(&mut self, mut socket: &TcpStream) -> io::Result<usize> {
        match self {
            Self::Copied(buffer) => socket.read(buffer),
            Self::Dropped(most) => recv_truncated(socket, *most),
        }
    }
}

/// Detects a killed sender. `lasted` is the longest possible sending time, because this thread may have started after
/// everything had arrived.
fn check_whole(flow: &Flow<'_>, total: u64, lasted: Nanos) -> Result<()> {
    let cut = |got: String, requested: String| {
        Err(Error::CutShort { object: flow.name.clone(), got, asked: requested })
    };
    match flow.load.until {
        Until::Sent(_) => {
            let share = flow.share.unwrap_or(0);
            if total < share { cut(Bytes(total).to_string(), Bytes(share).to_string()) } else { Ok(()) }
        }
        Until::Elapsed(time) => {
            let requested = flow.load.warmup + time;
            if lasted + TOLERANCE < requested {
                cut(lasted.to_string(), requested.to_string())
            } else {
                Ok(())
            }
        }
    }
}
