//! Formats UTC times for pages.

use jiff::{Timestamp, tz::TimeZone};
use samples::UnixMillis;

/// Returns e.g. `2026-11-21 13:00`.
pub(crate) fn minute(at: UnixMillis) -> String {
    written(at, "%Y-%m-%d %H:%M")
}

/// Returns e.g. `2026-11-21`.
pub(crate) fn day(at: UnixMillis) -> String {
    written(at, "%Y-%m-%d")
}

/// Returns e.g. `13:00:15`.
pub(crate) fn second_of_day(at: UnixMillis) -> String {
    written(at, "%H:%M:%S")
}

pub(crate) fn now() -> UnixMillis {
    UnixMillis(Timestamp::now().as_millisecond())
}

fn written(at: UnixMillis, format: &str) -> String {
    // Times from invalid imported logs may be outside the calendar's range.
    Timestamp::from_millisecond(at.0)
        .map(|time| time.to_zoned(TimeZone::UTC).strftime(format).to_string())
        .unwrap_or_default()
}
