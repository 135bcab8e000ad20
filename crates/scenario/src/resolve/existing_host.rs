//! Resolves how to reach an existing host. The checks report any problems.

use crate::{
    document::HostTable,
    existing_host::{Access, ExistingHost},
    names::DeviceName,
};

pub(crate) fn existing_host(table: &HostTable) -> Option<ExistingHost> {
    let access = table.at.as_ref()?.get_ref().parse().unwrap_or(Access::Local);
    Some(ExistingHost {
        access,
        address: table.address.as_ref().map(|address| address.get_ref().0),
        interface: table.interface.as_ref().map(|name| DeviceName::new(name.get_ref())),
        port: table.port.as_ref().map(|port| *port.get_ref()),
        mtu: None,
        uplink: table.uplink.as_ref().map(|name| name.get_ref().clone()),
    })
}
