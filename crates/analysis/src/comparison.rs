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

/// Run B against run A, which is the reference. Equal records give equal contrasts.
///
/// `others` are further runs of A's scenario: from those that were made in A's surroundings the noise between runs is
/// learned, where they are enough; what is assumed without them is the least. Neither A nor B need be kept out of them.
///
/// Never fails: of what the trials do not suffice for, the verdict is unknown and says why.
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
