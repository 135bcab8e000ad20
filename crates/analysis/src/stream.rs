//! What the trials of a stream say beside the metric: both ends, both directions, what TCP_INFO saw, what
//! became of datagrams.

use findings::{DatagramSummary, Distribution, Estimate, StreamSummary, TcpSummary};
use samples::Trial;
use stats::describe;
use units::Nanos;
use workload::{DatagramSample, Direction, EndSeries, Flow, Measurement, TcpSample};

use crate::{compare, distribution, measured::Measured, metric, series};

/// The streams of a cell that received so much; `None` when no trial has one.
pub(crate) fn summary(cell: &Measured<'_>, received: Estimate) -> Option<StreamSummary> {
    let trials: Vec<&[Flow]> = cell.trials().map(flows).filter(|flows| !flows.is_empty()).collect();
    (!trials.is_empty()).then(|| StreamSummary {
        sent: over_trials(cell, metric::sent),
        received,
        forward: over_trials(cell, |flows| metric::received(flows, Some(Direction::Forward))),
        reverse: over_trials(cell, |flows| metric::received(flows, Some(Direction::Reverse))),
        tcp: tcp(&trials),
        datagrams: datagrams(&trials),
        lateness: lateness(&trials),
        stability: stability(cell),
    })
}

/// The connections of a trial; none when it was no stream.
pub(crate) fn flows(trial: &Trial) -> &[Flow] {
    match &trial.measurement {
        Measurement::Stream(data) => &data.flows,
        Measurement::PingPong(_) | Measurement::Connect(_) | Measurement::Reported(_) => &[],
    }
}

/// What TCP_INFO said over these trials; `None` when no end has any.
pub(crate) fn tcp(trials: &[&[Flow]]) -> Option<TcpSummary> {
    let senders = samples(trials, |flow| &flow.sender);
    let receivers = samples(trials, |flow| &flow.receiver);
    if senders.is_empty() && receivers.is_empty() {
        return None;
    }
    let sum =
        |samples: &[TcpSample], of: fn(&TcpSample) -> u32| samples.iter().map(|it| u64::from(of(it))).sum();
    // A peer that is no plumb tells its retransmits alone; its zeros are not known ones.
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

/// What became of the datagrams of these trials; `None` when there were none.
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

/// How late the messages of senders with a rate left; `None` when no sender had one.
pub(crate) fn lateness(trials: &[&[Flow]]) -> Option<Distribution> {
    let late = flows_of(trials).filter_map(|flow| flow.sender.lateness.as_ref());
    distribution::of(&distribution::merged(late))
}

fn received_per_second(flows: &[Flow]) -> Option<f64> {
    let counts = flows.iter().filter_map(|flow| flow.receiver.datagrams()).map(|sample| sample.count);
    let received = counts.fold(0, u64::saturating_add);
    let longest = flows.iter().map(|flow| flow.receiver.elapsed()).max().filter(|time| time.0 > 0)?;
    Some(received as f64 / longest.seconds())
}

fn flows_of<'a>(trials: &[&'a [Flow]]) -> impl Iterator<Item = &'a Flow> {
    trials.iter().flat_map(|flows| flows.iter())
}

fn samples(trials: &[&[Flow]], end: fn(&Flow) -> &EndSeries) -> Vec<TcpSample> {
    flows_of(trials).flat_map(|flow| end(flow).measured()).filter_map(|interval| interval.tcp).collect()
}

/// Whether these are a kernel's own word, and not what another tool told of it.
fn is_whole(samples: &[TcpSample]) -> bool {
    samples.iter().any(TcpSample::is_whole)
}

fn has_tcp(end: &EndSeries) -> bool {
    end.measured().any(|interval| interval.tcp.is_some())
}

fn over_trials(cell: &Measured<'_>, rate: impl Fn(&[Flow]) -> Option<f64>) -> Option<Estimate> {
    compare::estimate(&cell.trials().filter_map(|trial| rate(flows(trial))).collect::<Vec<_>>())
}

fn stability(cell: &Measured<'_>) -> Option<f64> {
    let spreads: Vec<f64> = cell
        .trials()
        .filter_map(|trial| describe::coefficient_of_variation(&series::of_trial(cell, trial).rates))
        .collect();
    describe::median(&spreads)
}
