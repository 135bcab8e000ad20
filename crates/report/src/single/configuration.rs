//! Effective socket settings, and the machine at this end.

use findings::SingleMeasurement;

use crate::{page::*, sections::configuration};

pub(super) fn build(single: &SingleMeasurement) -> Option<Section> {
    let table = Block::Table(configuration::table(&single.sockets));
    (!single.sockets.is_empty()).then(|| detail("Effective configuration", vec![table]))
}
