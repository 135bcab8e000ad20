//! What traffic recorded, in the protocol's form.

use protocol::{EndReport, FlowReport, PingPongReport};
use samples::MachineCpu;
use traffic::{ping_pong::PingPongOutcome, stream::StreamOutcome};

/// Of a stream.
pub(crate) fn of_stream(outcome: StreamOutcome, machine: MachineCpu) -> EndReport {
    let report = |flow: traffic::stream::FlowOutcome| FlowReport {
        id: flow.id,
        direction: flow.direction,
        series: flow.series,
    };
    let flows = outcome.flows.into_iter().map(report).collect();
    EndReport { flows, ping_pong: None, threads: outcome.threads, machine }
}

/// Of a ping-pong.
pub(crate) fn of_ping_pong(outcome: PingPongOutcome, machine: MachineCpu) -> EndReport {
    let PingPongOutcome { round_trips, elapsed, lost, socket, thread } = outcome;
    let ping_pong = Some(PingPongReport { round_trips, elapsed, lost, socket });
    EndReport { flows: Vec::new(), ping_pong, threads: vec![thread], machine }
}
