//! Parses a single iperf3 line that starts with a label in brackets:
//! `[  5]   0.00-1.00   sec  3.17 GBytes 27.3 Gbits/sec    0   3.11 MBytes`. iperf_locale.c defines the columns.

use super::{
    figure::seconds,
    row::{Id, Row, Tag},
};
use crate::imported_test::End;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum BracketLine {
    Row(Row),
    /// A row that cannot be parsed.
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
    /// Late datagrams in a summary.
    OutOfOrder {
        id: Id,
        count: u64,
    },
    /// `[  4] Sent 159 datagrams`. Before 3.2, this follows the only summary row of a UDP test.
    Sent {
        id: u32,
        datagrams: u64,
    },
    /// iperf 2: `connected with`, or different column headings.
    OlderTool,
    Ethr,
    OlderRow,
}

/// Maximum number of brackets in an iperf3 row, including those of a timestamp.
const MOST_BRACKETS: usize = 8;

const OLDER_HEADS: [&str; 5] = ["Write/Err", "NetPwr", "Reads", "Rtry", "Latency avg"];

pub(super) fn bracketed(text: &str) -> Option<BracketLine> {
    text.match_indices('[').take(MOST_BRACKETS).find_map(|(at, _)| at_bracket(&text[at..]))
}

fn at_bracket(text: &str) -> Option<BracketLine> {
    let (label, rest) = label(text)?;
    let id = match label {
        "ID" => return heading(rest),
        "SUM" => Id::Sum,
        number => Id::Stream(number.parse().ok()?),
    };
    let (tag, rest) = match self::label(rest) {
        Some((word, after)) => (Some(tag(word)?), after),
        None => (None, rest),
    };
    let mut words = rest.split_whitespace();
    match (id, words.next()?) {
        (Id::Stream(id), "local") => connection(id, words),
        (Id::Stream(id), "Sent") => {
            let datagrams = words.next()?.parse().ok()?;
            (words.next() == Some("datagrams")).then_some(BracketLine::Sent { id, datagrams })
        }
        (_, first) => interval(id, tag, first, words),
    }
}

fn heading(text: &str) -> Option<BracketLine> {
    let has = |word: &str| text.contains(word);
    if OLDER_HEADS.iter().any(|word| has(word)) {
        return Some(BracketLine::OlderTool);
    }
    if has("Protocol") && has("Bits/s") {
        return Some(BracketLine::Ethr);
    }
    has("Interval").then(|| BracketLine::Header {
        segments: has("Retr"),
        sent: has("Total Datagrams") && !has("Lost/Total"),
        received: has("Lost/Total"),
    })
}

fn interval<'a>(
    id: Id,
    tag: Option<Tag>,
    first: &'a str,
    mut words: impl Iterator<Item = &'a str> + Clone,
) -> Option<BracketLine> {
    let (start, end) =
        first.split_once('-').filter(|_| first.starts_with(|sign: char| sign.is_ascii_digit()))?;
    // iperf 2 writes `0.0- 1.0 sec`.
    let end = if end.is_empty() { words.next()? } else { end };
    if words.next()? != "sec" {
        return None;
    }
    let mut numbers = words.clone();
    if let (Some(count), Some("datagrams")) = (numbers.next(), numbers.next()) {
        // iperf3 prints times with one decimal only in these lines.
        let late = || Some(BracketLine::OutOfOrder { id, count: count.parse().ok()? });
        return Some(seconds(start).zip(seconds(end)).and_then(|_| late()).unwrap_or(BracketLine::Mangled));
    }
    if is_of_older_tool(start, end) {
        return Some(BracketLine::OlderRow);
    }
    let span = seconds(start).zip(seconds(end));
    let row = span.and_then(|(start, end)| Row::parse(id, tag, start, end, words));
    Some(row.map_or(BracketLine::Mangled, BracketLine::Row))
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

#[cfg(test)]
mod tests {
    use units::{Bytes, Nanos};

    use super::*;
    use crate::iperf3::row::{Rest, Side};

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
