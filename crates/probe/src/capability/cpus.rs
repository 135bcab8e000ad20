//! Checks the number of usable CPUs and their frequency governor.

use std::collections::BTreeSet;

use samples::Environment;

use super::{Area, Capability, Subject};
use crate::file::line;

const CPUS: Subject = Subject {
    id: "cpus",
    title: "CPUs",
    needed_for: "separate CPUs for both ends of a path (placement cross-cpu)",
    area: Area::Machine,
    required: true,
};

const GOVERNOR: Subject = Subject {
    id: "governor",
    title: "CPU governor",
    needed_for: "stable results: every rate depends on the CPU frequency",
    area: Area::Machine,
    required: false,
};

pub(super) fn usable(environment: &Environment) -> Capability {
    judge_usable(&environment.usable_cpus, environment.cpus)
}

pub(super) fn governor(environment: &Environment) -> Capability {
    let path = |cpu: &u32| format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor");
    let found = environment.usable_cpus.iter().filter_map(|cpu| line(path(cpu))).collect();
    judge_governor(&found, environment.virtual_machine)
}

fn judge_usable(usable: &[u32], online: u32) -> Capability {
    let detail = format!("{} of {online} usable", usable.len());
    if usable.len() >= 2 {
        return CPUS.works(detail);
    }
    CPUS.missing(
        format!("{detail}: both ends of a path share this CPU"),
        "give this machine or container a second CPU; `taskset -p $$` shows a shell's affinity",
    )
}

fn judge_governor(found: &BTreeSet<String>, virtual_machine: bool) -> Capability {
    if found.is_empty() {
        let host = if virtual_machine { "; the virtual machine's host controls the frequency" } else { "" };
        return GOVERNOR.limited(
            format!("unknown: the kernel has no cpufreq driver{host}"),
            "on physical CPUs: cpupower frequency-set -g performance (CONFIG_CPU_FREQ)",
        );
    }
    let names = found.iter().map(String::as_str).collect::<Vec<_>>().join(" and ");
    if names == "performance" {
        return GOVERNOR.works(names);
    }
    GOVERNOR.limited(names, "cpupower frequency-set -g performance")
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn one_usable_cpu_of_many_is_limited() {
        for (usable, state) in
            [(&[0, 1][..], State::Works), (&[3], State::Missing), (&[0, 2, 5], State::Works)]
        {
            assert_eq!(judge_usable(usable, 8).state, state, "{usable:?}");
        }
    }

    #[test]
    fn warns_if_any_cpu_has_another_governor() {
        let judge =
            |names: &[&str]| judge_governor(&names.iter().map(|&name| name.to_owned()).collect(), false);
        assert_eq!(judge(&["performance"]).state, State::Works);
        assert_eq!(judge(&["performance", "powersave"]).state, State::Limited);
        assert!(judge(&["performance", "powersave"]).detail.contains("powersave"));
        assert!(judge(&[]).detail.starts_with("unknown"));
    }
}
