//! The receiving end of one connection: reads of the message's size, copying or not, until the sender has
//! finished.

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
        pulse::Pulse,
    },
    workers::{CpuMeter, Shared},
};

/// The receiver may begin this much after the sender, when its machine is busy.
const TOLERANCE: Nanos = Nanos::from_millis(500);
/// Bytes: no less than what a socket's buffer grows to.
const BUFFERFUL: u64 = 8 << 20;

/// All that a receiver needs, made before the time begins.
pub(super) struct Receiver<'a> {
    flow: &'a Flow<'a>,
    socket: &'a TcpStream,
    inlet: Inlet,
}

/// How bytes get out of the kernel.
enum Inlet {
    /// Into this buffer.
    Copied(Vec<u8>),
    /// Nowhere, so many at most.
    Dropped(usize),
}

/// What one read brought.
enum Arrival {
    Bytes(usize),
    End,
    /// Not within the time that a wait may last.
    Nothing,
}

impl<'a> Receiver<'a> {
    pub(super) fn prepare(flow: &'a Flow<'a>, socket: &'a TcpStream) -> Self {
        let length = flow.load.message.0 as usize;
        let inlet = match flow.load.mode {
            // Written once, so that every page is there before the time begins.
            Mode::App => Inlet::Copied(vec![0xA5; length]),
            Mode::Limit => Inlet::Dropped(length),
        };
        Self { flow, socket, inlet }
    }

    /// Reads until the end of the stream.
    pub(super) fn run(mut self, shared: &Shared<'_>) -> Result<(EndSeries, ThreadCpu)> {
        let flow = self.flow;
        let spent = CpuMeter::from_now();
        let mut pulse = Pulse::begin(flow, shared, Tcp::of(self.socket));
        let found = self.receive_all(&mut pulse)?;
        let end = end_of_record(flow.load, pulse.begun(), pulse.latest(), found);
        let thread = spent.until_now(flow.end, ThreadRole::Receive);
        let total = pulse.total();
        let series = pulse.finish(end, flow.facts());
        if matches!(flow.finish, Finish::HalfClose) {
            check_whole(flow, total, thread.elapsed)?;
        }
        Ok((series, thread))
    }

    /// Returns when it found that the stream was over.
    fn receive_all(&mut self, pulse: &mut Pulse<'_, Tcp<'_>>) -> Result<u64> {
        let patience = Patience::of(self.flow, pulse.begun());
        loop {
            let arrival = self.read()?;
            let now = monotonic();
            match arrival {
                Arrival::Bytes(bytes) => {
                    pulse.count(bytes, now)?;
                    patience.check_ends(self.flow, pulse, now)?;
                }
                Arrival::End => return Ok(now),
                Arrival::Nothing => {
                    pulse.count(0, now)?;
                    patience.check(self.flow, pulse, now)?;
                }
            }
            if self.flow.is_told() {
                return self.run_down(pulse, now);
            }
        }
    }

    /// Takes what is still under way. A thread that has to wait for its turn finds it in the socket's buffer,
    /// however late it comes; it then waits for nothing more.
    fn run_down(&mut self, pulse: &mut Pulse<'_, Tcp<'_>>, told: u64) -> Result<u64> {
        sys::socket::set_receive_timeout(self.socket, Some(Duration::from(QUIET)))?;
        let (mut now, before) = (told, pulse.total());
        let mut waits = true;
        while waits || pulse.total() - before < BUFFERFUL {
            if waits && now >= told + RUNDOWN.0 {
                waits = false;
                self.socket.set_nonblocking(true).map_err(Error::socket("end", || self.flow.name.clone()))?;
            }
            match self.read()? {
                Arrival::Bytes(bytes) => {
                    now = monotonic();
                    pulse.count(bytes, now)?;
                }
                Arrival::End | Arrival::Nothing => break,
            }
        }
        Ok(told)
    }

    #[inline]
    fn read(&mut self) -> Result<Arrival> {
        match self.inlet.read(self.socket) {
            Ok(0) => Ok(Arrival::End),
            Ok(bytes) => Ok(Arrival::Bytes(bytes)),
            Err(error) if is_wait(&error) => Ok(Arrival::Nothing),
            Err(error) => Err(Error::socket("receive on", || self.flow.name.clone())(error)),
        }
    }
}

impl Inlet {
    #[inline]
    fn read(&mut self, mut socket: &TcpStream) -> io::Result<usize> {
        match self {
            Self::Copied(buffer) => socket.read(buffer),
            Self::Dropped(most) => recv_truncated(socket, *most),
        }
    }
}

/// A sender whose process was killed ends its stream as one that has finished does.
fn check_whole(flow: &Flow<'_>, total: u64, lasted: Nanos) -> Result<()> {
    let cut = |got: String, asked: String| Err(Error::CutShort { object: flow.name.clone(), got, asked });
    match flow.load.until {
        Until::Sent(_) => {
            let share = flow.share.unwrap_or(0);
            if total < share { cut(Bytes(total).to_string(), Bytes(share).to_string()) } else { Ok(()) }
        }
        Until::Elapsed(time) => {
            let asked = flow.load.warmup + time;
            if lasted + TOLERANCE < asked { cut(lasted.to_string(), asked.to_string()) } else { Ok(()) }
        }
    }
}
