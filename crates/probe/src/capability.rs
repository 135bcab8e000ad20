//! What this machine can do beside the links of a lab, found by doing it where that is possible.
//!
//! One file per subject; each judges what it read in a function without I/O. It must not know which scenario
//! needs what, nor how an answer is shown. Links and their settings are tried by whoever raises them.

mod cgroup;
mod clock;
mod congestion;
mod cpus;
mod ebpf;
mod memory;
mod quiet;
mod rights;
mod virtualisation;

/// One thing that this machine can do, or not, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capability {
    /// Its name for programs: lower-case letters and dashes, never changed.
    pub id: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What would be lost without it.
    pub needed_for: &'static str,
    /// Which part of the machine it belongs to.
    pub area: Area,
    /// Whether it is there.
    pub state: State,
    /// What was tried or read, and what came of it.
    pub detail: String,
    /// A command, an option of the kernel, or another thing to do; none when nothing is wrong.
    pub remedy: Option<String>,
    /// Whether a path or workload of today cannot do without it; otherwise it makes numbers better, or is
    /// for what comes later.
    pub required: bool,
}

/// Whether a capability is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It does what is needed.
    Works,
    /// It is there, and less than one would wish; or it is not known.
    Limited,
    /// It is not there.
    Missing,
}

/// Which part of the machine a capability belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Area {
    /// Processors, memory, rights, the kernel's observers.
    Machine,
    /// What guests in virtual machines need.
    VirtualMachines,
}

/// Tries everything, each thing alone. Takes well under a second, up to two more where a guest hangs, and
/// leaves nothing behind. To be called with the rights that a run would have.
#[must_use]
pub fn capabilities() -> Vec<Capability> {
    let environment = crate::environment();
    vec![
        rights::probe(),
        cpus::usable(&environment),
        cpus::governor(&environment),
        quiet::load(&environment),
        quiet::steal(),
        clock::probe(&environment),
        memory::probe(),
        congestion::probe(&environment),
        cgroup::probe(),
        ebpf::load(),
        ebpf::types(),
        virtualisation::tap(),
        virtualisation::vhost_net(),
        virtualisation::kvm(),
    ]
}

/// What its description tells of a machine that is looked at from elsewhere.
#[must_use]
pub fn described(environment: &samples::Environment) -> Vec<Capability> {
    vec![cpus::usable(environment), cpus::governor(environment), quiet::load(environment)]
}

/// A capability before it was tried.
struct Subject {
    id: &'static str,
    title: &'static str,
    needed_for: &'static str,
    area: Area,
    required: bool,
}

impl Subject {
    fn works(&self, detail: impl Into<String>) -> Capability {
        self.found(State::Works, detail.into(), None)
    }

    fn limited(&self, detail: impl Into<String>, remedy: impl Into<String>) -> Capability {
        self.found(State::Limited, detail.into(), Some(remedy.into()))
    }

    fn missing(&self, detail: impl Into<String>, remedy: impl Into<String>) -> Capability {
        self.found(State::Missing, detail.into(), Some(remedy.into()))
    }

    fn found(&self, state: State, detail: String, remedy: Option<String>) -> Capability {
        let Self { id, title, needed_for, area, required } = *self;
        Capability { id, title, needed_for, area, state, detail, remedy, required }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn whatever_does_not_work_says_why_and_what_to_do() {
        let all = capabilities();
        let ids: BTreeSet<_> = all.iter().map(|capability| capability.id).collect();
        assert_eq!(ids.len(), all.len(), "every name once");
        for capability in all {
            assert!(!capability.detail.is_empty(), "{capability:?}");
            assert_eq!(capability.remedy.is_none(), capability.state == State::Works, "{capability:?}");
        }
    }

    #[test]
    fn what_was_found_agrees_with_the_kernel_on_this_machine() {
        let all = capabilities();
        let state = |id: &str| all.iter().find(|one| one.id == id).map(|one| one.state).expect("probed");
        assert_eq!(state("rights") == State::Missing, !sys::userns::has_net_admin());
        assert_eq!(state("cpus") == State::Works, sys::affinity::available().len() >= 2);
        assert_eq!(state("ebpf") == State::Works, sys::bpf::try_load().is_ok());
        assert_eq!(state("vhost-net") == State::Works, sys::vhost::try_own().is_ok());
        let flags = std::fs::read_to_string("/proc/cpuinfo").expect("Linux");
        if !flags.split_whitespace().any(|word| word == "vmx" || word == "svm") {
            assert_ne!(state("kvm"), State::Works, "a device node proves nothing");
        }
    }

    #[test]
    fn probing_twice_leaves_nothing_that_changes_the_answer() {
        let steady = |all: Vec<Capability>| -> Vec<_> {
            all.into_iter().filter(|one| one.id != "load").map(|one| (one.id, one.state)).collect()
        };
        assert_eq!(steady(capabilities()), steady(capabilities()));
    }
}
