//! One line of the doctor's table, from whichever room tried it.

use probe::{Area, State};
use serde::Serialize;

/// Which part of the table a check stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Group {
    Paths,
    Machine,
    VirtualMachines,
}

impl Group {
    pub(super) const ALL: [Self; 3] = [Self::Paths, Self::Machine, Self::VirtualMachines];

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Paths => "Paths",
            Self::Machine => "Machine",
            Self::VirtualMachines => "Virtual machines",
        }
    }
}

/// What came of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Status {
    Works,
    Limited,
    Missing,
}

/// One thing that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Check {
    pub(super) group: Group,
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) status: Status,
    pub(super) detail: String,
    pub(super) needed_for: &'static str,
    pub(super) remedy: Option<String>,
    /// Whether a path or workload of today cannot do without it.
    pub(super) required: bool,
}

impl Check {
    /// A link kind or setting of a lab.
    pub(super) fn of_path(found: topology::Capability) -> Self {
        let Element { needed_for, remedy, required } = element(found.name);
        let remedy = (!found.available).then(|| remedy.to_owned());
        Self {
            group: Group::Paths,
            id: found.name,
            title: found.name,
            status: if found.available { Status::Works } else { Status::Missing },
            detail: found.detail,
            needed_for,
            remedy,
            required,
        }
    }

    /// Anything else.
    pub(super) fn of_machine(found: probe::Capability) -> Self {
        let probe::Capability { id, title, needed_for, area, state, detail, remedy, required } = found;
        let group = match area {
            Area::Machine => Group::Machine,
            Area::VirtualMachines => Group::VirtualMachines,
        };
        let status = match state {
            State::Works => Status::Works,
            State::Limited => Status::Limited,
            State::Missing => Status::Missing,
        };
        Self { group, id, title, status, detail, needed_for, remedy, required }
    }
}

/// What an element of a path is good for, and how a kernel comes to have it.
struct Element {
    needed_for: &'static str,
    remedy: &'static str,
    required: bool,
}

const UNKNOWN: &str = "a newer kernel";

fn element(name: &str) -> Element {
    let (needed_for, remedy, required) = match name {
        "namespaces" => ("every host of a lab", "a kernel with CONFIG_NET_NS", true),
        "veth" => ("wires, guests and pods", "modprobe veth (CONFIG_VETH)", true),
        "bridge" => ("guests and pods behind a bridge", "modprobe bridge (CONFIG_BRIDGE)", true),
        "vxlan" => ("overlays", "modprobe vxlan (CONFIG_VXLAN)", true),
        "policy-routing" => ("egress gateways", "a kernel with CONFIG_IP_MULTIPLE_TABLES", true),
        "nftables-snat" => {
            ("egress gateways", "modprobe nft_chain_nat (CONFIG_NF_TABLES, CONFIG_NFT_NAT)", true)
        }
        "forwarding" => {
            ("routers and egress gateways", "mount -o remount,rw /proc/sys (CONFIG_SYSCTL)", true)
        }
        "rate-limit" => ("wires with a rate limit", "modprobe sch_tbf (CONFIG_NET_SCH_TBF)", false),
        "offloads" => ("the cost of an offload that is off", "a kernel with CONFIG_ETHTOOL_NETLINK", true),
        "big-tcp" => ("packets above 64 KiB (BIG TCP)", "Linux 6.3 or later", false),
        "tun" => ("networks of virtual machines", "modprobe tun (CONFIG_TUN)", false),
        _ => ("paths that use it", UNKNOWN, false),
    };
    Element { needed_for, remedy, required }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_that_is_tried_has_words_of_its_own() {
        for found in topology::probe() {
            assert_ne!(element(found.name).remedy, UNKNOWN, "{found:?}");
        }
    }

    #[test]
    fn a_missing_element_names_the_option_of_the_kernel() {
        let found = |available| topology::Capability { name: "vxlan", available, detail: "tried".into() };
        assert!(Check::of_path(found(false)).remedy.expect("one").contains("CONFIG_VXLAN"));
        assert_eq!(Check::of_path(found(true)).remedy, None);
    }
}
