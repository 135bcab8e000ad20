//! What a trial carried from its first message to its last, the warm-up included: probes see all of it.

use findings::Work;
use samples::Trial;
use workload::{ConnectData, Measurement, PingPongData, StreamData};

/// What a trial carried: bytes, messages or connections. `None` where nothing was, or two kinds of things.
pub(super) fn of_trial(trial: &Trial) -> Option<(Work, f64)> {
    let (work, carried) = match &trial.measurement {
        Measurement::Stream(data) => (Work::Bytes, bytes(data)),
        Measurement::PingPong(data) if data.under.is_none() => (Work::Messages, messages(data)),
        Measurement::Connect(data) => (Work::Connections, connections(data)),
        Measurement::PingPong(_) | Measurement::Reported(_) => return None,
    };
    (carried > 0.0).then_some((work, carried))
}

/// What trials of one cell carried together; `None` where that of one is not known.
pub(super) fn together<'a>(trials: impl Iterator<Item = &'a Trial>) -> Option<(Work, f64)> {
    let each: Vec<(Work, f64)> = trials.map(of_trial).collect::<Option<_>>()?;
    let (work, _) = *each.first()?;
    let same = each.iter().all(|(other, _)| *other == work);
    same.then(|| (work, each.iter().map(|(_, carried)| carried).sum()))
}

/// What CPU time is told for: so many bytes, messages or connections.
pub(super) const fn cost_unit(work: Work) -> f64 {
    match work {
        Work::Bytes => 1e9,
        Work::Messages | Work::Connections => 1e6,
    }
}

/// What calls are counted for.
pub(super) const fn call_unit(work: Work) -> f64 {
    match work {
        Work::Bytes => 1e6,
        Work::Messages | Work::Connections => 1.0,
    }
}

fn bytes(data: &StreamData) -> f64 {
    data.flows.iter().flat_map(|flow| &flow.receiver.intervals).map(|it| it.bytes.0 as f64).sum()
}

/// Of a record without intervals those after the warm-up are all that is known.
fn messages(data: &PingPongData) -> f64 {
    let all: u64 = data.intervals.iter().map(|interval| interval.round_trips.count()).sum();
    all.max(data.round_trips.count()) as f64
}

fn connections(data: &ConnectData) -> f64 {
    let all: u64 = data.intervals.iter().map(|interval| interval.done).sum();
    all.max(data.exchanges.count()) as f64
}
