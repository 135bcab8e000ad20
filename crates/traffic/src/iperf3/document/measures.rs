//! Counts and rates in iperf3's fields.

use samples::{DatagramSample, EndSeries, Interval, TcpSample};
use units::Nanos;
use wire::iperf3::{StreamResults, output::Measure};

use super::{percent, rate, signed};

/// What one end counted over a time, in seconds.
fn counted(start: f64, end: f64, bytes: i64) -> Measure {
    let seconds = end - start;
    Measure { start, end, seconds, bytes, bits_per_second: rate(bytes, seconds), ..Measure::default() }
}

/// An interval of this end; iperf3's clock begins anew after what is `omitted`.
pub(super) fn interval(interval: &Interval, socket: i64, sends: bool, omitted: Nanos) -> Measure {
    let before = if interval.warmup { Nanos(0) } else { omitted };
    let (start, end) = ((interval.start - before).seconds(), (interval.end - before).seconds());
    let mut measure = counted(start, end, signed(interval.bytes.0));
    measure.socket = Some(socket);
    measure.omitted = Some(interval.warmup);
    measure.sender = Some(sends);
    if let Some(tcp) = interval.tcp.as_ref().filter(|_| sends) {
        measure.retransmits = Some(i64::from(tcp.retransmits));
        measure.snd_cwnd = Some(signed(tcp.cwnd.0));
        measure.rtt = Some(micros(tcp.rtt));
        measure.rttvar = Some(micros(tcp.rtt_variation));
        measure.reorder = Some(i64::from(tcp.reorderings));
    }
    if let Some(sample) = &interval.datagrams {
        datagrams(&mut measure, sample, sends);
    }
    measure
}

/// All that this end counted, what is left out excepted.
pub(super) fn own(series: &EndSeries, sends: bool) -> Measure {
    let mut measure = counted(0.0, series.elapsed().seconds(), signed(series.bytes().0));
    let samples: Vec<TcpSample> = series.measured().filter_map(|interval| interval.tcp).collect();
    if sends && !samples.is_empty() {
        measure.retransmits = Some(signed(series.retransmits()));
        measure.max_snd_cwnd = samples.iter().map(|tcp| signed(tcp.cwnd.0)).max();
        let rtts = || samples.iter().map(|tcp| micros(tcp.rtt));
        (measure.min_rtt, measure.max_rtt) = (rtts().min(), rtts().max());
        measure.mean_rtt = rtts().sum::<i64>().checked_div(samples.len() as i64);
    }
    if let Some(sample) = series.datagrams() {
        datagrams(&mut measure, &sample, sends);
    }
    measure
}

/// All that the other end told; nothing of one that told nothing.
pub(super) fn told(results: Option<&StreamResults>, sends: bool, udp: bool, elapsed: Nanos) -> Measure {
    let Some(results) = results else { return counted(0.0, elapsed.seconds(), 0) };
    let seconds = results.seconds().unwrap_or_else(|| elapsed.seconds());
    let mut measure = counted(0.0, seconds, results.bytes);
    if udp {
        let lost = results.errors - results.omitted_errors.unwrap_or(0);
        let packets = results.packets - results.omitted_packets.unwrap_or(0);
        measure.packets = Some(packets);
        if !sends {
            measure.jitter_ms = Some(results.jitter * 1e3);
            measure.lost_packets = Some(lost);
            measure.lost_percent = Some(percent(lost, packets));
        }
    } else if sends {
        measure.retransmits = Some(results.retransmits).filter(|count| *count >= 0);
    }
    measure
}

/// What is missing is told by a receiver only.
fn datagrams(measure: &mut Measure, sample: &DatagramSample, sends: bool) {
    let packets = signed(sample.count) + if sends { 0 } else { sample.lost };
    measure.packets = Some(packets);
    if !sends {
        measure.jitter_ms = Some(sample.jitter.0 as f64 / 1e6);
        measure.lost_packets = Some(sample.lost);
        measure.lost_percent = Some(percent(sample.lost, packets));
        measure.out_of_order = Some(signed(sample.reordered));
    }
}

/// Several as one: counts added up over the longest of their times, the jitter their mean.
pub(super) fn sum(measures: &[Measure]) -> Option<Measure> {
    let first = measures.first()?;
    let added = |field: fn(&Measure) -> Option<i64>| {
        measures.iter().filter_map(field).reduce(|one, other| one.saturating_add(other))
    };
    let longest = |field: fn(&Measure) -> f64| measures.iter().map(field).fold(0.0, f64::max);
    let bytes = measures.iter().map(|measure| measure.bytes).sum();
    let seconds = longest(|measure| measure.seconds);
    let (lost, packets) = (added(|measure| measure.lost_packets), added(|measure| measure.packets));
    let jitters: Vec<f64> = measures.iter().filter_map(|measure| measure.jitter_ms).collect();
    Some(Measure {
        start: first.start,
        end: longest(|measure| measure.end),
        seconds,
        bytes,
        bits_per_second: rate(bytes, seconds),
        retransmits: added(|measure| measure.retransmits),
        jitter_ms: (!jitters.is_empty()).then(|| jitters.iter().sum::<f64>() / jitters.len() as f64),
        lost_packets: lost,
        packets,
        lost_percent: lost.zip(packets).map(|(lost, packets)| percent(lost, packets)),
        omitted: first.omitted,
        sender: first.sender,
        ..Measure::default()
    })
}

fn micros(time: Nanos) -> i64 {
    signed(time.0 / 1000)
}
