//! What this kernel and this process can do, found by doing each thing once in scratch namespaces.
//!
//! Every link kind and setting is tried through the same door as a real lab, so that the answer is the one a
//! run would get. Nothing of it is left. It must not know which scenarios need what.

pub(crate) mod scratch;

use std::fs::OpenOptions;

use scenario::{DeviceSettings, Lab};
use units::BitRate;

use crate::{configure, gateway, namespaces::Namespaces, snat, topology::Topology};

/// One thing that a lab may need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capability {
    /// What it is called in messages, such as `vxlan`.
    pub name: &'static str,
    /// Whether it worked.
    pub available: bool,
    /// What was done, or why it did not work.
    pub detail: String,
    /// What a lab needs it for.
    pub needed_for: &'static str,
    /// How a kernel comes to have it.
    pub remedy: &'static str,
    /// Whether a path of today cannot do without it.
    pub required: bool,
}

/// How one of them is tried.
pub(crate) struct Trial {
    pub(crate) name: &'static str,
    /// What succeeding shows.
    pub(crate) done: &'static str,
    pub(crate) needed_for: &'static str,
    pub(crate) remedy: &'static str,
    pub(crate) required: bool,
    pub(crate) attempt: fn() -> Result<(), String>,
}

/// Each alone, what others need first.
const TRIALS: [Trial; 9] = [
    Trial {
        name: "namespaces",
        done: "made a network namespace",
        needed_for: "every host of a lab",
        remedy: "a kernel with CONFIG_NET_NS",
        required: true,
        attempt: || raised(&scratch::host()),
    },
    Trial {
        name: "veth",
        done: "made a pair between two namespaces",
        needed_for: "wires, guests and pods",
        remedy: "modprobe veth (CONFIG_VETH)",
        required: true,
        attempt: || raised(&scratch::wire()),
    },
    Trial {
        name: "bridge",
        done: "made a bridge with a port",
        needed_for: "guests and pods behind a bridge",
        remedy: "modprobe bridge (CONFIG_BRIDGE)",
        required: true,
        attempt: || raised(&scratch::bridge()),
    },
    Trial {
        name: "vxlan",
        done: "made a tunnel between two namespaces",
        needed_for: "overlays",
        remedy: "modprobe vxlan (CONFIG_VXLAN)",
        required: true,
        attempt: || raised(&scratch::vxlan()),
    },
    Trial {
        name: "policy-routing",
        done: "sent a network through a table of its own",
        needed_for: "egress gateways",
        remedy: "a kernel with CONFIG_IP_MULTIPLE_TABLES",
        required: true,
        attempt: policy_routing,
    },
    Trial {
        name: "nftables-snat",
        done: "translated source addresses with nftables",
        needed_for: "egress gateways",
        remedy: "modprobe nft_chain_nat (CONFIG_NF_TABLES, CONFIG_NFT_NAT)",
        required: true,
        attempt: translation,
    },
    Trial {
        name: "forwarding",
        done: "let a namespace forward",
        needed_for: "routers and egress gateways",
        remedy: "mount -o remount,rw /proc/sys (CONFIG_SYSCTL)",
        required: true,
        attempt: || raised(&scratch::router()),
    },
    Trial {
        name: "rate-limit",
        done: "limited a pair to 1 Gbit/s with tbf",
        needed_for: "wires with a rate limit",
        remedy: "modprobe sch_tbf (CONFIG_NET_SCH_TBF)",
        required: false,
        attempt: rate_limit,
    },
    Trial {
        name: "tun",
        done: "opened /dev/net/tun in a namespace",
        needed_for: "networks of virtual machines",
        remedy: "modprobe tun (CONFIG_TUN)",
        required: false,
        attempt: tun,
    },
];

/// Tries each link kind and setting alone.
#[must_use]
pub fn probe() -> Vec<Capability> {
    TRIALS.iter().map(Trial::judge).chain(configure::trials().map(|trial| trial.judge())).collect()
}

impl Trial {
    fn judge(&self) -> Capability {
        let &Self { name, done, needed_for, remedy, required, attempt } = self;
        let (available, detail) = match attempt() {
            Ok(()) => (true, done.to_owned()),
            Err(reason) => (false, reason),
        };
        Capability { name, available, detail, needed_for, remedy, required }
    }
}

fn raised(lab: &Lab) -> Result<(), String> {
    let topology = Topology::raise(lab).map_err(|error| error.to_string())?;
    match topology.missing() {
        [] => Ok(()),
        [first, ..] => Err(first.to_string()),
    }
}

fn policy_routing() -> Result<(), String> {
    let gateway = scratch::gateway();
    let namespaces = Namespaces::create(&scratch::wire()).map_err(|error| error.to_string())?;
    let rule = gateway::rule(&gateway, 0).map_err(|refusal| refusal.to_string())?;
    let verdicts =
        namespaces.channel(&gateway.node).transact([rule]).map_err(|refusal| refusal.to_string())?;
    verdicts.into_iter().flatten().next().map_or(Ok(()), |refusal| Err(refusal.to_string()))
}

fn translation() -> Result<(), String> {
    let namespaces = Namespaces::create(&scratch::wire()).map_err(|error| error.to_string())?;
    snat::translate(&namespaces, &[&scratch::gateway()]).map_err(|refusal| refusal.to_string())
}

fn rate_limit() -> Result<(), String> {
    let mut lab = scratch::wire();
    lab.links[0].rate = Some(BitRate(1e9));
    raised(&lab)
}

/// Whether a device of a pair can be given these settings.
pub(crate) fn wire_with(settings: DeviceSettings) -> Result<(), String> {
    let mut lab = scratch::wire();
    lab.devices.insert(lab.links[0].ends[0].at.clone(), settings);
    raised(&lab)
}

fn tun() -> Result<(), String> {
    let topology = Topology::raise(&scratch::host()).map_err(|error| error.to_string())?;
    let (_, namespace) = topology.namespaces().next().expect("the scratch lab has a host");
    let open = || OpenOptions::new().read(true).write(true).open("/dev/net/tun").map(drop);
    let opened = namespace.run_in(open).map_err(|error| error.to_string())?;
    opened.map_err(|error| format!("cannot open /dev/net/tun: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_capability_is_either_shown_or_explained() {
        let found = probe();
        assert_eq!(found.len(), 12);
        for capability in &found {
            assert!(!capability.detail.is_empty(), "{capability:?}");
        }
        // Where namespaces can be made, so can pairs between them: nothing here works without.
        assert_eq!(found[0].available, sys::userns::has_net_admin(), "{found:?}");
    }
}
