//! Checks load and steal time, which show whether other work would disturb measurements.

use procfs::{CurrentSI, KernelStats};
use samples::Environment;

use super::{Area, Capability, Subject};

const LOAD: Subject = Subject {
    id: "load",
    title: "other work",
    needed_for: "resolving small differences: other work adds noise to every trial",
    area: Area::Machine,
    required: false,
};

const STEAL: Subject = Subject {
    id: "steal",
    title: "steal time",
    needed_for: "resolving small differences: steal time looks like a slow path",
    area: Area::Machine,
    required: false,
};

/// The threshold in runnable tasks per CPU, averaged over the last minute.
const BUSY: f64 = 0.5;

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
        return LOAD.limited("unknown: cannot read /proc/loadavg", "mount -t proc proc /proc");
    };
    let detail = format!("load {one} / {five} / {fifteen} over 1 / 5 / 15 minutes on {cpus} CPUs");
    if one <= BUSY * f64::from(cpus) {
        return LOAD.works(detail);
    }
    LOAD.limited(detail, "find running processes with `top`; wait for them, or stop them")
}

fn judge_steal(share: Option<f64>) -> Capability {
    match share {
        None => STEAL.limited("unknown: /proc/stat has no value", "mount -t proc proc /proc"),
        Some(share) if share <= STOLEN_TOO_MUCH => STEAL.works(format!("{share:.2} % since boot")),
        Some(share) => STEAL.limited(
            format!("{share:.2} % since boot: the host takes CPU time away"),
            "give this virtual machine dedicated CPUs on its host",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn judges_load_per_cpu() {
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
    fn distinguishes_steal_time_none_and_unknown() {
        assert_eq!(judge_steal(Some(0.05)).state, State::Works);
        assert_eq!(judge_steal(Some(4.0)).state, State::Limited);
        assert!(judge_steal(None).detail.starts_with("unknown"));
    }
}
