//! The server's text report for `--get-server-output`, in iperf3's format.

use std::fmt::Write;

use codecs::iperf3::PlannedStream;
use traffic::StreamOutcome;
use workload::{Direction, EndSeries, Interval, StreamSettings};

const RULE: &str = "- - - - - - - - - - - - - - - - - - - - - - - - -\n";

pub(super) fn report(outcome: &StreamOutcome, plan: &[PlannedStream], load: &StreamSettings) -> String {
    let mut text = String::new();
    for (planned, flow) in plan.iter().zip(&outcome.measured.flows) {
        if let Some((local, remote)) =
            flow.series.socket.addresses.as_deref().and_then(|pair| pair.split_once(" -> "))
        {
            let (local, remote) = (endpoint(local), endpoint(remote));
            line(&mut text, format_args!("[{:3}] local {local} connected to {remote}", planned.id));
        }
    }
    text.push_str(HEAD);
    let longest = outcome.measured.flows.iter().map(|flow| flow.series.intervals.len()).max().unwrap_or(0);
    for place in 0..longest {
        for (planned, flow) in plan.iter().zip(&outcome.measured.flows) {
            if let Some(interval) = flow.series.intervals.get(place) {
                one(&mut text, planned, interval, load);
            }
        }
    }
    text.push_str(RULE);
    text.push_str(HEAD);
    for (planned, flow) in plan.iter().zip(&outcome.measured.flows) {
        summary(&mut text, planned, &flow.series);
    }
    text
}

const HEAD: &str = "[ ID] Interval           Transfer     Bitrate\n";

fn one(text: &mut String, planned: &PlannedStream, interval: &Interval, load: &StreamSettings) {
    let seconds = |time: units::Nanos| time.0 as f64 / 1e9;
    let (start, end) = (seconds(interval.start), seconds(interval.end));
    let omitted = if interval.warmup { 0.0 } else { seconds(load.warmup) };
    let note = if interval.warmup { "  (omitted)" } else { "" };
    let (bytes, rate) = (amount(interval.bytes.0 as f64), self::rate(interval.rate().0));
    let (start, end) = ((start - omitted).max(0.0), (end - omitted).max(0.0));
    line(
        text,
        format_args!(
            "[{:3}] {start:6.2}-{end:<6.2} sec  {bytes}  {rate}{}{note}",
            planned.id,
            details(interval)
        ),
    );
}

fn details(interval: &Interval) -> String {
    match interval.datagrams {
        Some(sample) => {
            let total = i64::try_from(sample.count).unwrap_or(i64::MAX).saturating_add(sample.lost).max(0);
            format!("  {:5.3} ms  {}/{total}", sample.jitter.0 as f64 / 1e6, sample.lost.max(0))
        }
        None => String::new(),
    }
}

fn summary(text: &mut String, planned: &PlannedStream, series: &EndSeries) {
    let role = if planned.direction == Direction::Reverse { "sender" } else { "receiver" };
    let (bytes, rate) = (amount(series.bytes().0 as f64), rate(series.rate().0));
    let end = series.elapsed().0 as f64 / 1e9;
    let retransmits = match (role, series.intervals.iter().any(|interval| interval.tcp.is_some())) {
        ("sender", true) => format!("  {:4}", series.retransmits()),
        _ => String::new(),
    };
    let lost = series.datagrams().map_or_else(String::new, |sample| {
        let total = i64::try_from(sample.count).unwrap_or(i64::MAX).saturating_add(sample.lost).max(0);
        let percent = if total > 0 { sample.lost as f64 * 100.0 / total as f64 } else { 0.0 };
        format!("  {:5.3} ms  {}/{total} ({percent:.2}%)", sample.jitter.0 as f64 / 1e6, sample.lost.max(0))
    });
    line(
        text,
        format_args!(
            "[{:3}] {:6.2}-{end:<6.2} sec  {bytes}  {rate}{retransmits}{lost}  {role}",
            planned.id, 0.0
        ),
    );
}

fn line(text: &mut String, content: std::fmt::Arguments<'_>) {
    writeln!(text, "{content}").expect("text in memory");
}

fn endpoint(address: &str) -> String {
    address.rsplit_once(':').map_or_else(
        || address.to_owned(),
        |(ip, port)| format!("{} port {port}", ip.trim_matches(['[', ']'])),
    )
}

fn amount(bytes: f64) -> String {
    let units = ["Bytes", "KBytes", "MBytes", "GBytes", "TBytes"];
    let place = units
        .iter()
        .enumerate()
        .rev()
        .map(|(place, _)| place)
        .find(|place| bytes >= 1024_f64.powi(*place as i32));
    let place = place.unwrap_or(0);
    format!("{} {}", three_digits(bytes / 1024_f64.powi(place as i32)), units[place])
}

fn rate(bits: f64) -> String {
    let units = ["bits/sec", "Kbits/sec", "Mbits/sec", "Gbits/sec", "Tbits/sec"];
    let place = (0..units.len()).rev().find(|place| bits >= 1000_f64.powi(*place as i32)).unwrap_or(0);
    format!("{} {}", three_digits(bits / 1000_f64.powi(place as i32)), units[place])
}

fn three_digits(number: f64) -> String {
    match number {
        ..9.995 => format!("{number:4.2}"),
        ..99.95 => format!("{number:4.1}"),
        _ => format!("{number:4.0}"),
    }
}

#[cfg(test)]
mod tests {
    use units::{Bytes, Nanos};
    use workload::{FlowEnd, SocketFacts, StreamEnd, TcpSample, Until};

    use super::*;

    #[test]
    fn report_has_all_intervals_and_a_summary() {
        let interval = |second: u64, warmup| Interval {
            start: Nanos::from_secs(second),
            end: Nanos::from_secs(second + 1),
            bytes: Bytes(1 << 30),
            warmup,
            tcp: Some(TcpSample { retransmits: 3, ..TcpSample::default() }),
            datagrams: None,
        };
        let addresses = Some("198.18.0.1:5201 -> 198.18.0.2:40000".to_owned());
        let series = EndSeries {
            intervals: vec![interval(0, true), interval(1, false), interval(2, false)],
            socket: SocketFacts { addresses, ..SocketFacts::default() },
            ..EndSeries::default()
        };
        let direction = Direction::Reverse;
        let outcome = StreamOutcome {
            measured: StreamEnd { flows: vec![FlowEnd { id: 0, direction, series }] },
            ..StreamOutcome::default()
        };
        let load = StreamSettings {
            warmup: Nanos::from_secs(1),
            ..StreamSettings::new(Until::Elapsed(Nanos::from_secs(2)))
        };
        let text = report(&outcome, &[PlannedStream { id: 1, direction }], &load);
        let expected = "\
[  1] local 198.18.0.1 port 5201 connected to 198.18.0.2 port 40000
[ ID] Interval           Transfer     Bitrate
[  1]   0.00-1.00   sec  1.00 GBytes  8.59 Gbits/sec  (omitted)
[  1]   0.00-1.00   sec  1.00 GBytes  8.59 Gbits/sec
[  1]   1.00-2.00   sec  1.00 GBytes  8.59 Gbits/sec
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate
[  1]   0.00-2.00   sec  2.00 GBytes  8.59 Gbits/sec     6  sender
";
        assert_eq!(text, expected);
    }

    #[test]
    fn amounts_and_rates_have_three_digits() {
        for (bytes, expected) in [(0.0, "0.00 Bytes"), (1500.0, "1.46 KBytes"), (5e8, " 477 MBytes")] {
            assert_eq!(amount(bytes), expected);
        }
        for (bits, expected) in
            [(1.05e6, "1.05 Mbits/sec"), (33.4e9, "33.4 Gbits/sec"), (0.0, "0.00 bits/sec")]
        {
            assert_eq!(rate(bits), expected);
        }
    }
}
