//! One run against another: what surrounds them, then cell by cell. Knows no formula.

mod floor;
mod gate;
mod history;
mod judge;
mod learned;
mod matching;
mod outage;
mod settings;
mod surroundings;
mod trust;

use findings::{CONTRAST_SCHEMA, CellContrast, Contrast};
use samples::RunRecord;

use crate::{analyse, measured, noise::Noise};

pub use gate::gate;
pub(crate) use surroundings::{differs, of_machines};

use history::History;

/// Run B against run A, which is the reference. Equal records give equal contrasts.
///
/// `others` are further runs of A's scenario: from those that were made in A's surroundings the noise between runs is
/// learned, where they are enough; what is assumed without them is the least. Neither A nor B need be kept out of them.
///
/// Never fails: of what the trials do not suffice for, the verdict is unknown and says why.
#[must_use]
pub fn contrast(a: &RunRecord, b: &RunRecord, others: &[RunRecord]) -> Contrast {
    let (cells_a, cells_b) = (measured::gather(a), measured::gather(b));
    let matched = matching::matched(&cells_a, &cells_b);
    let floors = [Noise::of(&cells_a), Noise::of(&cells_b)];
    let history = History::of(a, b, &cells_a, others);
    let mut contrast = Contrast {
        schema: CONTRAST_SCHEMA,
        a: analyse::head(a),
        b: analyse::head(b),
        surroundings: surroundings::changes(a, b, &matched.pairs),
        cells: judge::cells(&matched.pairs, &floors, &history),
        history: history.runs,
        only_a: matched.only_a,
        only_b: matched.only_b,
        caveats: Vec::new(),
    };
    let silent = outage::silent(&cells_a, b, &contrast.only_a);
    contrast.only_a.retain(|id| silent.iter().all(|cell| cell.cell != *id));
    contrast.cells.extend(silent);
    let place = |cell: &CellContrast| cells_a.iter().position(|known| known.record.id == cell.cell);
    contrast.cells.sort_by_key(place);
    contrast.caveats = trust::caveats(a, b, &contrast);
    contrast.caveats.extend(floor::caveat(&matched.pairs, &floors));
    contrast
}

#[cfg(test)]
mod tests;
