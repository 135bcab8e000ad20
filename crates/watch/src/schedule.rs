//! Computes when measurements are due. Callers pass the current time.

use std::{fmt, str::FromStr};

use samples::UnixMillis;
use units::Nanos;

/// In milliseconds.
pub const DAY: i64 = 24 * 3600 * 1000;

/// Delay before a retry: the interval divided by this number, but at most this duration.
const AGAIN: (i64, Nanos) = (10, Nanos::from_secs(3600));

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    pub every: Nanos,
    /// Maximum random shift of a start: earlier or later, or only later if `at` is set. Keeps hosts from starting at
    /// the same time.
    pub jitter: Nanos,
    /// The time of day in UTC. Only used if the interval is a whole number of days.
    pub at: Option<TimeOfDay>,
}

/// Milliseconds since midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeOfDay(i64);

impl FromStr for TimeOfDay {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let time = jiff::civil::Time::strptime("%H:%M", text)
            .map_err(|_| "use a time of day in UTC, e.g. \"02:30\"".to_owned())?;
        Ok(Self((i64::from(time.hour()) * 60 + i64::from(time.minute())) * 60_000))
    }
}

impl Timing {
    /// Returns when the next measurement is due after one that started at `last`. The first one is due immediately.
    /// Deterministic for a given seed.
    pub fn due(self, last: Option<UnixMillis>, seed: u64) -> UnixMillis {
        let Some(last) = last else { return UnixMillis(i64::MIN) };
        let drawn = share(seed ^ last.0.unsigned_abs());
        let either_way = if self.at.is_some() { 1.0 } else { 2.0 };
        UnixMillis(self.earliest(Some(last)).0 + (either_way * drawn * millis(self.jitter) as f64) as i64)
    }

    pub fn earliest(self, last: Option<UnixMillis>) -> UnixMillis {
        let Some(UnixMillis(last)) = last else { return UnixMillis(i64::MIN) };
        UnixMillis(match self.at {
            Some(at) => at.after(last + millis(self.every) - DAY),
            None => last + millis(self.every) - millis(self.jitter),
        })
    }

    pub fn again(self, failed: UnixMillis) -> UnixMillis {
        let (part, most) = AGAIN;
        UnixMillis(failed.0 + (millis(self.every) / part).min(millis(most)))
    }

    /// Returns the due times of the next 24 hours, without jitter.
    pub fn day(self, last: Option<UnixMillis>, now: UnixMillis) -> impl Iterator<Item = UnixMillis> {
        let every = millis(self.every).max(1);
        let usual = match (self.at, last) {
            (Some(at), last) => at.after(last.map_or(now.0, |last| last.0 + every - DAY)),
            (None, Some(last)) => last.0 + every,
            (None, None) => now.0,
        };
        let first = usual.max(now.0);
        (0..).map(move |number| UnixMillis(first + number * every)).take_while(move |at| at.0 < now.0 + DAY)
    }
}

/// Formats e.g. `1 h ± 6 min`, `24 h at 02:30` or `24 h at 02:30 + 10 min`.
impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&span(self.every))?;
        if let Some(TimeOfDay(at)) = self.at {
            write!(f, " at {:02}:{:02}", at / 3_600_000, at / 60_000 % 60)?;
        }
        match (self.jitter, self.at) {
            (Nanos(0), _) => Ok(()),
            (jitter, Some(_)) => write!(f, " + {}", span(jitter)),
            (jitter, None) => write!(f, " ± {}", span(jitter)),
        }
    }
}

fn span(time: Nanos) -> String {
    let seconds = time.0 / 1_000_000_000;
    match seconds {
        0 => time.to_string(),
        _ if seconds.is_multiple_of(3600) => format!("{} h", seconds / 3600),
        _ if seconds.is_multiple_of(60) => format!("{} min", seconds / 60),
        _ => format!("{seconds} s"),
    }
}

impl TimeOfDay {
    fn after(self, moment: i64) -> i64 {
        let of_day = (moment.div_euclid(DAY)) * DAY + self.0;
        if of_day > moment { of_day } else { of_day + DAY }
    }
}

/// Returns the number of UTC days since 1970.
pub fn day_of(at: UnixMillis) -> i64 {
    at.0.div_euclid(DAY)
}

fn millis(time: Nanos) -> i64 {
    i64::try_from(time.0 / 1_000_000).unwrap_or(i64::MAX)
}

/// Returns a pseudo-random number from 0 to 1, using SplitMix64's output function (Steele, Lea & Flood, OOPSLA 2014).
fn share(seed: u64) -> f64 {
    let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOURLY: Timing = Timing { every: Nanos::from_secs(3600), jitter: Nanos::from_secs(360), at: None };

    #[test]
    fn first_measurement_is_due_immediately() {
        let now = UnixMillis(1_795_600_000_000);
        assert!(HOURLY.due(None, 1) < now && HOURLY.earliest(None) < now);
        assert_eq!(HOURLY.day(None, now).next(), Some(now));
    }

    #[test]
    fn due_times_vary_by_jitter_around_interval() {
        let minutes =
            |seed: u64, last: i64| (HOURLY.due(Some(UnixMillis(last)), seed).0 - last) as f64 / 60_000.0;
        let all: Vec<f64> = (0..1000).map(|run| minutes(7, 1_795_600_000_000 + run * 3_600_000)).collect();
        assert!(all.iter().all(|time| (54.0..66.0).contains(time)), "{all:?}");
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        assert!((mean - 60.0).abs() < 0.5, "{mean}");
        assert!(all.iter().any(|time| *time < 56.0) && all.iter().any(|time| *time > 64.0));
        assert_ne!(minutes(1, 0), minutes(2, 0), "another watch has different due times");
        assert_eq!(minutes(1, 0), minutes(1, 0));
        assert_eq!(HOURLY.earliest(Some(UnixMillis(0))), UnixMillis(54 * 60_000));
    }

    #[test]
    fn lists_due_times_of_day_with_overdue_one_once() {
        let now = UnixMillis(100 * DAY);
        for (last, first, count) in
            [(0, now.0, 24), (now.0 - 600_000, now.0 + 3_000_000, 24), (now.0, now.0 + 3_600_000, 23)]
        {
            let day: Vec<UnixMillis> = HOURLY.day(Some(UnixMillis(last)), now).collect();
            assert_eq!((day[0].0, day.len()), (first, count), "{last}");
        }
    }

    #[test]
    fn respects_time_of_day() {
        let hours = |count: i64| count * 3_600_000;
        let at = Some("02:30".parse::<TimeOfDay>().expect("a time"));
        let (jitter, nightly) = (Nanos::from_secs(600), Nanos::from_secs(24 * 3600));
        let timing = |nights: u64| Timing { every: Nanos(nights * nightly.0), jitter, at };
        let night = hours(2) + 1_800_000;
        for (nights, last, due) in [
            (1, night, DAY + night),
            (1, night - 1, night),
            (1, hours(14), DAY + night),
            (2, hours(14), 2 * DAY + night),
            (7, night + 5, 7 * DAY + night),
        ] {
            let first = timing(nights).earliest(Some(UnixMillis(last)));
            assert_eq!(first, UnixMillis(due), "{nights} {last}");
            let drawn = timing(nights).due(Some(UnixMillis(last)), 3).0 - due;
            assert!((0..600_000).contains(&drawn), "not earlier: {drawn}");
        }
        let day = |last: Option<i64>| {
            timing(1).day(last.map(UnixMillis), UnixMillis(hours(14))).collect::<Vec<_>>()
        };
        assert_eq!(day(Some(night)), [UnixMillis(DAY + night)]);
        assert_eq!(day(None), [UnixMillis(DAY + night)]);
        for wrong in ["2", "25:00", "02:30:00", "", "noon"] {
            assert!(wrong.parse::<TimeOfDay>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn days_are_in_utc() {
        for (at, day) in [(0, 0), (DAY - 1, 0), (DAY, 1), (-1, -1)] {
            assert_eq!(day_of(UnixMillis(at)), day, "{at}");
        }
    }

    #[test]
    fn displays_times_in_their_original_unit() {
        let timing = |every: u64, jitter: u64, at: Option<&str>| {
            let at = at.map(|at| at.parse().expect("a time"));
            Timing { every: Nanos::from_secs(every), jitter: Nanos::from_secs(jitter), at }.to_string()
        };
        for (every, jitter, at, text) in [
            (3600, 360, None, "1 h ± 6 min"),
            (90, 0, None, "90 s"),
            (86_400, 0, Some("02:05"), "24 h at 02:05"),
            (86_400, 600, Some("14:30"), "24 h at 14:30 + 10 min"),
        ] {
            assert_eq!(timing(every, jitter, at), text);
        }
    }
}
