//! Merges samples into intervals of the requested length.

use codecs::iperf3::output::{Interval, Measure};
use units::Nanos;
use workload::{Direction, Interval as Sample, TcpSample};

use super::{Facts, Stream, percent, rate, signed};

/// A final remainder shorter than a tenth of an interval is merged into the previous interval.
const SHORT: u64 = 10;

struct Group<'a> {
    samples: &'a [Sample],
    origin: Nanos,
}

/// Lists the intervals, starting with the warm-up. Streams that ended early are missing from the last intervals.
pub(super) fn intervals(facts: &Facts<'_>, streams: &[Stream<'_>]) -> Vec<Interval> {
    let measures: Vec<Vec<Measure>> = streams.iter().map(|stream| measures(stream, facts)).collect();
    let count = measures.iter().map(Vec::len).max().unwrap_or(0);
    let first = facts.load.direction.flows()[0];
    let interval = |index: usize| {
        let present = || {
            let all = streams.iter().zip(&measures);
            all.filter_map(move |(stream, measures)| Some((stream.direction, *measures.get(index)?)))
        };
        let sum_of = |wanted: Direction| {
            let of_it = present().filter(|(direction, _)| *direction == wanted);
            sum(&of_it.map(|(_, measure)| measure).collect::<Vec<_>>())
        };
        Interval {
            streams: present().map(|(_, measure)| measure).collect(),
            sum: sum_of(first),
            sum_bidir_reverse: (first == Direction::Forward).then(|| sum_of(Direction::Reverse)).flatten(),
        }
    };
    (0..count).map(interval).collect()
}

/// Returns `None` if there are no measures. Jitter is averaged, as in iperf3.
pub(super) fn sum(measures: &[Measure]) -> Option<Measure> {
    let first = measures.first()?;
    let total = |of: fn(&Measure) -> Option<i64>| measures.iter().filter_map(of).reduce(i64::saturating_add);
    let bytes = measures.iter().map(|measure| measure.bytes).fold(0, i64::saturating_add);
    let end = measures.iter().map(|measure| measure.end).fold(first.end, f64::max);
    let jitters: Vec<f64> = measures.iter().filter_map(|measure| measure.jitter_ms).collect();
    let (lost, packets) = (total(|measure| measure.lost_packets), total(|measure| measure.packets));
    Some(Measure {
        start: first.start,
        end,
        seconds: end - first.start,
        bytes,
        bits_per_second: rate(bytes, end - first.start),
        retransmits: total(|measure| measure.retransmits),
        jitter_ms: (!jitters.is_empty()).then(|| jitters.iter().sum::<f64>() / jitters.len() as f64),
        lost_packets: lost,
        packets,
        lost_percent: lost.zip(packets).map(|(lost, packets)| percent(lost, packets)),
        omitted: first.omitted,
        sender: first.sender,
        ..Measure::default()
    })
}

fn measures(stream: &Stream<'_>, facts: &Facts<'_>) -> Vec<Measure> {
    let samples = &stream.here.intervals;
    let measured = samples.iter().position(|sample| !sample.warmup).unwrap_or(samples.len());
    let (warmup, rest) = samples.split_at(measured);
    let slack = Nanos(facts.load.interval.0 / 2);
    let groups = [warmup, rest].into_iter().flat_map(|part| grouped(part, facts.every, slack));
    groups.filter_map(|group| group.measure(stream)).collect()
}

/// A group ends with the sample closest to its grid point.
fn grouped(samples: &[Sample], every: Nanos, slack: Nanos) -> Vec<Group<'_>> {
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else { return Vec::new() };
    let (origin, mut from, mut place) = (first.start, 0, every.0);
    let mut cuts = Vec::new();
    for (index, sample) in samples.iter().enumerate() {
        let at = (sample.end - origin + slack).0;
        if every.0 > 0 && at >= place {
            cuts.push((from, index + 1));
            from = index + 1;
            place = (at / every.0 + 1) * every.0;
        }
    }
    if let Some(rest) = samples.get(from) {
        match cuts.last_mut() {
            Some(cut) if (last.end - rest.start).0 < every.0 / SHORT => cut.1 = samples.len(),
            _ => cuts.push((from, samples.len())),
        }
    }
    cuts.into_iter().map(|(from, to)| Group { samples: &samples[from..to], origin }).collect()
}

impl Group<'_> {
    fn measure(&self, stream: &Stream<'_>) -> Option<Measure> {
        let (first, last) = (self.samples.first()?, self.samples.last()?);
        let (start, end) = ((first.start - self.origin).seconds(), (last.end - self.origin).seconds());
        let bytes = signed(self.samples.iter().map(|sample| sample.bytes.0).sum());
        let measure = Measure {
            socket: Some(stream.socket),
            start,
            end,
            seconds: end - start,
            bytes,
            bits_per_second: rate(bytes, end - start),
            omitted: Some(first.warmup),
            sender: Some(stream.sends),
            ..Measure::default()
        };
        Some(self.with_datagrams(self.with_tcp(measure, last, stream.sends), stream.sends))
    }

    fn with_tcp(&self, measure: Measure, last: &Sample, sends: bool) -> Measure {
        let Some(tcp) = last.tcp.filter(|_| sends) else { return measure };
        let of = |count: fn(&TcpSample) -> u32| {
            let counts = self.samples.iter().filter_map(|sample| sample.tcp.as_ref()).map(count);
            Some(counts.map(i64::from).sum())
        };
        Measure {
            retransmits: of(|tcp| tcp.retransmits),
            snd_cwnd: Some(signed(tcp.cwnd.0)),
            rtt: Some(signed(tcp.rtt.0 / 1000)),
            rttvar: Some(signed(tcp.rtt_variation.0 / 1000)),
            reorder: of(|tcp| tcp.reorderings),
            ..measure
        }
    }

    fn with_datagrams(&self, measure: Measure, sends: bool) -> Measure {
        let datagrams = self.samples.iter().filter_map(|sample| sample.datagrams);
        let Some(all) = datagrams.reduce(|before, after| before.and(&after)) else { return measure };
        let came = signed(all.count);
        if sends {
            return Measure { packets: Some(came), ..measure };
        }
        let packets = came.saturating_add(all.lost);
        Measure {
            jitter_ms: Some(all.jitter.seconds() * 1e3),
            lost_packets: Some(all.lost),
            packets: Some(packets),
            lost_percent: Some(percent(all.lost, packets)),
            ..measure
        }
    }
}
