//! A guest's tap device, which Firecracker opens by name.

use sys::netns::NetNs;

/// An unopened tap device.
#[derive(Debug)]
pub struct NamedTap {
    pub device: String,
    /// The network namespace of the device, in which Firecracker will run.
    pub namespace: NetNs,
    /// MAC address for the guest's device.
    pub mac: [u8; 6],
}
