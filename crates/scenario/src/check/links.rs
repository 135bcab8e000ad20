//! Runs the checks of each kind of link, then traces the packets that links themselves send.

use crate::{diagnosis::Problem, document::Document, packet_walk::World, resolve::Draft};

pub(super) fn check(document: &Document, draft: &Draft, problems: &mut Vec<Problem>) {
    let before = problems.len();
    document.links.all().for_each(|table| table.check(document, draft, problems));
    if problems.len() == before {
        let world = World::new(&draft.lab);
        document.links.all().for_each(|table| table.walk(&world, draft, problems));
    }
}
