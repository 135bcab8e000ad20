//! Detects the capabilities of this kernel and process by trying each in scratch namespaces.

use scenario::{Lab, Layer};

use crate::{
    configure, link,
    refusal::Refusal,
    scratch,
    topology::Topology,
    trial::{Attempt, Trial},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capability {
    pub name: &'static str,
    pub available: bool,
    pub detail: String,
    pub needed_for: &'static str,
    pub remedy: &'static str,
    pub required: bool,
}

const NAMESPACES: Trial = Trial {
    name: "namespaces",
    done: "created a network namespace",
    needed_for: "all hosts of a lab",
    remedy: "a kernel with CONFIG_NET_NS",
    required: true,
    attempt: Attempt::Lab(scratch::host),
};

#[must_use]
pub fn probe() -> Vec<Capability> {
    let settings: Vec<Trial> = configure::trials().collect();
    let mut trials = vec![&NAMESPACES];
    trials.extend(Layer::ALL.iter().flat_map(|layer| link::trials(*layer)).chain(&settings));
    let mut found: Vec<Capability> = Vec::new();
    for trial in trials {
        if !found.iter().any(|capability| capability.name == trial.name) {
            found.push(run(trial));
        }
    }
    found
}

/// Returns why this kernel does not support links with this layer, or `None` if it supports them or cannot create labs.
#[must_use]
pub fn missing(layer: Layer) -> Option<Refusal> {
    let refusal = |trial: &Trial| match trial.attempt {
        Attempt::Lab(lab) => {
            Topology::create(&lab()).ok()?.missing().iter().find_map(|missing| missing.refusal.clone())
        }
        Attempt::Call(_) => None,
    };
    link::trials(layer).iter().find_map(refusal)
}

fn run(trial: &Trial) -> Capability {
    let &Trial { name, done, needed_for, remedy, required, attempt } = trial;
    let attempted = match attempt {
        Attempt::Lab(lab) => check_lab(&lab()),
        Attempt::Call(call) => call(),
    };
    let (available, detail) = match attempted {
        Ok(()) => (true, done.to_owned()),
        Err(reason) => (false, reason),
    };
    Capability { name, available, detail, needed_for, remedy, required }
}

fn check_lab(lab: &Lab) -> Result<(), String> {
    let topology = Topology::create(lab).map_err(|error| error.to_string())?;
    match topology.missing() {
        [] => Ok(()),
        [first, ..] => Err(first.refusal.as_ref().map_or_else(|| first.to_string(), ToString::to_string)),
    }
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
        // If namespaces can be created, so can veth pairs. All other capabilities depend on these.
        assert_eq!(found[0].available, sys::userns::has_net_admin(), "{found:?}");
    }
}
