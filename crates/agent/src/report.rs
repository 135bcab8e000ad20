//! What traffic recorded, in the protocol's form.

use protocol::EndReport;
use traffic::Outcome;

use crate::{refusal::Refusal, watch::Watch};

/// One end's report, with what was read of the machine beside it.
pub(crate) fn of(outcome: Outcome, watch: Watch<'_>) -> Result<EndReport, Refusal> {
    let Outcome { measured, threads } = outcome;
    let (softnet, stalled) = (watch.softnet(), watch.stalled());
    Ok(EndReport { measured, threads, machine: watch.machine()?, softnet, stalled })
}
