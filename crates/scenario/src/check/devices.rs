//! Settings of devices: sizes that the kernel takes.

use super::factors::big_tcp;
use crate::{diagnosis::Problem, document::Document};

pub(super) fn check(document: &Document, problems: &mut Vec<Problem>) {
    let sizes = document.devices.iter().filter_map(|entry| entry.table.big_tcp.as_ref());
    problems.extend(sizes.filter_map(|size| big_tcp(size.get_ref().0, size.span()).err()));
}
