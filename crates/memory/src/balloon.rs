//! What every method does, and a change of size from its request to its end.

use std::{
    thread,
    time::{Duration, Instant},
};

use units::{Bytes, Nanos};
use workload::BalloonInterval;

use crate::error::MemoryError;

/// Between two looks at least and at most: QEMU takes some 80 system calls for a look, which are counted with its own.
const LOOKS: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(50)];
/// Until something has moved a look is worth so small a part of the time so far.
const RESOLUTION: u32 = 30;
/// How long nothing may move, on a machine that has other work.
const PATIENCE: Duration = Duration::from_secs(30);
/// How many intervals are kept.
const INTERVALS: u32 = 20;

/// The agent in the guest, as far as a method needs one.
pub trait GuestAgent {
    /// Takes up to so much memory out of the guest's use; where each block of 2 MiB begins in its physical memory.
    ///
    /// # Errors
    /// Why it cannot.
    fn take(&mut self, memory: Bytes) -> Result<Vec<u64>, MemoryError>;
    /// Gives so much of it back, what was taken last first.
    ///
    /// # Errors
    /// Why it cannot.
    fn give_back(&mut self, memory: Bytes) -> Result<(), MemoryError>;
    /// Looks whether it is to end; what has moved meanwhile.
    ///
    /// # Errors
    /// When the user asked for the end.
    fn glance(&mut self, moved: Bytes, since: Duration) -> Result<(), MemoryError>;
}

/// A way to take memory from a machine.
pub trait Balloon: Send {
    /// Asks that so much of the machine's memory be taken, of all that it was started with.
    ///
    /// # Errors
    /// When QEMU does not answer, or refuses.
    fn ask_for(&mut self, taken: Bytes) -> Result<(), MemoryError>;

    /// How much is taken.
    ///
    /// # Errors
    /// When QEMU does not answer.
    fn taken(&mut self) -> Result<Bytes, MemoryError>;

    /// Goes a step of what was asked for, where it does not go by itself; whether it went one.
    ///
    /// # Errors
    /// When the guest does not answer, or hands over what is not its own.
    fn step(&mut self, guest: &mut dyn GuestAgent) -> Result<bool, MemoryError> {
        let _ = guest;
        Ok(false)
    }
}

/// A change of size.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resize {
    pub moved: Bytes,
    /// From the request until the first of it was seen.
    pub first: Nanos,
    /// From the request to the last of it.
    pub elapsed: Nanos,
    /// Of equal parts of it; fewer where it went fast.
    pub intervals: Vec<BalloonInterval>,
}

/// Changes what is taken of a machine from what it is to `taken`, and waits for it.
///
/// # Errors
/// When QEMU or the guest does not answer, the guest hands over what is not its own, or nothing moves for long.
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
    /// How long to wait for the next look: half of what is left at the rate so far, so that the end is met closely by few looks.
    fn next_look(&self, since: Duration, asked: Bytes) -> Duration {
        let left = asked.0.saturating_sub(self.moved.0) as f64 / self.moved.0.max(1) as f64;
        let wait =
            if self.moved == Bytes(0) { since / RESOLUTION } else { since.mul_f64(left.min(1e3) / 2.0) };
        wait.clamp(LOOKS[0], LOOKS[1])
    }

    /// So much has moved by then; an interval ends where another part of all has.
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

    /// A balloon that moves so much from look to look, up to a limit.
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
    fn all_of_it_is_moved_both_ways_and_its_intervals_add_up() {
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
    fn the_users_wish_ends_one_that_does_not_move() {
        let mut balloon = SteppingBalloon { is: 0, wanted: 0, step: 0 };
        let ended = resize(&mut balloon, &mut SilentGuest(3), Bytes(MIB)).expect_err("interrupted");
        assert!(matches!(ended, MemoryError::Interrupted), "{ended}");
    }
}
