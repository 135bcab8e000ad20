//! The tap device of a guest's network device, which Firecracker opens by its name.

use sys::netns::NetNs;

/// A tap device that nobody has opened.
#[derive(Debug)]
pub struct NamedTap {
    /// Its name.
    pub device: String,
    /// The network namespace that it is in, and that Firecracker will run in.
    pub namespace: NetNs,
    /// The MAC address that the guest's device must have.
    pub mac: [u8; 6],
}
