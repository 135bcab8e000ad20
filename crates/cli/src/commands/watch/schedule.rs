//! When measurements are due. The clock is handed in; must not know what is measured.

use samples::UnixMillis;
use units::Nanos;

/// A day, in milliseconds.
pub(super) const DAY: i64 = 24 * 3600 * 1000;

/// How often something is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Timing {
    /// From the beginning of one to that of the next, on average.
    pub(super) every: Nanos,
    /// How far the moment varies, earlier or later: watches of many hosts do not begin at once.
    pub(super) jitter: Nanos,
}

impl Timing {
    /// When the next one is due after one that began at `last`; at once where there is none. Equal seeds draw equal moments.
    pub(super) fn due(self, last: Option<UnixMillis>, seed: u64) -> UnixMillis {
        let Some(last) = last else { return UnixMillis(i64::MIN) };
        let drawn = share(seed ^ last.0.unsigned_abs());
        UnixMillis(self.earliest(Some(last)).0 + (2.0 * drawn * millis(self.jitter) as f64) as i64)
    }

    /// The first moment at which it can be.
    pub(super) fn earliest(self, last: Option<UnixMillis>) -> UnixMillis {
        UnixMillis(last.map_or(i64::MIN, |last| last.0 + millis(self.every) - millis(self.jitter)))
    }

    /// When it is due in the day from `now` on, the jitter left aside.
    pub(super) fn day(self, last: Option<UnixMillis>, now: UnixMillis) -> impl Iterator<Item = UnixMillis> {
        let every = millis(self.every).max(1);
        let first = last.map_or(now.0, |last| (last.0 + every).max(now.0));
        (0..).map(move |number| UnixMillis(first + number * every)).take_while(move |at| at.0 < now.0 + DAY)
    }
}

/// The day of UTC that a moment is in, counted from 1970.
pub(super) fn day_of(at: UnixMillis) -> i64 {
    at.0.div_euclid(DAY)
}

fn millis(time: Nanos) -> i64 {
    i64::try_from(time.0 / 1_000_000).unwrap_or(i64::MAX)
}

/// A share from 0 to 1, by the end of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014).
fn share(seed: u64) -> f64 {
    let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOURLY: Timing = Timing { every: Nanos::from_secs(3600), jitter: Nanos::from_secs(360) };

    #[test]
    fn what_was_never_measured_is_due_at_once() {
        let now = UnixMillis(1_795_600_000_000);
        assert!(HOURLY.due(None, 1) < now && HOURLY.earliest(None) < now);
        assert_eq!(HOURLY.day(None, now).next(), Some(now));
    }

    #[test]
    fn moments_vary_by_the_jitter_and_are_an_hour_apart_on_average() {
        let minutes =
            |seed: u64, last: i64| (HOURLY.due(Some(UnixMillis(last)), seed).0 - last) as f64 / 60_000.0;
        let all: Vec<f64> = (0..1000).map(|run| minutes(7, 1_795_600_000_000 + run * 3_600_000)).collect();
        assert!(all.iter().all(|time| (54.0..66.0).contains(time)), "{all:?}");
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        assert!((mean - 60.0).abs() < 0.5, "{mean}");
        assert!(all.iter().any(|time| *time < 56.0) && all.iter().any(|time| *time > 64.0));
        assert_ne!(minutes(1, 0), minutes(2, 0), "another watch has other moments");
        assert_eq!(minutes(1, 0), minutes(1, 0));
        assert_eq!(HOURLY.earliest(Some(UnixMillis(0))), UnixMillis(54 * 60_000));
    }

    #[test]
    fn a_day_has_so_many_and_one_that_is_overdue_is_made_once() {
        let now = UnixMillis(100 * DAY);
        for (last, first, count) in
            [(0, now.0, 24), (now.0 - 600_000, now.0 + 3_000_000, 24), (now.0, now.0 + 3_600_000, 23)]
        {
            let day: Vec<UnixMillis> = HOURLY.day(Some(UnixMillis(last)), now).collect();
            assert_eq!((day[0].0, day.len()), (first, count), "{last}");
        }
    }

    #[test]
    fn a_day_is_that_of_utc() {
        for (at, day) in [(0, 0), (DAY - 1, 0), (DAY, 1), (-1, -1)] {
            assert_eq!(day_of(UnixMillis(at)), day, "{at}");
        }
    }
}
