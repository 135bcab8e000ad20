//! Compares a source of access data with the program's own counts.

use std::thread;

use anyhow::{Context, bail};
use protocol::{AccessClass, AccessSourceKind};
use units::{Bytes, Share};

use super::{
    guests::{FLOOR, Guest, Guests, INTERVAL, MIB, PROGRAM, served},
    program::PatternShape,
};
use crate::{
    comparison::{Comparison, Pairing, Subject, compare},
    rounds::{self, Bounds, Measured, Taken},
};

const SUBJECT: Subject = Subject {
    name: "memory",
    what: "a program's accesses in a guest with two nodes, as measured by a source and as counted by the program",
    units: &["share of the hottest quarter", "share on the fast node"],
};

const COUNTED: &str = "counted";

/// Each source has its own guest, because two sources in a guest would disturb each other.
const SOURCES: [(AccessSourceKind, [&str; 3]); 3] = [
    (AccessSourceKind::Damon, ["damon, two levels", "damon, Zipf", "damon, scan"]),
    (AccessSourceKind::Mglru, ["mglru, two levels", "mglru, Zipf", "mglru, scan"]),
    (AccessSourceKind::Referenced, ["referenced, two levels", "referenced, Zipf", "referenced, scan"]),
];

const PATTERNS: [PatternShape; 3] = [
    PatternShape::TwoLevel { hot: Bytes(32 * MIB), share: 0.9 },
    PatternShape::Zipf { exponent: 1.0 },
    PatternShape::Scan,
];

/// Unmeasured rounds in which a source learns a pattern.
const LEARNING: usize = 4;
const SETTLES: u32 = 24;

pub(crate) fn run(guests: &Guests, bounds: &Bounds) -> anyhow::Result<Vec<Comparison>> {
    let mut comparisons = Vec::new();
    for (source, names) in SOURCES {
        let mut guest = guests.boot("guest", source)?;
        shrink(&mut guest)?;
        for (name, shape) in names.into_iter().zip(PATTERNS) {
            match observe(&mut guest, source, shape, (name, bounds)) {
                Ok(taken) => {
                    let pairing = Pairing { ours: name, peer: COUNTED, targets: &[] };
                    comparisons.extend(compare(&SUBJECT, &[pairing], &taken));
                }
                Err(error) => rounds::skipped(name, &error),
            }
        }
    }
    Ok(comparisons)
}

fn shrink(guest: &mut Guest) -> anyhow::Result<()> {
    guest.vm.resize(FLOOR)?;
    for _ in 0..SETTLES {
        thread::sleep(INTERVAL);
        guest.vm.look(INTERVAL)?;
        if guest.vm.has().fast <= FLOOR {
            return Ok(());
        }
    }
    bail!("the guest does not give up memory: it has {} of fast memory", guest.vm.has().fast)
}

fn observe(
    guest: &mut Guest,
    source: AccessSourceKind,
    shape: PatternShape,
    (name, bounds): (&'static str, &Bounds),
) -> anyhow::Result<[Taken; 2]> {
    guest.program.set(shape, None)?;
    let mut taken = [name, COUNTED].map(|name| Taken { name, ..Taken::default() });
    for observation in 0..LEARNING + bounds.rounds {
        thread::sleep(INTERVAL);
        let seen = guest.vm.look(INTERVAL)?;
        let truth = guest.program.truth()?;
        if observation < LEARNING {
            continue;
        }
        (bounds.report)(name, observation + 1 - LEARNING, bounds.rounds);
        let classes: Vec<AccessClass> = seen.classes().copied().collect();
        if classes.is_empty() {
            bail!("{}", seen.no_accesses_reason.as_deref().unwrap_or("there is no access data"));
        }
        let is_host = source == AccessSourceKind::Referenced;
        let hits = seen.dram_hits().filter(|_| !is_host);
        let of_host = seen.telemetry_host_cpu.map(|cost| Share(cost.seconds() / INTERVAL.as_secs_f64()));
        let cost = if is_host { of_host } else { seen.telemetry_cpu };
        let extra = cost.map(|cost| ("% of a CPU", cost.0 * 100.0)).into_iter().collect();
        let quarter = |classes: &[AccessClass]| served(classes, PROGRAM.0 as f64 / 4.0);
        taken[0].rounds.push(measured(quarter(&classes), hits, extra));
        taken[1].rounds.push(measured(quarter(&truth.hottest), truth.hits, Vec::new()));
    }
    let has_values = !taken[0].rounds.is_empty();
    has_values.then_some(taken).context("no observations")
}

fn measured(quarter: f64, hits: Option<Share>, extra: Vec<(&'static str, f64)>) -> Measured {
    let values = [Some(quarter), hits.map(|hits| hits.0)].into_iter().flatten();
    Measured { values: values.map(|share| share.max(1e-4)).collect(), extra }
}
