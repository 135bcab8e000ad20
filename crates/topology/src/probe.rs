//! What this kernel and this process can do, found by doing each thing once in scratch namespaces.
//!
//! Every link kind and setting is tried through the same door as a real lab, so that the answer is the one a
//! run would get. Nothing of it is left. It must not know which scenarios need what.

pub(crate) mod scratch;

use std::fs::OpenOptions;

use scenario::{DeviceSettings, Lab, Offloads};
use units::{BitRate, Bytes};

use crate::{gateway, namespaces::Namespaces, snat, topology::Topology};

/// One thing that a lab may need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capability {
    /// What it is called in messages, such as `vxlan`.
    pub name: &'static str,
    /// Whether it worked.
    pub available: bool,
    /// What was done, or why it did not work.
    pub detail: String,
}

/// What is tried: its name, what succeeding shows, and the trial.
type Trial = (&'static str, &'static str, fn() -> Result<(), String>);

/// Each alone, what others need first.
const TRIALS: [Trial; 11] = [
    ("namespaces", "made a network namespace", || raised(&scratch::host())),
    ("veth", "made a pair between two namespaces", || raised(&scratch::wire())),
    ("bridge", "made a bridge with a port", || raised(&scratch::bridge())),
    ("vxlan", "made a tunnel between two namespaces", || raised(&scratch::vxlan())),
    ("policy-routing", "sent a network through a table of its own", policy_routing),
    ("nftables-snat", "translated source addresses with nftables", translation),
    ("forwarding", "let a namespace forward", || raised(&scratch::router())),
    ("rate-limit", "limited a pair to 1 Gbit/s with tbf", rate_limit),
    ("offloads", "switched TSO, GSO, GRO and checksums off and read them back", offloads),
    ("big-tcp", "let a device build packets of 512 KiB", big_tcp),
    ("tun", "opened /dev/net/tun in a namespace", tun),
];

/// Tries each link kind and setting alone.
#[must_use]
pub fn probe() -> Vec<Capability> {
    let judge = |(name, done, trial): &Trial| match trial() {
        Ok(()) => Capability { name, available: true, detail: (*done).to_owned() },
        Err(reason) => Capability { name, available: false, detail: reason },
    };
    TRIALS.iter().map(judge).collect()
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

fn offloads() -> Result<(), String> {
    raised(&with_settings(DeviceSettings { offloads: Offloads::all(false), ..DeviceSettings::default() }))
}

fn big_tcp() -> Result<(), String> {
    /// `GSO_MAX_SIZE` of linux/netdevice.h: eight segments of the old largest size.
    const LARGEST: Bytes = Bytes(8 * 65_535);
    raised(&with_settings(DeviceSettings { big_tcp: Some(LARGEST), ..DeviceSettings::default() }))
}

fn with_settings(settings: DeviceSettings) -> Lab {
    let mut lab = scratch::wire();
    lab.devices.insert(lab.links[0].ends[0].at.clone(), settings);
    lab
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
        assert_eq!(found.len(), TRIALS.len());
        for capability in &found {
            assert!(!capability.detail.is_empty(), "{capability:?}");
        }
        // Where namespaces can be made, so can pairs between them: nothing here works without.
        assert_eq!(found[0].available, sys::userns::has_net_admin(), "{found:?}");
    }
}
