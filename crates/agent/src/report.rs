//! Converts recorded traffic to the protocol's format.

use protocol::EndReport;
use traffic::Outcome;

use crate::{refusal::Refusal, watch::Watch};

pub(crate) fn end_report(outcome: Outcome, watch: Watch<'_>) -> Result<EndReport, Refusal> {
    let Outcome { measured, threads } = outcome;
    let (softnet, stalled) = (watch.softnet(), watch.stalled());
    Ok(EndReport { measured, threads, machine: watch.machine()?, softnet, stalled })
}
