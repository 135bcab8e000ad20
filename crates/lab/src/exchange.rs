//! The input and the reports of the two ends of a trial.

use std::net::IpAddr;

use protocol::{EndReport, Observation};
use scenario::{Path, PlannedResult};

use crate::placement::Cpus;

#[derive(Clone, Copy)]
pub(crate) struct Exchange<'a> {
    pub(crate) path: &'a Path,
    pub(crate) result: &'a PlannedResult,
    pub(crate) cpus: &'a Cpus,
    pub(crate) probed: bool,
    pub(crate) is_lossy: bool,
}

impl Exchange<'_> {
    pub(crate) fn client_address(&self) -> IpAddr {
        self.path.from.address_in(self.result.family)
    }

    pub(crate) fn server_address(&self) -> IpAddr {
        self.path.to.address_in(self.result.family)
    }
}

pub(crate) struct Reports {
    pub(crate) client: EndReport,
    pub(crate) server: Option<EndReport>,
    pub(crate) seen: Option<Observation>,
}
