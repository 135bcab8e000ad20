//! What a stream's loop does besides moving bytes: a few times a second, never per message.

use std::net::TcpStream;

use load::StreamLoad;
use samples::{EndSeries, SocketFacts};
use sys::{clock::monotonic, socket::tcp_info};
use units::Nanos;

use super::series::Series;
use crate::{
    crew::Shared,
    error::{Error, Result},
    socket::TICK,
    stream::GRACE,
};

/// The time and the bytes of one connection.
pub(super) struct Pulse<'a> {
    shared: &'a Shared<'a>,
    socket: &'a TcpStream,
    name: &'a str,
    receives: bool,
    series: Series,
    /// Until then nothing but counting is to be done.
    wake: u64,
    beat: u64,
    begun: u64,
    total: u64,
    told: u64,
    /// When bytes were last seen to have moved, and how many there were.
    moved: (u64, u64),
}

impl<'a> Pulse<'a> {
    /// The time of the connection begins now.
    pub(super) fn begin(
        shared: &'a Shared<'a>,
        socket: &'a TcpStream,
        name: &'a str,
        settings: &StreamLoad,
        receives: bool,
    ) -> Self {
        let mut series = Series::new(settings);
        let now = monotonic();
        series.begin(now, tcp_info(socket).ok());
        let beat = now + TICK.as_nanos() as u64;
        let wake = beat.min(series.boundary());
        let (total, told, moved) = (0, 0, (now, 0));
        Self { shared, socket, name, receives, series, wake, beat, begun: now, total, told, moved }
    }

    /// When the connection's time began.
    pub(super) const fn begun(&self) -> u64 {
        self.begun
    }

    /// Whether what is measured has lasted for `time`: a thread that was kept waiting over the end of the
    /// warm-up begins to measure late, and must not be measured for less.
    pub(super) fn has_measured(&self, time: Nanos, now: u64) -> bool {
        self.series.measured_from().is_some_and(|from| now >= from + time.0)
    }

    /// Payload until now.
    pub(super) const fn total(&self) -> u64 {
        self.total
    }

    /// Counts what one call has moved, and cuts the interval or tells the others when it is time.
    #[inline]
    pub(super) fn count(&mut self, bytes: usize, now: u64) -> Result<()> {
        self.series.add(bytes as u64);
        self.total += bytes as u64;
        if now < self.wake {
            return Ok(());
        }
        self.awake(now)
    }

    #[cold]
    fn awake(&mut self, now: u64) -> Result<()> {
        if now >= self.series.boundary() {
            self.series.cut(now, tcp_info(self.socket).ok());
        }
        if now >= self.beat {
            self.beat = now + TICK.as_nanos() as u64;
            self.tell();
            if self.total > self.moved.1 {
                self.moved = (now, self.total);
            }
            self.shared.check()?;
        }
        self.wake = self.beat.min(self.series.boundary());
        Ok(())
    }

    /// Fails when nothing has moved for long; for streams without an end in time.
    pub(super) fn check_moving(&self, now: u64) -> Result<()> {
        if now.saturating_sub(self.moved.0) < GRACE.0 || self.total > self.moved.1 {
            return Ok(());
        }
        Err(Error::Silent { object: self.name.into(), missing: "any byte to move".into(), waited: GRACE })
    }

    /// Ends the record, before the connection is closed.
    pub(super) fn finish(mut self, now: u64, facts: SocketFacts) -> EndSeries {
        self.tell();
        EndSeries { intervals: self.series.finish(now, tcp_info(self.socket).ok()), socket: facts, lateness: None }
    }

    fn tell(&mut self) {
        if self.receives {
            self.shared.add_received(self.total - self.told);
            self.told = self.total;
        }
    }
}
