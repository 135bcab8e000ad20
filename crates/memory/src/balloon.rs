//! Resizes a guest and waits for completion, through the interface that all methods implement.

use std::{
    thread,
    time::{Duration, Instant},
};

use units::{Bytes, Nanos};
use workload::BalloonInterval;

use crate::error::MemoryError;

/// The shortest and longest time between polls. Each poll costs QEMU CPU time: about 80 system calls.
const LOOKS: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(50)];
/// Until some memory has moved, the polling interval is the elapsed time divided by this.
const RESOLUTION: u32 = 30;
const PATIENCE: Duration = Duration::from_secs(30);
const INTERVALS: u32 = 20;

pub trait GuestAgent {
    /// Returns the guest-physical addresses of 2 MiB blocks.
    fn take(&mut self, memory: Bytes) -> Result<Vec<u64>, MemoryError>;
    fn give_back(&mut self, memory: Bytes) -> Result<(), MemoryError>;
    fn glance(&mut self, moved: Bytes, since: Duration) -> Result<(), MemoryError>;
}

pub trait Balloon: Send {
    fn ask_for(&mut self, taken: Bytes) -> Result<(), MemoryError>;

    fn taken(&mut self) -> Result<Bytes, MemoryError>;

    fn step(&mut self, guest: &mut dyn GuestAgent) -> Result<bool, MemoryError> {
        let _ = guest;
        Ok(false)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resize {
    pub moved: Bytes,
    pub first: Nanos,
    pub elapsed: Nanos,
    /// The same amount of memory moved in each interval. A fast resize has fewer intervals than a slow one.
    pub intervals: Vec<BalloonInterval>,
}

/// Waits for completion. Fails if progress stops or the guest returns invalid blocks.
pub fn resize(
    balloon: &mut dyn Balloon,
    guest: &mut dyn GuestAgent,
    taken: Bytes,
) -> Result<Resize, MemoryError> {
    let before = balloon.taken()?;
    let asked = Bytes(before.0.abs_diff(taken.0));
    let begun = Instant::now();
    balloon.ask_for(taken)?;
    let (mut done, mut last_change) = (Resize::default(), begun);
    loop {
        let went = balloon.step(guest)?;
        let moved = Bytes(balloon.taken()?.0.abs_diff(before.0));
        let now = Instant::now();
        let since = now - begun;
        if moved > done.moved {
            if done.moved == Bytes(0) {
                done.first = since.into();
            }
            done.note(moved, since.into(), asked);
            last_change = now;
        }
        if moved >= asked {
            return Ok(done);
        }
        if now - last_change > PATIENCE {
            return Err(MemoryError::Stuck { moved, asked, seconds: PATIENCE.as_secs() });
        }
        guest.glance(moved, since)?;
        if !went {
            thread::sleep(done.next_look(since, asked));
        }
    }
}

impl Resize {
    /// Returns half of the estimated remaining time. This finds the end precisely with few polls.
    fn next_look(&self, since: Duration, asked: Bytes) -> Duration {
        let left = asked.0.saturating_sub(self.moved.0) as f64 / self.moved.0.max(1) as f64;
        let wait =
            if self.moved == Bytes(0) { since / RESOLUTION } else { since.mul_f64(left.min(1e3) / 2.0) };
        wait.clamp(LOOKS[0], LOOKS[1])
    }

    fn note(&mut self, moved: Bytes, at: Nanos, asked: Bytes) {
        (self.moved, self.elapsed) = (moved, at);
        let start = self.intervals.last().map_or(Nanos(0), |before| before.end);
        let noted: u64 = self.intervals.iter().map(|interval| interval.moved.0).sum();
        let step = asked.0 / u64::from(INTERVALS);
        if moved.0 - noted >= step.max(1) || moved >= asked {
            self.intervals.push(BalloonInterval { start, end: at, moved: Bytes(moved.0 - noted) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    struct SteppingBalloon {
        is: u64,
        wanted: u64,
        step: u64,
    }

    impl Balloon for SteppingBalloon {
        fn ask_for(&mut self, taken: Bytes) -> Result<(), MemoryError> {
            self.wanted = taken.0;
            Ok(())
        }

        fn taken(&mut self) -> Result<Bytes, MemoryError> {
            Ok(Bytes(self.is))
        }

        fn step(&mut self, _: &mut dyn GuestAgent) -> Result<bool, MemoryError> {
            let left = self.wanted.abs_diff(self.is).min(self.step);
            self.is = if self.wanted > self.is { self.is + left } else { self.is - left };
            Ok(left > 0)
        }
    }

    struct SilentGuest(u32);

    impl GuestAgent for SilentGuest {
        fn take(&mut self, _: Bytes) -> Result<Vec<u64>, MemoryError> {
            Ok(Vec::new())
        }

        fn give_back(&mut self, _: Bytes) -> Result<(), MemoryError> {
            Ok(())
        }

        fn glance(&mut self, _: Bytes, _: Duration) -> Result<(), MemoryError> {
            self.0 = self.0.checked_sub(1).ok_or(MemoryError::Interrupted)?;
            Ok(())
        }
    }

    #[test]
    fn moves_all_memory_in_both_directions() {
        let mut balloon = SteppingBalloon { is: 0, wanted: 0, step: 3 * MIB };
        for taken in [100 * MIB, 20 * MIB, 0] {
            let before = balloon.is;
            let moved = resize(&mut balloon, &mut SilentGuest(1000), Bytes(taken)).expect("it moves");
            assert_eq!((moved.moved.0, balloon.is), (before.abs_diff(taken), taken));
            assert_eq!(moved.intervals.iter().map(|interval| interval.moved.0).sum::<u64>(), moved.moved.0);
            assert!(moved.intervals.len() <= 21 && moved.first <= moved.elapsed, "{moved:?}");
            assert!(moved.intervals.windows(2).all(|pair| pair[0].end == pair[1].start), "{moved:?}");
        }
    }

    #[test]
    fn interrupt_ends_stuck_resize() {
        let mut balloon = SteppingBalloon { is: 0, wanted: 0, step: 0 };
        let ended = resize(&mut balloon, &mut SilentGuest(3), Bytes(MIB)).expect_err("interrupted");
        assert!(matches!(ended, MemoryError::Interrupted), "{ended}");
    }
}
