//! Removes prefixes that other programs add to log lines: quote marks, timestamps, and container or channel names.
//!
//! The formats get each line both with and without its prefix.

const MOST: usize = 8;
const LONGEST: usize = 64;
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

pub(crate) fn unquoted(text: &str) -> &str {
    let mut left = text;
    while let Some(after) = left.trim_start().strip_prefix('>') {
        left = after.strip_prefix(' ').unwrap_or(after);
    }
    left
}

pub(crate) fn stripped(text: &str) -> Option<&str> {
    let mut left = text;
    for _ in 0..MOST {
        let Some(after) =
            [bracketed, date_and_time, source, container].iter().find_map(|strip| strip(left.trim_start()))
        else {
            break;
        };
        left = after.strip_prefix([' ', '\t']).unwrap_or(after);
        left = unquoted(left);
    }
    (left.len() < text.len()).then_some(left)
}

/// Removes `[OUTPUT] `, `[18:00:15] ` or `[pod/client-x/iperf3] `, but not iperf3's `[  5]`, `[SUM]`, `[ ID]` or
/// `[TX-C]`.
fn bracketed(text: &str) -> Option<&str> {
    let (label, after) = text.strip_prefix('[')?.split_once(']')?;
    let own = matches!(label.trim(), "ID" | "SUM") || label.starts_with("TX-") || label.starts_with("RX-");
    let spaced = after.is_empty() || after.starts_with([' ', '\t']);
    let named = label.starts_with(|sign: char| sign.is_ascii_alphabetic())
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./:#@".contains(&byte));
    let timed = || date_and_time(label).is_some_and(|rest| rest.trim().is_empty());
    (!own && spaced && (2..=LONGEST).contains(&label.len()) && (named || timed())).then_some(after)
}

/// Removes a date and time: `2025-04-02 01:30:50 `, `2025-04-02T01:30:50.123Z `, `18:00:15 `, `Sat Nov 21 18:00:15
/// 2026 ` or `Nov 21 18:00:15 `.
fn date_and_time(text: &str) -> Option<&str> {
    let mut words = Words(text);
    let mut word = words.next()?;
    if is_date_time(word) || is_time(word) {
        return Some(words.0);
    }
    if is_date(word) {
        let after_date = words.0;
        return Some(if words.next().is_some_and(is_time) { words.0 } else { after_date });
    }
    if DAYS.contains(&word.trim_end_matches(',')) {
        word = words.next()?;
    }
    let day = words.next()?.trim_end_matches(',');
    let dated = MONTHS.contains(&word) && day.len() <= 2 && all_digits(day);
    if !dated || !words.next().is_some_and(is_time) {
        return None;
    }
    let after_time = words.0;
    Some(if words.next().is_some_and(|year| year.len() == 4 && all_digits(year)) {
        words.0
    } else {
        after_time
    })
}

/// Removes `host iperf3[4711]: ` or `iperf3[4711]: `, as printed by the system journal.
fn source(text: &str) -> Option<&str> {
    let mut words = Words(text);
    let first = words.next()?;
    let is_source = |word: &str| {
        word.strip_suffix("]:").and_then(|word| word.split_once('[')).is_some_and(|(_, id)| all_digits(id))
    };
    (is_source(first) || words.next().is_some_and(is_source)).then_some(words.0)
}

/// Removes `client-1  | `, as printed by docker compose.
fn container(text: &str) -> Option<&str> {
    let (name, after) = text.split_once('|')?;
    let name = name.trim_end();
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        && name.contains(|sign: char| sign.is_ascii_alphabetic());
    (plain && (2..=LONGEST).contains(&name.len()) && !after.contains('|')).then_some(after)
}

fn is_date_time(word: &str) -> bool {
    word.split_once(['T', '_']).is_some_and(|(date, time)| is_date(date) && is_time(time))
}

/// Matches `2025-04-02` and `2025/04/02`.
fn is_date(word: &str) -> bool {
    let parts: Vec<&str> = word.trim_end_matches(',').split(['-', '/']).collect();
    matches!(parts[..], [year, month, day] if year.len() == 4 && month.len() == 2 && day.len() == 2)
        && parts.iter().all(|part| all_digits(part))
}

/// Matches `01:30:50`, optionally with a fraction, a time zone, and a trailing colon or comma.
fn is_time(word: &str) -> bool {
    let clock = word.trim_end_matches([':', ',']);
    let Some((hour, rest)) = clock.split_once(':') else { return false };
    let Some((minute, seconds)) = rest.split_once(':') else { return false };
    let two = |part: &str| part.len() == 2 && all_digits(part);
    two(hour)
        && two(minute)
        && seconds.get(..2).is_some_and(two)
        && seconds[2..].bytes().all(|byte| byte.is_ascii_digit() || b".,Z+-:".contains(&byte))
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

struct Words<'a>(&'a str);

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let text = self.0.trim_start();
        let end = text.find([' ', '\t']).unwrap_or(text.len());
        let word = text.get(..end).filter(|word| !word.is_empty())?;
        self.0 = &text[end..];
        Some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_prefixes_of_log_lines() {
        for prefix in [
            "[OUTPUT] ",
            "[pod/client-abc/iperf3] ",
            "2025-04-02 01:30:50 ",
            "2025/04/02 01:30:50.123456 ",
            "2025-04-02T01:30:50.123456Z ",
            "18:00:15 ",
            "[18:00:15] ",
            "[2025-04-02 01:30:50,123] ",
            "Sat Nov 21 18:00:15 2026 ",
            "Nov  1 18:00:15 host sockperf[4711]: ",
            "client-1  | ",
            "client-1  | 2025-04-02T01:30:50Z > > ",
        ] {
            let line = "sockperf: ====> avg-latency=74.383";
            assert_eq!(stripped(&format!("{prefix}{line}")), Some(line), "{prefix}");
        }
        assert_eq!(unquoted("> > >text"), "text");
        assert_eq!(unquoted("> {"), "{");
    }

    #[test]
    fn leaves_other_lines_unchanged() {
        for text in [
            "",
            "[  5]   0.00-1.00   sec  3.17 GBytes",
            "[SUM]   0.00-1.00   sec",
            "[ ID] Interval",
            "131072  16384  16384    10.03     915.55",
            "| a | b |",
            "a | b | c",
            "1..3 | % { iperf3.exe -c a }",
            "[link](to)",
            "[x] done",
            "18:00 is not a time",
            "[   19.069262] balloon: size",
        ] {
            assert_eq!(stripped(text), None, "{text}");
        }
    }
}
