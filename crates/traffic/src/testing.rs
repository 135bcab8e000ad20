//! Helpers for this crate's tests: addresses, and an observer that waits for the first byte.

use std::{
    net::{IpAddr, Ipv4Addr},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use units::Bytes;

use crate::{Observer, Progress};

pub(crate) const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// Timing tolerance on a busy machine, in nanoseconds.
pub(crate) const BUSY: u64 = 200_000_000;
pub(crate) const TOKEN: u64 = 0xFEED_0000_0000_0042;

#[derive(Debug, Default)]
pub(crate) struct Moves(AtomicBool);

impl Observer for Moves {
    fn progress(&self, progress: Progress) {
        let moves = progress.sent.max(progress.received) > Bytes(0) || progress.round_trips > 0;
        self.0.fetch_or(moves, Ordering::Relaxed);
    }
}

impl Moves {
    pub(crate) fn wait(&self) {
        (0..2000).take_while(|_| !self.0.load(Ordering::Relaxed)).for_each(|_| {
            thread::sleep(Duration::from_millis(10));
        });
    }
}
