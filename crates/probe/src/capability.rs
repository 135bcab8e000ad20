//! Checks this machine's capabilities, by using them where possible.

mod cgroup;
mod clock;
mod congestion;
mod cpus;
mod ebpf;
mod memory;
mod quiet;
mod rights;
mod virtualisation;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capability {
    pub id: &'static str,
    pub title: &'static str,
    pub needed_for: &'static str,
    pub area: Area,
    pub state: State,
    pub detail: String,
    pub remedy: Option<String>,
    /// Whether results require this capability. Otherwise, it merely improves them.
    pub required: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Works,
    Limited,
    Missing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Area {
    Machine,
    VirtualMachines,
}

/// Checks all capabilities, without lasting changes. This takes well under a second, or up to two seconds longer
/// if a guest hangs. Call it with the same permissions as a run.
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

#[must_use]
pub fn described(environment: &samples::Environment) -> Vec<Capability> {
    vec![cpus::usable(environment), cpus::governor(environment), quiet::load(environment)]
}

struct Subject {
    id: &'static str,
    title: &'static str,
    needed_for: &'static str,
    area: Area,
    required: bool,
}

impl Subject {
    fn works(&self, detail: impl Into<String>) -> Capability {
        self.capability(State::Works, detail.into(), None)
    }

    fn limited(&self, detail: impl Into<String>, remedy: impl Into<String>) -> Capability {
        self.capability(State::Limited, detail.into(), Some(remedy.into()))
    }

    fn missing(&self, detail: impl Into<String>, remedy: impl Into<String>) -> Capability {
        self.capability(State::Missing, detail.into(), Some(remedy.into()))
    }

    fn capability(&self, state: State, detail: String, remedy: Option<String>) -> Capability {
        let Self { id, title, needed_for, area, required } = *self;
        Capability { id, title, needed_for, area, state, detail, remedy, required }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn failing_capabilities_have_reason_and_remedy() {
        let all = capabilities();
        let ids: BTreeSet<_> = all.iter().map(|capability| capability.id).collect();
        assert_eq!(ids.len(), all.len(), "ids are unique");
        for capability in all {
            assert!(!capability.detail.is_empty(), "{capability:?}");
            assert_eq!(capability.remedy.is_none(), capability.state == State::Works, "{capability:?}");
        }
    }

    #[test]
    fn results_agree_with_this_kernel() {
        let all = capabilities();
        let state = |id: &str| all.iter().find(|one| one.id == id).map(|one| one.state).expect("probed");
        assert_eq!(state("rights") == State::Missing, !sys::userns::has_net_admin());
        assert_eq!(state("cpus") == State::Works, sys::affinity::available().len() >= 2);
        assert_eq!(state("ebpf") == State::Works, sys::bpf::try_load().is_ok());
        assert_eq!(state("vhost-net") == State::Works, sys::vhost::try_own().is_ok());
        let flags = std::fs::read_to_string("/proc/cpuinfo").expect("Linux");
        if !flags.split_whitespace().any(|word| word == "vmx" || word == "svm") {
            assert_ne!(state("kvm"), State::Works, "a device node is not sufficient");
        }
    }

    #[test]
    fn repeated_probing_gives_the_same_result() {
        let steady = |all: Vec<Capability>| -> Vec<_> {
            all.into_iter().filter(|one| one.id != "load").map(|one| (one.id, one.state)).collect()
        };
        assert_eq!(steady(capabilities()), steady(capabilities()));
    }
}
