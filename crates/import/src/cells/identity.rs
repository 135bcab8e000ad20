//! The properties that determine the result that a test belongs to.

use std::collections::BTreeMap;

use samples::ImportedSettings;
use workload::{Measurement, Quantity};

use crate::{
    imported_test::{End, ImportedTest, Part},
    rate_basis::RateBasis,
};

/// Everything that determines a test's cell.
#[derive(Debug, PartialEq)]
pub(super) struct Identity {
    pub(super) file: String,
    pub(super) title: Vec<String>,
    pub(super) settings: ImportedSettings,
    pub(super) hosts: Option<(String, String)>,
    pub(super) levels: BTreeMap<String, String>,
    pub(super) counted: Option<RateBasis>,
    pub(super) quantity: Quantity,
    pub(super) observed: BTreeMap<&'static str, String>,
    pub(super) part: Part,
}

impl Identity {
    pub(super) fn of(found: &ImportedTest) -> Self {
        Self {
            file: found.file.clone(),
            title: found.title.clone(),
            settings: found.settings.clone(),
            hosts: hosts(found),
            levels: found.levels.clone(),
            counted: RateBasis::of(&found.measurement),
            quantity: quantity(&found.measurement),
            observed: found.observed.clone(),
            part: found.part.clone(),
        }
    }
}

fn hosts(found: &ImportedTest) -> Option<(String, String)> {
    let role = |role: &str| role.to_owned();
    found.hosts.clone().or_else(|| match (found.end, found.peer.clone()) {
        (Some(End::Client), Some(peer)) => Some((role("client"), peer)),
        (Some(End::Server), Some(peer)) => Some((peer, role("server"))),
        _ => None,
    })
}

fn quantity(measurement: &Measurement) -> Quantity {
    match measurement {
        Measurement::Stream(_) => Quantity::BitRate,
        Measurement::PingPong(_) => Quantity::Time,
        Measurement::Reported(data) => data.values.first().map_or(Quantity::Plain, |value| value.quantity),
        _ => Quantity::Plain,
    }
}
