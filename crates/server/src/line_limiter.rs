//! Limits the number of logged events per second.

use std::time::Duration;

const SHOWN: u32 = 100;
const SECOND: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(super) struct LineLimiter {
    since: Duration,
    shown: u32,
}

impl LineLimiter {
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
    fn limits_lines_per_second() {
        let mut limiter = LineLimiter::default();
        let mut shown =
            |millis: u64| (0..1000).filter(|_| limiter.allows(Duration::from_millis(millis))).count();
        assert_eq!([shown(0), shown(999), shown(1000), shown(1500), shown(3000)], [100, 0, 100, 0, 100]);
    }
}
