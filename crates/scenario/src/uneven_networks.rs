//! Warns about different prefix lengths on a network segment. They are rarely intended.

use ipnet::IpNet;

use crate::{lab::Lab, names::DeviceRef, packet_walk::World};

#[must_use]
pub fn uneven_networks(lab: &Lab) -> Vec<String> {
    let world = World::new(lab);
    let all: Vec<(&DeviceRef, IpNet)> = lab.addresses().collect();
    let warning = |(at, (device, network)): (usize, &(&DeviceRef, IpNet))| {
        let is_uneven = |(other, theirs): &&(&DeviceRef, IpNet)| {
            theirs.prefix_len() != network.prefix_len()
                && (theirs.contains(network) || network.contains(theirs))
                && world.is_one_segment(other, device)
        };
        let (other, theirs) = all[..at].iter().find(is_uneven)?;
        Some(format!(
            "`{device}` has {network}, and `{other}`, on the same network segment, has {theirs}, so they disagree \
             about which addresses are on-link; use the same prefix length for both"
        ))
    };
    all.iter().enumerate().filter_map(warning).collect()
}
