//! Whether other work disturbs a measurement: load of this machine, and CPU time that its host keeps.

use procfs::{CurrentSI, KernelStats};
use samples::Environment;

use super::{Area, Capability, Subject};

const LOAD: Subject = Subject {
    id: "load",
    title: "other work",
    needed_for: "small differences: other work is noise in every trial",
    area: Area::Machine,
    required: false,
};

const STEAL: Subject = Subject {
    id: "steal",
    title: "stolen CPU time",
    needed_for: "small differences: a host that takes the CPU away looks like a slow path",
    area: Area::Machine,
    required: false,
};

/// Runnable tasks per CPU, over the last minute, from which on a machine counts as busy.
const BUSY: f64 = 0.5;

/// Of all CPU time since boot, in percent.
const STOLEN_TOO_MUCH: f64 = 1.0;

pub(super) fn load(environment: &Environment) -> Capability {
    judge_load(environment.load_average, environment.cpus)
}

pub(super) fn steal() -> Capability {
    let share = KernelStats::current().ok().and_then(|stats| {
        let total = stats.total;
        let rest = [total.iowait, total.irq, total.softirq].iter().flatten().sum::<u64>();
        let stolen = total.steal?;
        let all = total.user + total.nice + total.system + total.idle + rest + stolen;
        Some(100.0 * stolen as f64 / all.max(1) as f64)
    });
    judge_steal(share)
}

fn judge_load(load: Option<[f64; 3]>, cpus: u32) -> Capability {
    let Some([one, five, fifteen]) = load else {
        return LOAD.limited("unknown: /proc/loadavg cannot be read", "mount -t proc proc /proc");
    };
    let detail = format!("load {one} / {five} / {fifteen} over 1 / 5 / 15 minutes on {cpus} CPUs");
    if one <= BUSY * f64::from(cpus) {
        return LOAD.works(detail);
    }
    LOAD.limited(detail, "`top` shows what runs; wait, or stop it")
}

fn judge_steal(share: Option<f64>) -> Capability {
    match share {
        None => STEAL.limited("unknown: /proc/stat does not tell", "mount -t proc proc /proc"),
        Some(share) if share <= STOLEN_TOO_MUCH => STEAL.works(format!("{share:.2} % since boot")),
        Some(share) => STEAL.limited(
            format!("{share:.2} % since boot: the host takes the CPUs away"),
            "give this virtual machine CPUs of its own on its host",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn load_counts_by_the_cpus_that_carry_it() {
        for (load, cpus, state) in [
            (0.3, 1, State::Works),
            (0.9, 1, State::Limited),
            (0.9, 2, State::Works),
            (3.0, 4, State::Limited),
        ] {
            assert_eq!(judge_load(Some([load, 9.0, 9.0]), cpus).state, state, "{load} on {cpus}");
        }
        assert_eq!(judge_load(None, 2).state, State::Limited);
    }

    #[test]
    fn stolen_time_is_told_from_none_and_from_unknown() {
        assert_eq!(judge_steal(Some(0.05)).state, State::Works);
        assert_eq!(judge_steal(Some(4.0)).state, State::Limited);
        assert!(judge_steal(None).detail.starts_with("unknown"));
    }
}
