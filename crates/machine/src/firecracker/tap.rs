//! A guest's tap device, which Firecracker opens by name.

use sys::netns::NetNs;

#[derive(Debug)]
pub struct NamedTap {
    pub device: String,
    pub namespace: NetNs,
    pub mac: [u8; 6],
}
