//! Keeps track of unreachable hosts and broken paths. A run with many hosts continues without them, but is
//! incomplete until it is resumed.

use std::{collections::BTreeMap, fmt};

use scenario::{HostName, Lab, Path, PathName};

use crate::error::RunError;

/// With fewer existing hosts than this, a run ends when it loses one.
const MIN_HOSTS: usize = 3;
const ATTEMPTS: u32 = 2;

#[derive(Debug, Clone, Default)]
pub(crate) struct LeftOut {
    hosts: BTreeMap<HostName, String>,
    paths: BTreeMap<PathName, String>,
    refused: BTreeMap<PathName, u32>,
}

pub(crate) fn dispensable(lab: &Lab) -> Vec<HostName> {
    let existing = lab.hosts.iter().filter(|host| host.existing.is_some());
    let hosts: Vec<HostName> = existing.map(|host| host.name.clone()).collect();
    if hosts.len() < MIN_HOSTS { Vec::new() } else { hosts }
}

impl LeftOut {
    pub(crate) fn is_empty(&self) -> bool {
        self.hosts.is_empty() && self.paths.is_empty()
    }

    pub(crate) fn hosts(&self) -> usize {
        self.hosts.len()
    }

    pub(crate) fn has(&self, host: &HostName) -> bool {
        self.hosts.contains_key(host)
    }

    pub(crate) fn host(&mut self, host: HostName, reason: String) {
        self.hosts.insert(host, reason);
    }

    pub(crate) fn path(&mut self, path: &PathName, reason: String) {
        self.paths.insert(path.clone(), reason);
    }

    pub(crate) fn may_try_again(&mut self, path: &PathName) -> bool {
        let refused = self.refused.entry(path.clone()).or_default();
        *refused += 1;
        *refused < ATTEMPTS
    }

    pub(crate) fn concerns(&self, path: &Path, lab: &Lab) -> bool {
        let is_gone = |host: &HostName| self.has(lab.seat(host).unwrap_or(host));
        self.paths.contains_key(&path.name) || is_gone(&path.from.host) || is_gone(&path.to.host)
    }

    pub(crate) fn check(&self) -> Result<(), RunError> {
        if self.is_empty() { Ok(()) } else { Err(RunError::LeftOut { what: self.to_string() }) }
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts = self.hosts.iter().map(|(host, reason)| {
            let reason = reason.strip_prefix(&format!("host {host}: ")).unwrap_or(reason);
            format!("host {host} ({reason})")
        });
        let paths = self.paths.iter().map(|(path, reason)| format!("path {path} ({reason})"));
        f.write_str(&hosts.chain(paths).collect::<Vec<_>>().join(", "))
    }
}
