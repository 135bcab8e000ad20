//! Progress lines for the stream workload, per connection and for all connections. A line combines several samples.

use std::collections::BTreeMap;

use ::workload::{DatagramSample, Direction, Interval, TcpSample};
use traffic::FlowId;
use units::{Bytes, Nanos, Share};

#[derive(Debug)]
pub(crate) struct StreamLines {
    every: Nanos,
    connections: usize,
    open: BTreeMap<Key, Interval>,
    /// The finished intervals by number. Each is printed after all connections have finished it.
    whole: BTreeMap<u64, BTreeMap<Key, Interval>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    direction: Direction,
    sends: bool,
    id: u32,
}

impl StreamLines {
    /// An interval of 0 disables the lines.
    pub(crate) fn new(every: Nanos, connections: u32) -> Self {
        Self { every, connections: connections as usize, open: BTreeMap::new(), whole: BTreeMap::new() }
    }

    pub(crate) fn take(&mut self, flow: FlowId, interval: &Interval) -> Vec<String> {
        if self.every.0 == 0 {
            return Vec::new();
        }
        let key = Key { direction: flow.direction, sends: flow.sends, id: flow.id };
        // Never merge warm-up samples with measured ones.
        let before = self.open.remove(&key);
        let (cut, before) = match before {
            Some(before) if before.warmup != interval.warmup => (Some(before), None),
            before => (None, before),
        };
        let mut lines = cut.map(|cut| self.close(key, cut)).unwrap_or_default();
        let grown = before.map_or(*interval, |before| before.and(interval));
        if self.number(grown.start, interval) < self.number(grown.end, interval) {
            lines.extend(self.close(key, grown));
        } else {
            let _ = self.open.insert(key, grown);
        }
        lines
    }

    pub(crate) fn rest(&mut self) -> Vec<String> {
        let open = std::mem::take(&mut self.open);
        let mut printed: Vec<String> =
            open.into_iter().flat_map(|(key, left)| self.close(key, left)).collect();
        printed.extend(std::mem::take(&mut self.whole).into_values().flat_map(|rows| lines(&rows)));
        printed
    }

    /// Adds half a sample's length to the time, because the sample's times may be slightly off.
    fn number(&self, at: Nanos, sample: &Interval) -> u64 {
        (at.0 + (sample.end - sample.start).0 / 2) / self.every.0
    }

    fn close(&mut self, key: Key, interval: Interval) -> Vec<String> {
        // Use the interval's middle, because its start and end may be slightly off. Warm-up lines come first.
        let middle = (interval.start.0 + interval.end.0) / 2;
        let number = middle / self.every.0 * 2 + u64::from(!interval.warmup);
        let rows = self.whole.entry(number).or_default();
        let row = rows.remove(&key).map_or(interval, |before| before.and(&interval));
        let _ = rows.insert(key, row);
        // Do not wait for a connection that has ended or is more than one line behind.
        let due = if rows.len() == self.connections { number + 1 } else { number };
        let later = self.whole.split_off(&due);
        std::mem::replace(&mut self.whole, later).into_values().flat_map(|rows| lines(&rows)).collect()
    }
}

fn lines(rows: &BTreeMap<Key, Interval>) -> Vec<String> {
    let mut text: Vec<String> = Vec::with_capacity(rows.len() + 2);
    for direction in [Direction::Forward, Direction::Reverse] {
        let of: Vec<_> = rows.iter().filter(|(key, _)| key.direction == direction).collect();
        let several = of.len() > 1;
        text.extend(of.iter().map(|(key, row)| line(several.then_some(key.id), key.sends, row)));
        if several {
            text.extend(sum(&of));
        }
    }
    text
}

fn line(id: Option<u32>, sends: bool, row: &Interval) -> String {
    let name = id.map_or_else(String::new, |id| format!("#{id} "));
    let facts = match (&row.tcp, &row.datagrams) {
        (Some(tcp), _) if sends => format!("{}  cwnd {}  rtt {}", again(tcp), tcp.cwnd, tcp.rtt),
        (_, Some(datagrams)) => counted(datagrams, sends),
        _ => String::new(),
    };
    laid_out(row, &name, sends, &facts)
}

fn sum(rows: &[(&Key, &Interval)]) -> Option<String> {
    let ((key, first), _) = rows.split_first()?;
    let bytes: Bytes = rows.iter().map(|(_, row)| row.bytes).sum();
    let retransmits = rows.iter().filter_map(|(_, row)| row.tcp).map(|tcp| tcp.retransmits).sum();
    let datagrams = rows.iter().filter_map(|(_, row)| row.datagrams).reduce(|one, other| one.and(&other));
    let facts = match datagrams {
        Some(datagrams) => counted(&datagrams, key.sends),
        None if key.sends => again(&TcpSample { retransmits, ..TcpSample::default() }),
        None => String::new(),
    };
    let start = rows.iter().map(|(_, row)| row.start).min()?;
    let end = rows.iter().map(|(_, row)| row.end).max()?;
    let together = Interval { bytes, start, end, ..**first };
    Some(laid_out(&together, "all ", key.sends, &facts))
}

fn laid_out(row: &Interval, name: &str, sends: bool, facts: &str) -> String {
    let time = format!("{:.1}-{:.1} s", row.start.seconds(), row.end.seconds());
    let verb = format!("{name}{}", if sends { "sent" } else { "received" });
    let (rate, bytes) = (row.rate().to_string(), row.bytes.to_string());
    let warmup = if row.warmup { "  (warm-up)" } else { "" };
    let line = format!("{time:>13}  {verb:<12} {rate:>11}  {bytes:>9}  {facts}");
    format!("{}{warmup}", line.trim_end())
}

fn again(tcp: &TcpSample) -> String {
    format!("{} retransmits", tcp.retransmits)
}

fn counted(datagrams: &DatagramSample, sends: bool) -> String {
    if sends {
        return format!("{} datagrams", datagrams.count);
    }
    let lost = datagrams.lost.max(0) as u64;
    let share = Share(lost as f64 / (datagrams.count + lost).max(1) as f64);
    let mut text =
        format!("{} datagrams  lost {lost} ({share})  jitter {}", datagrams.count, datagrams.jitter);
    for (count, word) in
        [(datagrams.reordered, "reordered"), (datagrams.duplicates, "duplicate"), (datagrams.strays, "stray")]
    {
        if count > 0 {
            text.push_str(&format!("  {count} {word}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENDER: FlowId = FlowId { id: 0, direction: Direction::Forward, sends: true };

    fn sample(tenth: u64) -> Interval {
        let late = 700_000;
        Interval {
            start: Nanos(if tenth == 0 { 0 } else { tenth * 100_000_000 + late }),
            end: Nanos((tenth + 1) * 100_000_000 + late),
            bytes: Bytes(125_000_000),
            warmup: false,
            tcp: Some(TcpSample {
                retransmits: 1,
                cwnd: Bytes(64 << 10),
                rtt: Nanos(52_000),
                ..TcpSample::default()
            }),
            datagrams: None,
        }
    }

    fn feed(lines: &mut StreamLines, flow: FlowId, tenths: std::ops::Range<u64>) -> Vec<String> {
        tenths.flat_map(|tenth| lines.take(flow, &sample(tenth))).collect()
    }

    #[test]
    fn aggregates_ten_samples_into_one_line() {
        let mut lines = StreamLines::new(Nanos::from_secs(1), 1);
        let printed = feed(&mut lines, SENDER, 0..20);
        assert_eq!(printed.len(), 2, "{printed:?}");
        assert_eq!(
            printed[0],
            "    0.0-1.0 s  sent         9.99 Gbit/s   1.16 GiB  10 retransmits  cwnd 64.0 KiB  rtt 52.0 µs"
        );
        assert!(printed[1].starts_with("    1.0-2.0 s"), "{printed:?}");
        assert!(lines.rest().is_empty());
    }

    #[test]
    fn prints_partial_interval_at_end() {
        let mut lines = StreamLines::new(Nanos::from_secs(1), 1);
        assert_eq!(feed(&mut lines, SENDER, 0..13).len(), 1);
        let rest = lines.rest();
        assert!(rest.len() == 1 && rest[0].starts_with("    1.0-1.3 s"), "{rest:?}");
    }

    #[test]
    fn prints_sum_after_all_connections_reported() {
        let mut lines = StreamLines::new(Nanos::from_secs(1), 2);
        assert!(feed(&mut lines, SENDER, 0..10).is_empty(), "waits for the other connection");
        let printed = feed(&mut lines, FlowId { id: 1, ..SENDER }, 0..10);
        let verbs: Vec<_> = printed.iter().map(|line| line[15..27].trim()).collect();
        assert_eq!(verbs, ["#0 sent", "#1 sent", "all sent"]);
        assert!(printed[2].contains("20.0 Gbit/s") && printed[2].contains("20 retransmits"), "{printed:?}");
    }

    #[test]
    fn sum_covers_whole_time_of_unequal_intervals() {
        let mut lines = StreamLines::new(Nanos::from_secs(1), 2);
        let _ = feed(&mut lines, SENDER, 0..5);
        let _ = feed(&mut lines, FlowId { id: 1, ..SENDER }, 0..9);
        let rest = lines.rest();
        assert!(rest[2].starts_with("    0.0-0.9 s  all sent     15.5 Gbit/s   1.63 GiB"), "{rest:?}");
    }

    #[test]
    fn ended_connection_does_not_delay_lines() {
        let mut lines = StreamLines::new(Nanos::from_secs(1), 2);
        let _ = feed(&mut lines, SENDER, 0..10);
        let _ = feed(&mut lines, FlowId { id: 1, ..SENDER }, 0..10);
        assert!(feed(&mut lines, SENDER, 10..20).is_empty());
        let printed = feed(&mut lines, SENDER, 20..30);
        assert!(printed.len() == 1 && printed[0].starts_with("    1.0-2.0 s"), "{printed:?}");
    }

    #[test]
    fn does_not_merge_warm_up_with_measured_samples() {
        let mut lines = StreamLines::new(Nanos::from_secs(1), 1);
        let mut printed = Vec::new();
        for tenth in 0..20 {
            printed.extend(lines.take(SENDER, &Interval { warmup: tenth < 15, ..sample(tenth) }));
        }
        printed.extend(lines.rest());
        let marks: Vec<_> = printed.iter().map(|line| (&line[4..13], line.ends_with("(warm-up)"))).collect();
        assert_eq!(marks, [("0.0-1.0 s", true), ("1.0-1.5 s", true), ("1.5-2.0 s", false)], "{printed:?}");
    }

    #[test]
    fn datagram_receiver_reports_loss() {
        let mut lines = StreamLines::new(Nanos::from_millis(100), 1);
        let datagrams = DatagramSample {
            count: 990,
            lost: 10,
            jitter: Nanos(12_000),
            reordered: 3,
            ..Default::default()
        };
        let interval = Interval { tcp: None, datagrams: Some(datagrams), ..sample(0) };
        let printed = lines.take(FlowId { sends: false, ..SENDER }, &interval);
        let tail = "990 datagrams  lost 10 (1.00 %)  jitter 12.0 µs  3 reordered";
        assert!(printed.len() == 1 && printed[0].ends_with(tail), "{printed:?}");
    }

    #[test]
    fn interval_zero_disables_lines() {
        let mut lines = StreamLines::new(Nanos(0), 1);
        assert!(feed(&mut lines, SENDER, 0..30).is_empty() && lines.rest().is_empty());
    }
}
