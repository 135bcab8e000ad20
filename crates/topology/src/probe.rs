//! What this kernel and this process can do, found by doing each thing once in scratch namespaces.
//!
//! Every link kind and setting is tried through the same door as a real lab, so that the answer is the one a
//! run would get. Nothing of it is left. It must not know which scenarios need what.

pub(crate) mod scratch;

use scenario::{DeviceSettings, Lab, Layer};

use crate::{configure, link, topology::Topology};

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

const NAMESPACES: Trial = Trial {
    name: "namespaces",
    done: "made a network namespace",
    needed_for: "every host of a lab",
    remedy: "a kernel with CONFIG_NET_NS",
    required: true,
    attempt: || raised(&scratch::host()),
};

/// Tries what each layer and setting takes, alone and each once.
#[must_use]
pub fn probe() -> Vec<Capability> {
    let settings: Vec<Trial> = configure::trials().collect();
    let mut trials = vec![&NAMESPACES];
    trials.extend(Layer::ALL.iter().flat_map(|layer| link::trials(*layer)).chain(&settings));
    let mut found: Vec<Capability> = Vec::new();
    for trial in trials {
        if !found.iter().any(|capability| capability.name == trial.name) {
            found.push(trial.judge());
        }
    }
    found
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

/// Whether all of `lab` can be raised.
pub(crate) fn raised(lab: &Lab) -> Result<(), String> {
    let topology = Topology::raise(lab).map_err(|error| error.to_string())?;
    match topology.missing() {
        [] => Ok(()),
        [first, ..] => Err(first.to_string()),
    }
}

/// Whether a device of a pair can be given these settings.
pub(crate) fn wire_with(settings: DeviceSettings) -> Result<(), String> {
    let mut lab = scratch::wire();
    lab.devices.insert(scratch::near(), settings);
    raised(&lab)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_capability_is_either_shown_or_explained() {
        let found = probe();
        let named = |name| found.iter().filter(|capability| capability.name == name).count();
        assert!(Layer::ALL.iter().flat_map(|layer| link::trials(*layer)).all(|trial| named(trial.name) == 1));
        assert!(configure::trials().all(|trial| named(trial.name) == 1));
        for capability in &found {
            assert!(!capability.detail.is_empty(), "{capability:?}");
        }
        // Where namespaces can be made, so can pairs between them: nothing here works without.
        assert_eq!(found[0].available, sys::userns::has_net_admin(), "{found:?}");
    }
}
