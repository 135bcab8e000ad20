//! What the trials of a stream say beside the metric: both ends, both directions, and what TCP_INFO saw.

use findings::{Estimate, StreamSummary};
use load::{Direction, Load};
use samples::{Flow, Interval, Measurement, TcpSample, Trial};
use stats::describe;
use units::{Bytes, Nanos};

use crate::{compare, measured::Measured, metric};

/// The streams of a cell; `None` when no trial has one.
pub(crate) fn summary(cell: &Measured<'_>) -> Option<StreamSummary> {
    let first = cell.trials().find_map(|trial| flows(trial).first())?;
    let samples: Vec<TcpSample> = cell.trials().flat_map(sender_samples).collect();
    Some(StreamSummary {
        sent: over_trials(cell, metric::sent)?,
        received: over_trials(cell, |flows| metric::received(flows, None))?,
        forward: over_trials(cell, |flows| metric::received(flows, Some(Direction::Forward))),
        reverse: over_trials(cell, |flows| metric::received(flows, Some(Direction::Reverse))),
        retransmits: cell.trials().flat_map(flows).map(|flow| flow.sender.retransmits()).sum(),
        cwnd: range(&samples),
        rtt: describe::median(&samples.iter().map(|tcp| tcp.rtt.0 as f64).collect::<Vec<_>>())
            .map(|rtt| Nanos(rtt.round() as u64)),
        stability: stability(cell),
        sender_socket: first.sender.socket.clone(),
        receiver_socket: first.receiver.socket.clone(),
    })
}

/// The connections of a trial; none when it was no stream.
pub(crate) fn flows(trial: &Trial) -> &[Flow] {
    match &trial.measurement {
        Measurement::Stream(data) => &data.flows,
        Measurement::PingPong(_) => &[],
    }
}

/// The rate of all connections together in each interval after the warm-up, in bits per second. A last interval
/// of less than half the length asked for is left out: its rate says more of where it was cut than of the path.
pub(crate) fn interval_rates(cell: &Measured<'_>, trial: &Trial) -> Vec<f64> {
    let asked = match &cell.record.load {
        Load::Stream(settings) => settings.interval,
        Load::PingPong(_) => Nanos(0),
    };
    let long_enough = |interval: &Interval| (interval.end - interval.start).0 >= asked.0 / 2;
    let series: Vec<Vec<&Interval>> =
        flows(trial).iter().map(|flow| flow.receiver.measured().collect()).collect();
    let shortest = series.iter().map(Vec::len).min().unwrap_or(0);
    // Matched before any is left out, so that the same stretch of time is added up.
    (0..shortest)
        .map(|index| series.iter().map(|intervals| intervals[index]).collect::<Vec<_>>())
        .filter(|together| together.iter().all(|interval| long_enough(interval)))
        .map(|together| together.iter().map(|interval| interval.rate().0).sum())
        .collect()
}

fn over_trials(cell: &Measured<'_>, rate: impl Fn(&[Flow]) -> Option<f64>) -> Option<Estimate> {
    compare::estimate(&cell.trials().filter_map(|trial| rate(flows(trial))).collect::<Vec<_>>())
}

fn sender_samples(trial: &Trial) -> impl Iterator<Item = TcpSample> {
    flows(trial).iter().flat_map(|flow| flow.sender.measured()).filter_map(|interval| interval.tcp)
}

fn range(samples: &[TcpSample]) -> Option<(Bytes, Bytes)> {
    let windows = || samples.iter().map(|tcp| tcp.cwnd);
    Some((windows().min()?, windows().max()?))
}

fn stability(cell: &Measured<'_>) -> Option<f64> {
    let spreads: Vec<f64> = cell
        .trials()
        .filter_map(|trial| describe::coefficient_of_variation(&interval_rates(cell, trial)))
        .collect();
    describe::median(&spreads)
}
