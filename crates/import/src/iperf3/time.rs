//! iperf3's time formats.

use jiff::fmt::rfc2822;
use samples::UnixMillis;

/// Parses `Sat, 21 Nov 2026 18:00:15 GMT`, as in JSON and with `-V`.
pub(super) fn of_version_line(text: &str) -> Option<UnixMillis> {
    let zoned = rfc2822::parse(text).ok()?;
    Some(UnixMillis(zoned.timestamp().as_millisecond()))
}

/// Converts seconds since 1970. If milliseconds are given, uses them instead.
pub(super) fn of_seconds(seconds: i64, millis: Option<i64>) -> Option<UnixMillis> {
    let millis = millis.filter(|it| *it > 0).or_else(|| seconds.checked_mul(1000))?;
    // Accept times from 2001 to 2128.
    (1_000_000_000_000..5_000_000_000_000).contains(&millis).then_some(UnixMillis(millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_times_and_rejects_other_text() {
        assert_eq!(of_version_line("Sat, 21 Nov 2026 18:00:15 GMT"), Some(UnixMillis(1_795_284_015_000)));
        assert_eq!(of_version_line("yesterday"), None);
    }
}
