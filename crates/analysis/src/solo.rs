//! One trial alone to everything that can be said of it: no baseline, no noise floor, no other trial.
//! Knows no hint; those are `hints`.

use findings::{
    SOLO_SCHEMA, Solo, SoloConnect, SoloFlow, SoloLevels, SoloOutcome, SoloRate, SoloStream, Spread,
};
use samples::{CpuUsage, DeviceState, Doubt, Environment, UnixMillis};
use stats::describe;
use workload::{
    ConnectData, Direction, EndSeries, Flow, Measurement, Placement, StreamData, WorkloadSettings,
};

use crate::{
    connect, cpu, hints, humps, latency, metric, sending,
    series::{self, Series},
    sockets, steadiness, stream,
};

/// More shifts than this are two levels that it went back and forth between.
const FEW_SHIFTS: usize = 3;

/// A trial and what surrounds it.
#[derive(Debug, Clone, Copy)]
pub struct Single<'a> {
    /// The version of plumb that measured.
    pub tool: &'a str,
    /// When it began.
    pub started: UnixMillis,
    /// What it was measured against, as the user named it.
    pub peer: &'a str,
    /// What was sent.
    pub load: &'a WorkloadSettings,
    /// Where the threads of the ends ran.
    pub placement: &'a Placement,
    /// What was measured. An end that told nothing has no intervals; one that told only a total has one.
    pub measurement: &'a Measurement,
    /// CPU time beside it.
    pub cpu: &'a CpuUsage,
    /// Reasons to distrust it.
    pub doubts: &'a [Doubt],
    /// The machine at this end, where known.
    pub environment: Option<&'a Environment>,
    /// The devices on the way, where known.
    pub devices: &'a [DeviceState],
}

/// Everything that can be said of a trial alone. Equal trials give equal documents.
#[must_use]
pub fn solo(single: &Single<'_>) -> Solo {
    let shifts = steadiness::shifts(&series(single));
    let mut solo = Solo {
        schema: SOLO_SCHEMA,
        tool: single.tool.to_owned(),
        started: single.started,
        peer: single.peer.to_owned(),
        load: single.load.clone(),
        words: sending::in_words(single.load, &single.placement.to_string()),
        environment: single.environment.cloned(),
        outcome: outcome(single),
        cpu: cpu::of_one(single.measurement, single.cpu),
        sockets: sockets::ends([single.measurement].into_iter()),
        two_levels: two_levels(single).filter(|_| shifts.is_empty() || shifts.len() > FEW_SHIFTS),
        shifts,
        doubts: single.doubts.to_vec(),
        hints: Vec::new(),
    };
    solo.hints = hints::hints(single, &solo);
    solo
}

fn outcome(single: &Single<'_>) -> Option<SoloOutcome> {
    let series = series(single);
    let spread = steadiness::spread(&series);
    match single.measurement {
        Measurement::Stream(data) => streamed(data, spread.as_ref(), &series.rates).map(SoloOutcome::Stream),
        Measurement::PingPong(data) => latency::together(&[data]).map(SoloOutcome::PingPong),
        Measurement::Connect(data) => connected(data, spread).map(SoloOutcome::Connect),
        Measurement::Reported(_) => None,
    }
}

fn streamed(data: &StreamData, spread: Option<&Spread>, rates: &[f64]) -> Option<SoloStream> {
    let flows = data.flows.as_slice();
    let both = |direction| {
        let other = |flow: &Flow| flow.direction != direction;
        flows.iter().any(other).then(|| metric::received(flows, Some(direction))).flatten()
    };
    let receivers = || flows.iter().map(|flow| &flow.receiver);
    let spread_of = |end: &str| spread.filter(|spread| spread.of == end).cloned();
    Some(SoloStream {
        received: SoloRate { rate: metric::received(flows, None)?, spread: spread_of("receiver") },
        sent: metric::sent(flows).map(|rate| SoloRate { rate, spread: spread_of("sender") }),
        forward: both(Direction::Forward),
        reverse: both(Direction::Reverse),
        bytes: receivers().map(EndSeries::bytes).sum(),
        elapsed: receivers().map(EndSeries::elapsed).max()?,
        flows: flows.iter().map(flow).collect(),
        tcp: stream::tcp(&[flows]),
        datagrams: stream::datagrams(&[flows]),
        lateness: stream::lateness(&[flows]),
        stability: describe::coefficient_of_variation(rates),
    })
}

fn flow(flow: &Flow) -> SoloFlow {
    let rate = |end: &EndSeries| (end.elapsed().0 > 0).then(|| end.rate().0);
    let tcp = flow.sender.intervals.iter().any(|interval| interval.tcp.is_some());
    SoloFlow {
        id: flow.id,
        direction: flow.direction,
        sent: rate(&flow.sender),
        received: rate(&flow.receiver),
        retransmits: tcp.then(|| flow.sender.retransmits()),
    }
}

fn connected(data: &ConnectData, spread: Option<Spread>) -> Option<SoloConnect> {
    Some(SoloConnect { rate: SoloRate { rate: data.rate()?, spread }, times: connect::together(&[data])? })
}

fn two_levels(single: &Single<'_>) -> Option<SoloLevels> {
    let (of, values) = match single.measurement {
        Measurement::PingPong(data) => ("round trips", humps::points(&data.round_trips)),
        Measurement::Stream(_) | Measurement::Connect(_) | Measurement::Reported(_) => {
            ("intervals", series(single).rates)
        }
    };
    let levels = humps::two_levels(&values)?;
    Some(SoloLevels {
        of: of.to_owned(),
        low: levels.low,
        high: levels.high,
        share_high: levels.share_high,
        unpinned: *single.placement == Placement::Free,
    })
}

fn series(single: &Single<'_>) -> Series {
    series::of(single.measurement, Some(series::interval(single.load)))
}

#[cfg(test)]
mod tests;
