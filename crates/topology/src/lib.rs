//! Namespaces and links over netlink: raise a lab, configure its devices, read back what the kernel made.
//!
//! One file per link kind. Every namespace is anonymous and held by a descriptor only, so that nothing has to
//! be removed by name: closing the descriptors removes the lab. This room knows nothing of traffic, trials or
//! reports.
#![expect(clippy::disallowed_methods, reason = "settings of a namespace's network are files of /proc/sys")]

mod address;
mod channel;
mod configure;
mod devices;
mod error;
mod ethtool;
mod gateway;
mod held_tap;
mod link;
mod message;
mod missing;
mod namespaces;
mod negotiated;
mod offload;
mod probe;
mod queue_counts;
mod raise;
mod read_back;
mod reading;
mod refusal;
mod rings;
mod route;
mod snat;
mod spread;
mod topology;
mod towards;

pub use configure::setting_needs;
pub use error::{ConfigureError, RaiseError, ReadError};
pub use gateway::NEEDS as GATEWAY_NEEDS;
pub use held_tap::{HeldTap, held_tap};
pub use link::{DeviceKind, Tap, needs};
pub use missing::{Element, Missing};
pub use probe::{Capability, probe};
pub use refusal::Refusal;
pub use topology::{StandingDevice, Topology};
pub use towards::device_towards;
