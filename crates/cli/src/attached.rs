//! Opens the endpoints on this machine that a scenario's hosts refer to.

use std::collections::BTreeMap;

use machine::Attached;
use scenario::{Access, HostName, Lab};

/// The process must be single-threaded, because it may have to join a user namespace.
pub(crate) fn open(lab: &Lab) -> anyhow::Result<BTreeMap<HostName, Attached>> {
    let endpoints: Vec<_> = lab
        .hosts
        .iter()
        .filter_map(|host| match &host.existing.as_ref()?.access {
            Access::Endpoint(endpoint) => Some((&host.name, endpoint)),
            _ => None,
        })
        .collect();
    let mut opened = BTreeMap::new();
    for (host, endpoint) in &endpoints {
        opened.insert((*host).clone(), Attached::open(endpoint)?);
    }
    for (host, endpoint) in endpoints {
        opened[host].gain_rights(endpoint)?;
    }
    Ok(opened)
}
