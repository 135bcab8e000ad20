//! Checks the keys and values of device settings.

use crate::{diagnosis::Problem, document::Document, resolve};

pub(super) fn check(document: &Document, problems: &mut Vec<Problem>) {
    problems.extend(document.devices.iter().flat_map(|entry| resolve::device_settings(&entry.table).1));
}
