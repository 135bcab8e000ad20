//! Parses one table row of iperf3, without context: `[  5]   0.00-1.00   sec  3.17 GBytes  27.3 Gbits/sec    0   3.11 MBytes`.
//!
//! The columns are defined in iperf_locale.c. units.c prints at most three digits unless `-f` fixes the unit. Bits have
//! decimal prefixes and bytes have binary prefixes, including in rates.

use units::{Bytes, Nanos};

use crate::imported_test::End;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) id: Id,
    pub(super) tag: Option<Tag>,
    pub(super) start: Nanos,
    pub(super) end: Nanos,
    pub(super) transfer: Figure,
    pub(super) rate: Figure,
    pub(super) rest: Rest,
    pub(super) omitted: bool,
    pub(super) side: Option<Side>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Id {
    Sum,
    Stream(u32),
}

/// `[TX-C]`, `[RX-S]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) sends: bool,
    pub(super) end: End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Sender,
    Receiver,
}

/// A printed number. The exact value is within half a unit of the last digit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Figure {
    pub(super) value: f64,
    pub(super) within: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Rest {
    Nothing,
    /// A TCP sender's retransmitted segments and, in intervals, the congestion window.
    Segments {
        retransmits: u32,
        cwnd: Option<Bytes>,
    },
    Sent {
        datagrams: u64,
    },
    Received {
        jitter: Nanos,
        lost: i64,
        total: u64,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum BracketLine {
    Row(Row),
    /// Starts like a row, but cannot be parsed.
    Mangled,
    Header {
        segments: bool,
        sent: bool,
        received: bool,
    },
    /// `[  5] local ADDRESS port PORT connected to ADDRESS port PORT`, with both ends as `address:port`.
    Connection {
        id: u32,
        local: String,
        remote: String,
    },
    OutOfOrder {
        id: Id,
        count: u64,
    },
    /// A line such as `[  4] Sent 159 datagrams`. Before version 3.2, it follows the only summary row of a
    /// UDP test.
    Sent {
        id: u32,
    },
    /// A row of iperf 2, which has `connected with` or other column headings.
    OlderTool,
    Ethr,
    OlderRow,
}

/// A row may follow a timestamp, possibly in brackets. A line with more brackets than this is not an iperf3 row.
const MOST_BRACKETS: usize = 8;

const OLDER_HEADS: [&str; 5] = ["Write/Err", "NetPwr", "Reads", "Rtry", "Latency avg"];

/// Parses a line with brackets, which may follow a prefix (`--timestamps`). Returns `None` for other lines.
pub(super) fn bracketed(text: &str) -> Option<BracketLine> {
    text.match_indices('[').take(MOST_BRACKETS).find_map(|(at, _)| at_bracket(&text[at..]))
}

fn at_bracket(text: &str) -> Option<BracketLine> {
    let (label, mut rest) = label(text)?;
    if label == "ID" {
        let has = |word: &str| rest.contains(word);
        if OLDER_HEADS.iter().any(|word| has(word)) {
            return Some(BracketLine::OlderTool);
        }
        if has("Protocol") && has("Bits/s") {
            return Some(BracketLine::Ethr);
        }
        return has("Interval").then(|| BracketLine::Header {
            segments: has("Retr"),
            sent: has("Total Datagrams") && !has("Lost/Total"),
            received: has("Lost/Total"),
        });
    }
    let id = match label {
        "SUM" => Id::Sum,
        number => Id::Stream(number.parse().ok()?),
    };
    let mut tag = None;
    if let Some((word, after)) = self::label(rest) {
        tag = Some(self::tag(word)?);
        rest = after;
    }
    let mut words = rest.split_whitespace();
    let first = words.next()?;
    if let (Id::Stream(id), "local") = (id, first) {
        return connection(id, words);
    }
    if let (Id::Stream(id), "Sent") = (id, first) {
        return (words.nth(1) == Some("datagrams")).then_some(BracketLine::Sent { id });
    }
    let (start, end) =
        first.split_once('-').filter(|_| first.starts_with(|sign: char| sign.is_ascii_digit()))?;
    // iperf 2 writes `0.0- 1.0 sec`.
    let end = if end.is_empty() { words.next()? } else { end };
    if words.next()? != "sec" {
        return None;
    }
    // iperf3 prints such times only in lines that report datagrams.
    let counts_alone = words.clone().nth(1) == Some("datagrams");
    if !counts_alone && is_of_older_tool(start, end) {
        return Some(BracketLine::OlderRow);
    }
    let span = seconds(start).zip(seconds(end));
    let row = span.and_then(|(start, end)| numbers(words, id, tag, start, end));
    Some(row.unwrap_or(BracketLine::Mangled))
}

/// iperf3 prints times with two decimals, and iperf 2 with one or four.
fn is_of_older_tool(start: &str, end: &str) -> bool {
    let decimals = |time: &str| {
        let (whole, decimals) = time.split_once('.')?;
        let plain = [whole, decimals].iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
        plain.then_some(decimals.len())
    };
    matches!((decimals(start), decimals(end)), (Some(1), Some(1)) | (Some(4), Some(4)))
}

fn label(text: &str) -> Option<(&str, &str)> {
    let (label, rest) = text.strip_prefix('[')?.split_once(']')?;
    let label = label.trim();
    (!label.is_empty() && label.len() <= 10).then_some((label, rest))
}

fn tag(word: &str) -> Option<Tag> {
    let (way, end) = word.split_once('-')?;
    let sends = match way {
        "TX" => true,
        "RX" => false,
        _ => return None,
    };
    let end = match end {
        "C" => End::Client,
        "S" => End::Server,
        _ => return None,
    };
    Some(Tag { sends, end })
}

fn connection<'a>(id: u32, words: impl Iterator<Item = &'a str>) -> Option<BracketLine> {
    let words: Vec<&str> = words.take(9).collect();
    match words[..] {
        [local, "port", port, "connected", "to", remote, "port", other, ..] => {
            Some(BracketLine::Connection {
                id,
                local: format!("{local}:{port}"),
                remote: format!("{remote}:{other}"),
            })
        }
        [_, "port", _, "connected", "with", ..] => Some(BracketLine::OlderTool),
        _ => None,
    }
}

fn numbers<'a>(
    mut words: impl Iterator<Item = &'a str>,
    id: Id,
    tag: Option<Tag>,
    start: Nanos,
    end: Nanos,
) -> Option<BracketLine> {
    let number = words.next()?;
    let unit = words.next()?;
    if unit == "datagrams" {
        return Some(BracketLine::OutOfOrder { id, count: number.parse().ok()? });
    }
    let transfer = printed(number, prefix(unit, "Bytes", 1024.0)?)?;
    let (number, unit) = (words.next()?, words.next()?);
    let factor = prefix(unit, "bits/sec", 1000.0)
        .or_else(|| prefix(unit, "Bytes/sec", 1024.0).map(|factor| factor * 8.0))?;
    let rate = printed(number, factor)?;
    // Authors annotate rows, e.g. `receiver  <-- slow`.
    let is_remark = |word: &&str| word.starts_with(['<', '←', '#']) || *word == "//";
    let mut left: Vec<&str> = words.take_while(|word| !is_remark(word)).take(8).collect();
    let side = match left.last() {
        Some(&"sender") => Some(Side::Sender),
        Some(&"receiver") => Some(Side::Receiver),
        _ => None,
    };
    left.truncate(left.len() - usize::from(side.is_some()));
    let omitted = left.last() == Some(&"(omitted)");
    left.truncate(left.len() - usize::from(omitted));
    let rest = rest(&left)?;
    (end >= start).then_some(BracketLine::Row(Row {
        id,
        tag,
        start,
        end,
        transfer,
        rate,
        rest,
        omitted,
        side,
    }))
}

fn rest(words: &[&str]) -> Option<Rest> {
    match *words {
        [] => Some(Rest::Nothing),
        [number] => number.parse().ok().map(|datagrams| Rest::Sent { datagrams }),
        [retransmits, number, unit] if unit.ends_with("Bytes") => {
            let cwnd = printed(number, prefix(unit, "Bytes", 1024.0)?)?;
            let cwnd = Some(Bytes(cwnd.value.round() as u64));
            Some(Rest::Segments { retransmits: retransmits.parse().ok()?, cwnd })
        }
        // Without datagrams, the percentage is `(nan%)`. If there is no percentage, the line is truncated.
        [jitter, "ms", counts, share] if share.starts_with('(') && share.ends_with(')') => {
            let jitter = jitter.parse::<f64>().ok().filter(|it| it.is_finite() && *it >= 0.0)?;
            let (lost, total) = counts.split_once('/')?;
            let jitter = Nanos((jitter * 1e6).round() as u64);
            Some(Rest::Received { jitter, lost: lost.parse().ok()?, total: total.parse().ok()? })
        }
        _ => None,
    }
}

fn prefix(unit: &str, base: &str, step: f64) -> Option<f64> {
    match unit.strip_suffix(base)? {
        "" => Some(1.0),
        "K" | "k" => Some(step),
        "M" | "m" => Some(step * step),
        "G" | "g" => Some(step.powi(3)),
        "T" | "t" => Some(step.powi(4)),
        _ => None,
    }
}

fn printed(number: &str, factor: f64) -> Option<Figure> {
    let plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value: f64 = number.parse().ok().filter(|_| plain)?;
    let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let within = 0.5 * 10f64.powi(-(decimals.min(20) as i32)) * factor;
    let value = value * factor;
    // No link or disk is that large, so the log must be damaged.
    (value < 1e18).then_some(Figure { value, within })
}

/// Parses seconds with two decimals, without rounding.
fn seconds(text: &str) -> Option<Nanos> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value: f64 = text.parse().ok().filter(|_| plain)?;
    (value < 1e9).then(|| Nanos((value * 1e6).round() as u64 * 1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(text: &str) -> Row {
        match bracketed(text) {
            Some(BracketLine::Row(row)) => row,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn parses_every_kind_of_row() {
        let segments = |retransmits, cwnd: u64| Rest::Segments { retransmits, cwnd: Some(Bytes(cwnd)) };
        for (text, bytes, bits, rest) in [
            ("[  5]   0.00-1.00   sec  3.17 GBytes  27.3 Gbits/sec", 3_403_761_582.0, 27.3e9, Rest::Nothing),
            (
                "[  5]   0.00-1.00   sec   110 MBytes   924 Mbits/sec    3    321 KBytes       ",
                115_343_360.0,
                924e6,
                segments(3, 328_704),
            ),
            ("[  4]   0.00-1.00   sec  0.00 Bytes  0.00 bits/sec", 0.0, 0.0, Rest::Nothing),
            (
                "[  5]   0.00-1.00   sec   129 KBytes  1.05 Mbits/sec  91  ",
                132_096.0,
                1.05e6,
                Rest::Sent { datagrams: 91 },
            ),
            (
                "[  5]   0.00-1.00   sec   127 KBytes  1.04 Mbits/sec  0.010 ms  -2/90 (nan%)  ",
                130_048.0,
                1.04e6,
                Rest::Received { jitter: Nanos(10_000), lost: -2, total: 90 },
            ),
            (
                "[SUM]   0.00-1.00   sec  1.00 TBytes  2.00 GBytes/sec",
                1_099_511_627_776.0,
                17_179_869_184.0,
                Rest::Nothing,
            ),
            (
                "Sat Nov 21 18:00:15 2026 [  5]   0.00-1.00   sec  1.00 KBytes  8.19 Kbits/sec",
                1024.0,
                8190.0,
                Rest::Nothing,
            ),
            (
                "[18:00:15] [  5]   0.00-1.00   sec  1.00 KBytes  8.19 Kbits/sec",
                1024.0,
                8190.0,
                Rest::Nothing,
            ),
        ] {
            let row = row(text);
            assert!((row.transfer.value - bytes).abs() < 1.0, "{text}: {:?}", row.transfer);
            assert!((row.rate.value - bits).abs() < 1e-3, "{text}: {:?}", row.rate);
            assert_eq!(row.rest, rest, "{text}");
        }
    }

    #[test]
    fn parses_row_tags_and_trailing_words() {
        let row1 = row(
            "[  5][TX-C]   0.00-1.00   sec   110 MBytes   924 Mbits/sec    3    321 KBytes       (omitted)",
        );
        assert_eq!((row1.omitted, row1.side), (true, None));
        assert_eq!(row1.tag, Some(Tag { sends: true, end: End::Client }));
        let row2 = row("[  5]   0.00-10.00  sec  1.06 GBytes   911 Mbits/sec    7  sender");
        assert_eq!((row2.omitted, row2.side), (false, Some(Side::Sender)));
        let row3 = row("[SUM][RX-S]   0.00-10.04  sec  1.06 GBytes   909 Mbits/sec        receiver");
        assert_eq!((row3.id, row3.side), (Id::Sum, Some(Side::Receiver)));
        assert_eq!(row3.tag, Some(Tag { sends: false, end: End::Server }));
    }

    #[test]
    fn rounding_error_is_half_of_the_last_digit() {
        let rate = |text: &str| row(&format!("[  5]   0.00-1.00   sec  1.00 GBytes  {text}")).rate.within;
        for (text, within) in [("27.3 Gbits/sec", 5e7), ("0.03 Gbits/sec", 5e6), ("27300 Mbits/sec", 5e5)] {
            assert!((rate(text) / within - 1.0).abs() < 1e-9, "{text}");
        }
    }

    #[test]
    fn ignores_remarks_after_a_row() {
        let row = row("[  5]   0.00-10.00  sec  1.06 GBytes   911 Mbits/sec        receiver   <-- slow");
        assert_eq!(row.side, Some(Side::Receiver));
    }

    #[test]
    fn rejects_damaged_rows() {
        for text in [
            "[  5]   0.00-1.00   sec  nan GBytes  27.3 Gbits/sec",
            "[  5]   0.00-1.00   sec  3.17 GBytes  inf Gbits/sec",
            "[  5]   0.00-1.00   sec  3.17 GBytes  -1.0 Gbits/sec",
            "[  5]   0.00-1.00   sec  3.17 GBytes  27.3 Gbits/se",
            "[  5]   0.00-1.00   sec  3.17 GBytes",
            "[  5]   5.00-4.00   sec  3.17 GBytes  27.3 Gbits/sec",
            "[  5]   0.00-1.00   sec  3.17 GBytes  27.3 Gbits/sec    0   3.11 MByt",
            "[  5]   0.00-1.00   sec  999999999999999999 TBytes  27.3 Gbits/sec",
            "[  5]   0.00-99999999999   sec  3.17 GBytes  27.3 Gbits/sec",
            "[  5]   0.00-1.00   sec  127 KBytes  1.04 Mbits/sec  nan ms  0/90 (0%)",
        ] {
            assert_eq!(bracketed(text), Some(BracketLine::Mangled), "{text}");
        }
    }

    #[test]
    fn ignores_other_lines() {
        for text in [
            "",
            "[",
            "[]",
            "[x] y",
            "| [a](b) |",
            "[   19.069262] balloon: size",
            "[ 5]",
            "[][][][][][][][][  5]   0.00-1.00   sec  3.17 GBytes  27.3 Gbits/sec",
            "[  5] -1.00-2.00 sec",
        ] {
            assert_eq!(bracketed(text), None, "{text}");
        }
    }

    #[test]
    fn distinguishes_headings_connections_and_late_datagrams() {
        let header = |segments, sent, received| Some(BracketLine::Header { segments, sent, received });
        for (text, expected) in [
            ("[ ID] Interval           Transfer     Bitrate         Retr  Cwnd", header(true, false, false)),
            ("[ ID] Interval           Transfer     Bandwidth", header(false, false, false)),
            (
                "[ ID][Role] Interval           Transfer     Bitrate         Total Datagrams",
                header(false, true, false),
            ),
            (
                "[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams",
                header(false, false, true),
            ),
            (
                "[SUM]  0.0-10.0 sec  12 datagrams received out-of-order",
                Some(BracketLine::OutOfOrder { id: Id::Sum, count: 12 }),
            ),
            (
                "[  3] local 10.0.0.1 port 5001 connected with 10.0.0.2 port 40000",
                Some(BracketLine::OlderTool),
            ),
            ("[  3]  0.0- 1.0 sec  2.25 MBytes  18.9 Mbits/sec", Some(BracketLine::OlderRow)),
            ("[SUM]  0.0-10.1 sec  1.10 GBytes   934 Mbits/sec", Some(BracketLine::OlderRow)),
            ("[  1] 0.0000-10.0130 sec  1.10 GBytes   944 Mbits/sec", Some(BracketLine::OlderRow)),
            (
                "[ ID] Interval       Transfer     Bandwidth       Write/Err  Rtry",
                Some(BracketLine::OlderTool),
            ),
            (
                "[  5] local ::1 port 5201 connected to ::1 port 38166",
                Some(BracketLine::Connection { id: 5, local: "::1:5201".into(), remote: "::1:38166".into() }),
            ),
        ] {
            assert_eq!(bracketed(text), expected, "{text}");
        }
    }
}
