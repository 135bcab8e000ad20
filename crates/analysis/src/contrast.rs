//! One run against another: what surrounds them, then cell by cell. Knows no formula.

mod floor;
mod gate;
mod judge;
mod matching;
mod outage;
mod settings;
mod surroundings;
mod trust;

use findings::{CONTRAST_SCHEMA, CellContrast, Contrast};
use samples::RunRecord;

use crate::{analyse, measured, noise::Noise};

pub use gate::gate;

/// Run B against run A, which is the reference. Equal records give equal contrasts.
///
/// Never fails: of what the trials do not suffice for, the verdict is unknown and says why.
#[must_use]
pub fn contrast(a: &RunRecord, b: &RunRecord) -> Contrast {
    let (cells_a, cells_b) = (measured::gather(a), measured::gather(b));
    let matched = matching::matched(&cells_a, &cells_b);
    let floors = [Noise::of(&cells_a), Noise::of(&cells_b)];
    let mut contrast = Contrast {
        schema: CONTRAST_SCHEMA,
        a: analyse::head(a),
        b: analyse::head(b),
        surroundings: surroundings::changes(a, b, &matched.pairs),
        cells: judge::cells(&matched.pairs, &floors),
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
