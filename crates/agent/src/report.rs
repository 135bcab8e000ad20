//! What traffic recorded, in the protocol's form.

use protocol::{EndReport, FlowReport};
use samples::MachineCpu;
use traffic::Outcome;

/// One end's report.
pub(crate) fn of(outcome: Outcome, machine: MachineCpu) -> EndReport {
    let Outcome { flows, ping_pong, connect, threads } = outcome;
    let report = |flow: traffic::FlowOutcome| FlowReport {
        id: flow.id,
        direction: flow.direction,
        series: flow.series,
    };
    let flows = flows.into_iter().map(report).collect();
    EndReport { flows, ping_pong, connect, threads, machine }
}
