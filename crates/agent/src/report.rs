//! What traffic recorded, in the protocol's form.

use protocol::{EndReport, FlowReport};
use traffic::Outcome;

use crate::{refusal::Refusal, watch::Watch};

/// One end's report, with what was read of the machine beside it.
pub(crate) fn of(outcome: Outcome, watch: Watch<'_>) -> Result<EndReport, Refusal> {
    let Outcome { flows, ping_pong, connect, threads } = outcome;
    let report = |flow: traffic::FlowOutcome| FlowReport {
        id: flow.id,
        direction: flow.direction,
        series: flow.series,
    };
    let flows = flows.into_iter().map(report).collect();
    let softnet = watch.softnet();
    Ok(EndReport { flows, ping_pong, connect, threads, machine: watch.machine()?, softnet })
}
