//! Resolves how to reach an existing host.

use crate::{
    document::HostTable,
    existing_host::{Access, ExistingHost},
    names::DeviceName,
};

pub(crate) fn existing_host(table: &HostTable) -> Option<ExistingHost> {
    let access = table.at.as_ref()?.parse().unwrap_or(Access::Local);
    Some(ExistingHost {
        access,
        address: table.address.as_ref().map(|address| address.0),
        interface: table.interface.as_ref().map(DeviceName::new),
        port: table.port.as_deref().copied(),
        mtu: None,
        uplink: table.uplink.as_ref().map(|name| name.get_ref().clone()),
    })
}
