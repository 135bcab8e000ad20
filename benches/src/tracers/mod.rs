//! Bench `tracers`: the overhead of counting a workload's system calls. A ping-pong on one CPU makes every
//! microsecond visible, while a stream hardly shows the overhead.

mod loads;
mod tools;

use std::time::Duration;

use self::{
    loads::{PING_PONG, STREAM, Watched},
    tools::TOOLS,
};
use crate::{
    bench::Bench,
    comparison::{Comparison, Pairing, Subject, compare},
    rounds::{self, Bounds, Contender, Measured, Taken},
    target::Target,
    wire::Wire,
};

pub(crate) const BENCH: Bench = Bench { name: "tracers", run };

const ROUND_TRIPS: Subject = Subject {
    name: BENCH.name,
    what: "UDP round trip of 64 bytes under a tracer, same CPU",
    units: &["us p50"],
};
const ADDED: Subject = Subject {
    name: BENCH.name,
    what: "time added by the tracer to that round trip (4 system calls)",
    units: &["us added at p50"],
};
const STREAMS: Subject = Subject {
    name: BENCH.name,
    what: "one TCP stream of 128 KiB writes under a tracer, same CPU",
    units: &["Gbit/s"],
};

const NOBODY: &str = "no tracer";
const PLUMB: &str = "plumb trace";
const BPFTRACE: &str = "bpftrace";
const PERF: &str = "perf trace -s";
const STRACE: &str = "strace -c -f";

const TIMED: &[Pairing] = &[
    Pairing { ours: PLUMB, peer: NOBODY, targets: &[Target::at_most(1.12)] },
    Pairing { ours: PLUMB, peer: BPFTRACE, targets: &[] },
    Pairing { ours: PLUMB, peer: PERF, targets: &[] },
    Pairing { ours: PLUMB, peer: STRACE, targets: &[] },
];
const EXTRA: &[Pairing] = &[
    Pairing { ours: PLUMB, peer: BPFTRACE, targets: &[Target::at_most(0.2)] },
    Pairing { ours: PLUMB, peer: PERF, targets: &[] },
    Pairing { ours: PLUMB, peer: STRACE, targets: &[] },
];
const CARRIED: &[Pairing] = &[
    Pairing { ours: PLUMB, peer: NOBODY, targets: &[] },
    Pairing { ours: PLUMB, peer: BPFTRACE, targets: &[] },
    Pairing { ours: PLUMB, peer: PERF, targets: &[] },
    Pairing { ours: PLUMB, peer: STRACE, targets: &[] },
];

const REST: Duration = Duration::from_millis(100);
/// A round takes several seconds per tracer, mostly to start it.
const LONGER: Duration = Duration::from_secs(60);
const MOST_ROUNDS: usize = 6;
const MOST_STREAMS: usize = 3;
/// Ratios need positive values.
const LEAST_ADDED: f64 = 0.01;

fn run(bounds: &Bounds) -> anyhow::Result<Vec<Comparison>> {
    let wire = &Wire::create()?;
    let take = |load, bounds: &Bounds| {
        let watched = |tool| Box::new(Watched { wire, load, tool }) as Box<dyn Contender + '_>;
        let mut contenders: Vec<Box<dyn Contender + '_>> = TOOLS.iter().map(watched).collect();
        rounds::take(BENCH.name, &mut contenders, &bounds.for_longer(LONGER), REST)
    };
    let timed = take(&PING_PONG, &bounds.of_at_most(MOST_ROUNDS));
    let carried = take(&STREAM, &bounds.of_at_most(MOST_STREAMS));
    let mut comparisons = compare(&ROUND_TRIPS, TIMED, &timed);
    comparisons.extend(compare(&ADDED, EXTRA, &added(&timed)));
    comparisons.extend(compare(&STREAMS, CARRIED, &carried));
    Ok(comparisons)
}

fn added(taken: &[Taken]) -> Vec<Taken> {
    let Some(untraced) = taken.iter().find(|taken| taken.name == NOBODY) else { return Vec::new() };
    let more = |(one, none): (&Measured, &Measured)| {
        let added =
            one.values.first().zip(none.values.first()).map(|(one, none)| (one - none).max(LEAST_ADDED));
        Measured::from(added.into_iter().collect::<Vec<_>>())
    };
    let of = |taken: &Taken| Taken {
        name: taken.name,
        rounds: taken.rounds.iter().zip(&untraced.rounds).map(more).collect(),
        others: taken.others,
        failure: taken.failure.clone(),
    };
    taken.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overhead_is_relative_to_the_same_round() {
        let taken = |name, values: &[f64]| Taken {
            name,
            rounds: values.iter().map(|value| vec![*value].into()).collect(),
            ..Taken::default()
        };
        let all = [taken(NOBODY, &[10.0, 12.0]), taken(PLUMB, &[11.0, 12.5]), taken(BPFTRACE, &[15.0, 11.0])];
        let values: Vec<Vec<f64>> =
            added(&all).iter().map(|it| it.rounds.iter().map(|round| round.values[0]).collect()).collect();
        assert_eq!(values[1..], [vec![1.0, 0.5], vec![5.0, LEAST_ADDED]]);
    }

    #[test]
    fn every_pairing_has_existing_tracers() {
        let known = |name: &str| TOOLS.iter().any(|tool| tool.name == name);
        let all = || TIMED.iter().chain(EXTRA).chain(CARRIED);
        assert!(all().all(|pairing| known(pairing.ours) && known(pairing.peer)));
    }
}
