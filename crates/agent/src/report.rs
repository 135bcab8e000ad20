//! Converts recorded traffic to the protocol's format.

use protocol::EndReport;
use traffic::Outcome;

use crate::{refusal::Refusal, watch::Watch};

pub(crate) fn end_report(outcome: Outcome, watch: Watch<'_>) -> Result<EndReport, Refusal> {
    let Outcome { measured, threads } = outcome;
    let (softnet, stalled, throttled) = (watch.softnet(), watch.stalled(), watch.throttled());
    Ok(EndReport { measured, threads, machine: watch.machine()?, softnet, stalled, throttled })
}
