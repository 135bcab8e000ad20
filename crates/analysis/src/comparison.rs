//! Two runs compared: environment, then cell by cell. Knows no formula.

mod between_runs;
mod environment;
mod floor;
mod gate;
mod history;
mod judge;
mod matching;
mod outage;
mod settings;
mod warnings;

use findings::{CONTRAST_SCHEMA, CellComparison, RunComparison};
use samples::RunRecord;

use crate::{analyse, noise::Noise, observations};

pub(crate) use environment::{differs, of_machines};
pub use gate::gate;

use history::History;

/// Compares run B with run A, the reference. Deterministic. `others` are further runs of A's scenario; those in the same
/// environment are used to estimate the noise between runs and may include A and B. Never fails: the verdict is unknown, with
/// a reason, if there are too few trials.
#[must_use]
pub fn comparison(a: &RunRecord, b: &RunRecord, others: &[RunRecord]) -> RunComparison {
    let (cells_a, cells_b) = (observations::gather(a), observations::gather(b));
    let matched = matching::matched(&cells_a, &cells_b);
    let floors = [Noise::of(&cells_a), Noise::of(&cells_b)];
    let history = History::of(a, b, &cells_a, others);
    let mut contrast = RunComparison {
        schema: CONTRAST_SCHEMA,
        a: analyse::head(a),
        b: analyse::head(b),
        surroundings: environment::changes(a, b, &matched.pairs),
        cells: judge::cells(&matched.pairs, &floors, &history),
        history: history.runs,
        only_a: matched.only_a,
        only_b: matched.only_b,
        caveats: Vec::new(),
    };
    let silent = outage::silent(&cells_a, b, &contrast.only_a);
    contrast.only_a.retain(|id| silent.iter().all(|cell| cell.cell != *id));
    contrast.cells.extend(silent);
    let place = |cell: &CellComparison| cells_a.iter().position(|known| known.record.id == cell.cell);
    contrast.cells.sort_by_key(place);
    contrast.caveats = warnings::caveats(a, b, &contrast);
    contrast.caveats.extend(floor::caveat(&matched.pairs, &floors));
    contrast
}

#[cfg(test)]
mod tests;
