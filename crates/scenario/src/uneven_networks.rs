//! Addresses on one network segment whose networks are of different sizes: they can be meant, and seldom are. Must not know
//! paths.

use ipnet::Ipv4Net;

use crate::{lab::Lab, names::DeviceRef, packet_walk::World};

/// A sentence for each device whose network is of another size than that of one before it on the same network segment.
#[must_use]
pub fn uneven_networks(lab: &Lab) -> Vec<String> {
    let world = World::new(lab);
    let all: Vec<(&DeviceRef, Ipv4Net)> = lab.addresses().collect();
    let said = |(at, (device, network)): (usize, &(&DeviceRef, Ipv4Net))| {
        let is_uneven = |(other, theirs): &&(&DeviceRef, Ipv4Net)| {
            theirs.prefix_len() != network.prefix_len()
                && (theirs.contains(network) || network.contains(theirs))
                && world.is_one_segment(other, device)
        };
        let (other, theirs) = all[..at].iter().find(is_uneven)?;
        Some(format!(
            "`{device}` has {network}, and `{other}`, on the same network segment, {theirs}: they take different addresses for \
             neighbours; give both the same prefix length"
        ))
    };
    all.iter().enumerate().filter_map(said).collect()
}
