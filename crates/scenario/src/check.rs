//! Semantic checks of a scenario, one file per concern.

mod addresses;
mod devices;
mod ends;
mod existing_hosts;
mod factors;
mod faults;
mod gateways;
mod links;
mod loops;
mod monitors;
mod mtu;
mod names;
mod pairs;
mod paths;
mod probes;
mod references;
mod routes;
mod schedule;
mod size;
mod variants;
mod virtio_net;
mod vms;
mod workloads;

use crate::{diagnosis::Problem, document::Document, resolve::Draft};

pub(crate) use existing_hosts::fit as existing_hosts_fit;
pub(crate) use factors::{device_words, factors, fit as factors_fit, vary_words};
pub(crate) use faults::{fit as faults_fit, place_faults};
pub(crate) use monitors::fit as monitors_fit;
pub(crate) use mtu::{Fits, Misfit, misfits};
pub(crate) use paths::paths;
pub(crate) use probes::{fit as probes_fit, probes};
pub(crate) use references::Checker;
pub(crate) use schedule::schedule;
pub(crate) use size::size;
pub(crate) use vms::fit as vms_fit;
pub(crate) use workloads::{hosts, workloads};

pub(crate) fn words(document: &Document, draft: &Draft) -> Vec<Problem> {
    let mut problems = Vec::new();
    names::check(document, draft, &mut problems);
    variants::check(document, &mut problems);
    devices::check(document, &mut problems);
    existing_hosts::check(document, draft, &mut problems);
    references::check(document, draft, &mut problems);
    pairs::check(document, &mut problems);
    loops::hosts(document, &mut problems);
    problems
}

pub(crate) fn lab(document: &Document, draft: &Draft) -> Vec<Problem> {
    let mut problems = Vec::new();
    vms::check(document, draft, &mut problems);
    monitors::check(document, &mut problems);
    loops::segments(draft, &mut problems);
    addresses::check(document, draft, &mut problems);
    links::check(document, draft, &mut problems);
    mtu::check(document, draft, &mut problems);
    gateways::check(document, draft, &mut problems);
    routes::check(document, draft, &mut problems);
    problems
}
