//! The connections of a cell: histograms merged, failures added up.

use findings::ConnectSummary;
use samples::{Arm, Trial};
use workload::{ConnectData, Measurement};

use crate::{distribution, measured::Measured};

/// The connections of all trials of a cell; `None` when there are none.
pub(crate) fn summary(cell: &Measured<'_>) -> Option<ConnectSummary> {
    // Trials in which none succeeded count too: they are where most failed.
    let barren = cell.unusable.iter().copied().filter(|trial| trial.arm == Arm::Measure);
    together(&cell.trials().chain(barren).filter_map(connections).collect::<Vec<_>>())
}

/// Several as one; `None` when no connection succeeded.
pub(crate) fn together(all: &[&ConnectData]) -> Option<ConnectSummary> {
    Some(ConnectSummary {
        connects: distribution::of(&distribution::merged(all.iter().map(|data| &data.connects)))?,
        exchanges: distribution::of(&distribution::merged(all.iter().map(|data| &data.exchanges)))?,
        failed: all.iter().fold(0, |sum, data| sum.saturating_add(data.failed)),
    })
}

/// The connections of a trial; `None` when it made none.
pub(crate) fn connections(trial: &Trial) -> Option<&ConnectData> {
    match &trial.measurement {
        Measurement::Connect(data) => Some(data),
        Measurement::Stream(_) | Measurement::PingPong(_) | Measurement::Reported(_) => None,
    }
}
