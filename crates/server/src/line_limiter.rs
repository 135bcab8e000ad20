//! How many events are shown: all, but of many at once only some. Time is handed in.

use std::time::Duration;

/// Lines that are shown within one second; further ones are counted.
const SHOWN: u32 = 100;
const SECOND: Duration = Duration::from_secs(1);

/// Counts within the present second.
#[derive(Debug, Default)]
pub(super) struct LineLimiter {
    since: Duration,
    shown: u32,
}

impl LineLimiter {
    /// Whether one more is shown at this time (since any start).
    pub(super) fn allows(&mut self, now: Duration) -> bool {
        if now.saturating_sub(self.since) >= SECOND {
            *self = Self { since: now, shown: 0 };
        }
        self.shown = self.shown.saturating_add(1);
        self.shown <= SHOWN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_at_once_some_are_shown_each_second() {
        let mut limiter = LineLimiter::default();
        let mut shown =
            |millis: u64| (0..1000).filter(|_| limiter.allows(Duration::from_millis(millis))).count();
        assert_eq!([shown(0), shown(999), shown(1000), shown(1500), shown(3000)], [100, 0, 100, 0, 100]);
    }
}
