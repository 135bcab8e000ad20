//! Resolves how to reach an existing host. The checks report any problems.

use crate::{
    document::HostTable,
    existing_host::{Access, ExistingHost},
    names::DeviceName,
};

/// Returns how to reach the host, or `None` for a host that the lab creates.
pub(crate) fn existing_host(table: &HostTable) -> Option<ExistingHost> {
    let local = table.local.as_ref().is_some_and(|local| *local.get_ref());
    let access = match (&table.at, &table.ssh, &table.member) {
        (Some(at), ..) => at.get_ref().parse().unwrap_or(Access::Local),
        (None, Some(destination), _) => Access::Ssh { destination: destination.get_ref().clone() },
        (None, None, Some(name)) => Access::Member { name: name.get_ref().clone() },
        (None, None, None) if local => Access::Local,
        (None, None, None) => return None,
    };
    Some(ExistingHost {
        access,
        address: table.address.as_ref().map(|address| address.get_ref().0),
        interface: table.interface.as_ref().map(|name| DeviceName::new(name.get_ref())),
        port: table.port.as_ref().map(|port| *port.get_ref()),
        mtu: None,
        uplink: table.uplink.as_ref().map(|name| name.get_ref().clone()),
    })
}
