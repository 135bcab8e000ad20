//! Creates network namespaces and links over netlink.
//!
//! Namespaces exist only as file descriptors, so closing the descriptors removes the lab.

mod address;
mod addresses_between;
mod affinity;
mod channel;
mod checksum_loss;
mod configure;
mod create;
mod device_kind;
mod devices;
mod error;
mod ethtool;
mod existing;
mod foreign_tap;
mod gateway;
mod hops;
mod link;
mod message;
mod missing_capabilities;
mod namespaces;
mod numbering;
mod offload;
mod outgoing_device;
mod path_counters;
mod policers;
mod probe;
mod queue_counts;
mod read_back;
mod refusal;
mod rings;
mod route;
mod scratch;
mod snat;
mod topology;
mod trial;
mod view;
mod virtio_features;

pub use addresses_between::{AddressError, addresses_between};
pub use configure::setting_needs;
pub use device_kind::DeviceKind;
pub use error::{ConfigureError, CreateError, FindError, ReadError};
pub use existing::FoundInterface;
pub use foreign_tap::{ForeignTapState, foreign_tap};
pub use gateway::NEEDS as GATEWAY_NEEDS;
pub use hops::{Hop, Hops, NamedNamespace, hops_between};
pub use link::{Tap, needs};
pub use missing_capabilities::{Element, Missing};
pub use outgoing_device::device_towards;
pub use probe::{Capability, missing, probe};
pub use refusal::Refusal;
pub use topology::{PresentDevice, Topology};
