//! Measures the cost of reading the clock. An agent reads it for every message.

use samples::Environment;

use super::{Area, Capability, Subject};

const CLOCK: Subject = Subject {
    id: "clock",
    title: "clock",
    needed_for: "latency: the clock is read before and after every message",
    area: Area::Machine,
    required: false,
};

const READINGS: u64 = 2_000;
const ROUNDS: usize = 5;

/// The threshold in nanoseconds. A clock in the vDSO takes 15 to 60 ns, and a system call takes several hundred.
const SLOW: u64 = 150;

pub(super) fn probe(environment: &Environment) -> Capability {
    judge(environment.clock_source.as_deref(), cost())
}

fn cost() -> u64 {
    let round = |_| {
        let begin = sys::clock::monotonic();
        (1..READINGS).for_each(|_| {
            std::hint::black_box(sys::clock::monotonic());
        });
        (sys::clock::monotonic() - begin) / READINGS
    };
    (0..ROUNDS).map(round).min().unwrap_or(u64::MAX)
}

fn judge(source: Option<&str>, nanos: u64) -> Capability {
    let detail = format!("{}, {nanos} ns per reading", source.unwrap_or("unknown source"));
    if nanos <= SLOW {
        return CLOCK.works(detail);
    }
    CLOCK.limited(
        format!("{detail}: each reading needs a system call or a device access"),
        "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource; if the kernel \
                 rejects it, boot with tsc=reliable",
    )
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn judges_clock_by_cost_not_name() {
        assert_eq!(judge(Some("kvm-clock"), 40).state, State::Works);
        assert_eq!(judge(Some("tsc"), 900).state, State::Limited);
        assert_eq!(judge(None, 40).state, State::Works);
    }

    #[test]
    fn clock_cost_is_plausible() {
        assert!((1..100_000).contains(&cost()));
    }
}
