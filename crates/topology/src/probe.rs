//! Capabilities of this kernel and process, detected by trying each in scratch namespaces.
//!
//! Uses the same code as a real lab, so that the result is the same. Leaves nothing behind. Independent of scenarios.

pub(crate) mod scratch;

use scenario::{DeviceSettings, Lab, Layer};

use crate::{configure, link, topology::Topology};

/// Something that a lab may need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capability {
    /// For messages, e.g. `vxlan`.
    pub name: &'static str,
    pub available: bool,
    /// The operation, or why it failed.
    pub detail: String,
    pub needed_for: &'static str,
    pub remedy: &'static str,
    /// Whether some paths cannot work without it.
    pub required: bool,
}

/// A test of a capability.
pub(crate) struct Trial {
    pub(crate) name: &'static str,
    pub(crate) done: &'static str,
    pub(crate) needed_for: &'static str,
    pub(crate) remedy: &'static str,
    pub(crate) required: bool,
    pub(crate) attempt: fn() -> Result<(), String>,
}

const NAMESPACES: Trial = Trial {
    name: "namespaces",
    done: "created a network namespace",
    needed_for: "all hosts of a lab",
    remedy: "a kernel with CONFIG_NET_NS",
    required: true,
    attempt: || check_lab(&scratch::host()),
};

/// Tests all capabilities of layers and settings, each once.
#[must_use]
pub fn probe() -> Vec<Capability> {
    let settings: Vec<Trial> = configure::trials().collect();
    let mut trials = vec![&NAMESPACES];
    trials.extend(Layer::ALL.iter().flat_map(|layer| link::trials(*layer)).chain(&settings));
    let mut found: Vec<Capability> = Vec::new();
    for trial in trials {
        if !found.iter().any(|capability| capability.name == trial.name) {
            found.push(trial.run());
        }
    }
    found
}

impl Trial {
    fn run(&self) -> Capability {
        let &Self { name, done, needed_for, remedy, required, attempt } = self;
        let (available, detail) = match attempt() {
            Ok(()) => (true, done.to_owned()),
            Err(reason) => (false, reason),
        };
        Capability { name, available, detail, needed_for, remedy, required }
    }
}

/// Checks that all of `lab` can be created.
pub(crate) fn check_lab(lab: &Lab) -> Result<(), String> {
    let topology = Topology::create(lab).map_err(|error| error.to_string())?;
    match topology.missing() {
        [] => Ok(()),
        [first, ..] => Err(first.to_string()),
    }
}

/// Checks that a veth device supports these settings.
pub(crate) fn check_wire_with(settings: DeviceSettings) -> Result<(), String> {
    let mut lab = scratch::wire();
    lab.devices.insert(scratch::near(), settings);
    check_lab(&lab)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_each_capability_once() {
        let found = probe();
        let named = |name| found.iter().filter(|capability| capability.name == name).count();
        assert!(Layer::ALL.iter().flat_map(|layer| link::trials(*layer)).all(|trial| named(trial.name) == 1));
        assert!(configure::trials().all(|trial| named(trial.name) == 1));
        for capability in &found {
            assert!(!capability.detail.is_empty(), "{capability:?}");
        }
        // Where namespaces can be created, so can veth pairs; nothing works without them.
        assert_eq!(found[0].available, sys::userns::has_net_admin(), "{found:?}");
    }
}
