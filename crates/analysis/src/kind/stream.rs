//! Stream details besides the metric: both ends and directions, TCP_INFO and datagrams.

use findings::{
    DatagramSummary, Distribution, Estimate, SingleFlow, SingleOutcome, SingleRate, SingleStream,
    StreamSummary, TcpSummary,
};
use samples::{CpuUsage, Trial};
use stats::describe;
use units::Nanos;
use workload::{
    DatagramSample, Direction, EndSeries, Flow, Interval, KindMeasurement, StreamData, TcpSample,
};

use super::KindAnalysis;
use crate::{
    compare, distribution, modality,
    observations::Observations,
    series::{self, Series, usual},
    steadiness,
};

impl KindAnalysis for StreamData {
    /// Uses the receivers' intervals, or the senders' intervals if a receiver reported only a total.
    fn series(&self, asked: Option<Nanos>) -> Series {
        let has_intervals =
            |flow: &Flow| flow.receiver.intervals.len() > 1 || flow.sender.intervals.len() <= 1;
        let (of, ends): (_, Vec<&EndSeries>) = if self.flows.iter().all(has_intervals) {
            ("receiver", self.flows.iter().map(|flow| &flow.receiver).collect())
        } else {
            ("sender", self.flows.iter().map(|flow| &flow.sender).collect())
        };
        let length = asked.unwrap_or_else(|| usual(ends.iter().flat_map(|end| end.measured()).map(length)));
        Series { of, length, rates: together(&ends, length) }
    }

    /// Includes the bytes of the warm-up, because the CPU counters include the warm-up.
    fn cpu_per_work(&self, usage: &CpuUsage) -> Option<f64> {
        let (work, bytes) = self.work()?;
        Some(usage.own_cpus()? * usage.machine.elapsed.seconds() / bytes * work.for_cpu().0)
    }

    fn alone(&self, series: &Series) -> Option<SingleOutcome> {
        alone(&self.flows, series).map(SingleOutcome::Stream)
    }
}

pub(crate) fn summary(result: &Observations<'_>, value: Estimate) -> Option<StreamSummary> {
    let trials: Vec<&[Flow]> = result.trials().map(flows).filter(|flows| !flows.is_empty()).collect();
    (!trials.is_empty()).then(|| StreamSummary {
        sent: over_trials(result, sent),
        received: trials.iter().any(|flows| received(flows, None).is_some()).then_some(value),
        forward: over_trials(result, |flows| received(flows, Some(Direction::Forward))),
        reverse: over_trials(result, |flows| received(flows, Some(Direction::Reverse))),
        tcp: tcp(&trials),
        datagrams: datagrams(&trials),
        lateness: lateness(&trials),
        stability: stability(result),
    })
}

pub(crate) fn is_granular(result: &Observations<'_>, series: &Series) -> bool {
    let load = result.record.sent.load();
    load.is_some_and(|load| modality::is_granular(load, series.length, &series.rates))
}

pub(crate) fn flows(trial: &Trial) -> &[Flow] {
    StreamData::of(&trial.measurement).map_or(&[], |data| &data.flows)
}

pub(crate) fn tcp(trials: &[&[Flow]]) -> Option<TcpSummary> {
    let senders = samples(trials, |flow| &flow.sender);
    let receivers = samples(trials, |flow| &flow.receiver);
    if senders.is_empty() && receivers.is_empty() {
        return None;
    }
    let sum =
        |samples: &[TcpSample], of: fn(&TcpSample) -> u32| samples.iter().map(|it| u64::from(of(it))).sum();
    // Other tools' servers report only retransmits, so a zero in another field means that the field is unknown.
    let windows = || senders.iter().map(|tcp| tcp.cwnd).filter(|window| window.0 > 0);
    let rtts = senders.iter().map(|tcp| tcp.rtt.0 as f64).filter(|rtt| *rtt > 0.0);
    let all_time: Nanos =
        flows_of(trials).filter(|flow| has_tcp(&flow.sender)).map(|flow| flow.sender.elapsed()).sum();
    let share = |of: fn(&TcpSample) -> Nanos| {
        let share =
            senders.iter().map(of).sum::<Nanos>().seconds() / all_time.seconds().max(f64::MIN_POSITIVE);
        is_whole(&senders).then_some(share.min(1.0))
    };
    let known = |samples: &[TcpSample], count: u64| (count > 0 || is_whole(samples)).then_some(count);
    Some(TcpSummary {
        retransmits: sum(&senders, |tcp| tcp.retransmits),
        reorderings: known(&senders, sum(&senders, |tcp| tcp.reorderings)),
        out_of_order: known(&receivers, sum(&receivers, |tcp| tcp.out_of_order)),
        cwnd: windows().min().zip(windows().max()),
        rtt: describe::median(&rtts.collect::<Vec<_>>()).map(|rtt| Nanos(rtt.round() as u64)),
        receive_window_limited: share(|tcp| tcp.receive_window_limited),
        send_buffer_limited: share(|tcp| tcp.send_buffer_limited),
    })
}

pub(crate) fn datagrams(trials: &[&[Flow]]) -> Option<DatagramSummary> {
    let all = |end: fn(&Flow) -> &EndSeries| flows_of(trials).filter_map(move |flow| end(flow).datagrams());
    let received: Vec<DatagramSample> = all(|flow| &flow.receiver).collect();
    let together = received.iter().copied().reduce(|one, other| one.and(&other))?;
    let (count, lost) = (together.count, together.lost.max(0).cast_unsigned());
    let rates: Vec<f64> = trials.iter().filter_map(|flows| received_per_second(flows)).collect();
    Some(DatagramSummary {
        sent: all(|flow| &flow.sender).map(|sample| sample.count).fold(0, u64::saturating_add),
        received: count,
        rate: describe::median(&rates)?,
        lost,
        loss: if lost == 0 { 0.0 } else { lost as f64 / (count as f64 + lost as f64) },
        reordered: together.reordered,
        duplicates: together.duplicates,
        strays: together.strays,
        jitter: received.iter().map(|sample| sample.jitter).max()?,
    })
}

pub(crate) fn lateness(trials: &[&[Flow]]) -> Option<Distribution> {
    let late = flows_of(trials).filter_map(|flow| flow.sender.lateness.as_ref());
    distribution::of_trials(&late.collect::<Vec<_>>())
}

fn received_per_second(flows: &[Flow]) -> Option<f64> {
    let counts = flows.iter().filter_map(|flow| flow.receiver.datagrams()).map(|sample| sample.count);
    let received = counts.fold(0, u64::saturating_add);
    let time = EndSeries::time_together(flows.iter().map(|flow| &flow.receiver));
    (time.0 > 0).then(|| received as f64 / time.seconds())
}

fn flows_of<'a>(trials: &[&'a [Flow]]) -> impl Iterator<Item = &'a Flow> {
    trials.iter().flat_map(|flows| flows.iter())
}

fn samples(trials: &[&[Flow]], end: fn(&Flow) -> &EndSeries) -> Vec<TcpSample> {
    flows_of(trials).flat_map(|flow| end(flow).measured()).filter_map(|interval| interval.tcp).collect()
}

fn is_whole(samples: &[TcpSample]) -> bool {
    samples.iter().any(TcpSample::is_whole)
}

fn has_tcp(end: &EndSeries) -> bool {
    end.measured().any(|interval| interval.tcp.is_some())
}

fn over_trials(result: &Observations<'_>, rate: impl Fn(&[Flow]) -> Option<f64>) -> Option<Estimate> {
    compare::estimate(&result.trials().filter_map(|trial| rate(flows(trial))).collect::<Vec<_>>())
}

fn stability(result: &Observations<'_>) -> Option<f64> {
    let spreads: Vec<f64> = result
        .trials()
        .filter_map(|trial| describe::coefficient_of_variation(&series::of_trial(result, trial).rates))
        .collect();
    describe::median(&spreads)
}

/// Returns the received bits per second without the warm-up, or `None` if there is no data.
pub(crate) fn received(flows: &[Flow], direction: Option<Direction>) -> Option<f64> {
    total(flows, direction, |flow| &flow.receiver)
}

fn sent(flows: &[Flow]) -> Option<f64> {
    total(flows, None, |flow| &flow.sender)
}

fn total(flows: &[Flow], direction: Option<Direction>, end: fn(&Flow) -> &EndSeries) -> Option<f64> {
    let ends = || {
        flows
            .iter()
            .filter(move |flow| direction.is_none_or(|direction| flow.direction == direction))
            .map(end)
    };
    ends().any(|series| series.elapsed().0 > 0).then(|| EndSeries::rate_together(ends()).0)
}

/// Returns the rates in bits per second, without the warm-up.
fn together(ends: &[&EndSeries], asked: Nanos) -> Vec<f64> {
    let series: Vec<Vec<&Interval>> = ends.iter().map(|end| end.measured().collect()).collect();
    let shortest = series.iter().map(Vec::len).min().unwrap_or(0);
    // Sum matching intervals, so that each sum covers the same time.
    (0..shortest)
        .map(|index| series.iter().map(|intervals| intervals[index]).collect::<Vec<_>>())
        .filter(|together| together.iter().all(|interval| length(interval).0 >= asked.0 / 2))
        .map(|together| together.iter().map(|interval| interval.rate().0).sum())
        .collect()
}

fn length(interval: &Interval) -> Nanos {
    interval.end - interval.start
}

fn alone(flows: &[Flow], series: &Series) -> Option<SingleStream> {
    let both = |direction| {
        let other = |flow: &Flow| flow.direction != direction;
        flows.iter().any(other).then(|| received(flows, Some(direction))).flatten()
    };
    let receivers = || flows.iter().map(|flow| &flow.receiver);
    let single = |end: &str, rate| {
        let spread = steadiness::spread(series, rate).filter(|spread| spread.end == end);
        SingleRate { rate, spread }
    };
    Some(SingleStream {
        received: single("receiver", received(flows, None)?),
        sent: sent(flows).map(|rate| single("sender", rate)),
        forward: both(Direction::Forward),
        reverse: both(Direction::Reverse),
        bytes: receivers().map(EndSeries::bytes).sum(),
        elapsed: receivers().map(EndSeries::elapsed).max()?,
        flows: flows.iter().map(flow).collect(),
        tcp: tcp(&[flows]),
        datagrams: datagrams(&[flows]),
        lateness: lateness(&[flows]),
        stability: describe::coefficient_of_variation(&series.rates),
    })
}

fn flow(flow: &Flow) -> SingleFlow {
    let rate = |end: &EndSeries| (end.elapsed().0 > 0).then(|| end.rate().0);
    let tcp = flow.sender.intervals.iter().any(|interval| interval.tcp.is_some());
    SingleFlow {
        id: flow.id,
        direction: flow.direction,
        sent: rate(&flow.sender),
        received: rate(&flow.receiver),
        retransmits: tcp.then(|| flow.sender.retransmits()),
    }
}
