//! The kinds of device pairs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Layer;

/// A pair of devices. Packets sent by one are received by the other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PairKind {
    #[default]
    Veth,
    /// Netkit in L2 mode, without a BPF program (Linux 6.10).
    Netkit,
}

impl PairKind {
    pub(super) fn layer(self, of_veth: Layer) -> Layer {
        match self {
            Self::Veth => of_veth,
            Self::Netkit => Layer::Netkit,
        }
    }

    pub(super) fn modules(self) -> Vec<&'static str> {
        match self {
            Self::Veth => vec![],
            Self::Netkit => vec!["netkit"],
        }
    }
}
