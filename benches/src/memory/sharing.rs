//! Guests with changing working sets, under each policy for dividing fast memory.

use std::{
    collections::BTreeMap,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail, ensure};
use memory::{AttachedVm, GuestMemory, Rebalance};
use policy::{Rebalancer, Settings, Tiers, VmSettings};
use protocol::{AccessClass, AccessSourceKind};
use units::{Bytes, Share};

use super::{
    guests::{FAST_MEMORY, FLOOR, Guest, Guests, INTERVAL, MIB, PROGRAM, Program, SLOW_MEMORY, served},
    program::PatternShape,
};
use crate::{
    comparison::{Comparison, Pairing, Subject, compare},
    rounds::{Bounds, Measured, Taken},
};

const SUBJECT: Subject = Subject {
    name: "memory",
    what: "accesses served by the fast memory of two guests that swap their working sets",
    units: &["share of accesses"],
};

const PAIRINGS: &[Pairing] = &[
    Pairing { ours: Arm::Rebalancer.name(), peer: Arm::Static.name(), targets: &[] },
    Pairing { ours: Arm::Rebalancer.name(), peer: Arm::Pressure.name(), targets: &[] },
    Pairing { ours: Arm::Rebalancer.name(), peer: Arm::Optimum.name(), targets: &[] },
];

const FAST: u32 = 0;
const NAMES: [&str; 2] = ["a", "b"];
/// The guests swap working sets between phases.
const PHASES: u32 = 2;
const SMALL: Bytes = Bytes(16 * MIB);
const LARGE: f64 = 0.93;
const HOT_SHARE: f64 = 0.99;
/// The target is below [`HOT_SHARE`], because each percentage point of hits beyond the working set takes tens of MiB.
const TARGET: Share = Share(0.96);
const ROOM: f64 = 1.15;
const STEP: u64 = 2 * MIB;
const PATIENCE: Duration = Duration::from_secs(60);
const GLANCE: Duration = Duration::from_millis(200);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arm {
    Static,
    Pressure,
    Rebalancer,
    Optimum,
}

impl Arm {
    const ALL: [Self; 4] = [Self::Static, Self::Pressure, Self::Rebalancer, Self::Optimum];

    const fn name(self) -> &'static str {
        match self {
            Self::Static => "equal parts",
            Self::Pressure => "by memory in use",
            Self::Rebalancer => "plumb rebalance",
            Self::Optimum => "optimum",
        }
    }
}

pub(crate) fn run(guests: &Guests, bounds: &Bounds) -> anyhow::Result<Vec<Comparison>> {
    let (mut vms, mut programs, mut machines) = (BTreeMap::new(), Vec::new(), Vec::new());
    for name in NAMES {
        let Guest { vm, program, machine } = guests.boot(name, AccessSourceKind::Auto)?;
        vms.insert(name.to_owned(), vm);
        programs.push(program);
        machines.push(machine);
    }
    let mut runner = Runner { vms, programs, own: Vec::new(), capacity: Bytes(0), seen: BTreeMap::new() };
    runner.see()?;
    let has_source = runner.seen.values().all(|seen| seen.source != AccessSourceKind::None);
    ensure!(has_source, "the guests' kernel has neither DAMON nor enabled page generations (MGLRU)");
    runner.learn_own()?;
    runner.capacity = runner.enough();
    let mut taken = Vec::new();
    for arm in Arm::ALL {
        let rounds = runner.run(arm, bounds)?;
        taken.push(Taken { name: arm.name(), rounds, ..Taken::default() });
    }
    drop(machines);
    add_gain(&mut taken);
    Ok(compare(&SUBJECT, PAIRINGS, &taken))
}

fn add_gain(taken: &mut [Taken]) {
    let gain = |of: fn(usize, usize) -> bool| {
        let mean = |arm: Arm| -> Option<f64> {
            let rounds = &taken.iter().find(|taken| taken.name == arm.name())?.rounds;
            let per_phase = rounds.len() / PHASES as usize;
            let values = rounds.iter().enumerate().filter(|(index, _)| of(index % per_phase, per_phase));
            let values: Vec<f64> = values.flat_map(|(_, measured)| measured.values.iter().copied()).collect();
            stats::describe::mean(&values)
        };
        let (from, to) = (mean(Arm::Static)?, mean(Arm::Optimum)?);
        // A smaller difference is noise.
        (to - from > 0.01).then_some((mean(Arm::Rebalancer)? - from) / (to - from) * 100.0)
    };
    let gains = [("% of the gain", gain(|_, _| true)), ("% once settled", gain(|at, of| at >= of / 2))];
    let rebalancer = taken.iter_mut().find(|taken| taken.name == Arm::Rebalancer.name());
    if let Some(first) = rebalancer.and_then(|taken| taken.rounds.first_mut()) {
        first.extra.extend(gains.into_iter().filter_map(|(name, gain)| Some((name, gain?))));
    }
}

struct Runner {
    vms: BTreeMap<String, AttachedVm>,
    programs: Vec<Program>,
    own: Vec<u64>,
    capacity: Bytes,
    /// Read only once per interval, because access data is relative to the previous reading.
    seen: BTreeMap<String, GuestMemory>,
}

impl Runner {
    /// The program asks for more memory than fits, so it uses all available memory.
    fn learn_own(&mut self) -> anyhow::Result<()> {
        self.shift(0)?;
        self.resize(&[Bytes(u64::midpoint(FLOOR.0, FAST_MEMORY.0)); NAMES.len()], true)?;
        thread::sleep(INTERVAL);
        let truths = self.truths()?;
        let sizes = self.vms.values().map(|vm| vm.has().fast.0);
        let own = |(size, (_, on_fast)): (u64, &(f64, Bytes))| size.saturating_sub(on_fast.0).min(FLOOR.0);
        self.own = sizes.zip(&truths).map(own).collect();
        Ok(())
    }

    fn enough(&self) -> Bytes {
        let need = |phase: u32| -> u64 {
            let of_vm = |(place, own): (usize, &u64)| (own + self.hot(phase, place).0).max(FLOOR.0);
            self.own.iter().enumerate().map(of_vm).sum()
        };
        let needed = (0..PHASES).map(need).max().unwrap_or_default();
        let enough = (needed as f64 * ROOM) as u64 / STEP * STEP;
        Bytes(enough.min(FAST_MEMORY.0 * NAMES.len() as u64))
    }

    fn run(&mut self, arm: Arm, bounds: &Bounds) -> anyhow::Result<Vec<Measured>> {
        self.seen.clear();
        self.shift(0)?;
        let half = Bytes(self.capacity.0 / NAMES.len() as u64);
        self.resize(&[half; NAMES.len()], true)?;
        self.see()?;
        let mut rebalancer = (arm == Arm::Rebalancer).then(|| self.rebalancer()).transpose()?;
        let mut observations = Vec::new();
        for phase in 0..PHASES {
            self.shift(phase)?;
            if arm == Arm::Optimum {
                let best = self.best(phase);
                self.resize(&best, false)?;
            }
            for _ in 0..bounds.rounds {
                thread::sleep(INTERVAL);
                let truths = self.truths()?;
                match &mut rebalancer {
                    Some(rebalancer) => self.rebalance(rebalancer)?,
                    None => self.see()?,
                }
                let hits = truths.iter().map(|(hits, _)| hits).sum::<f64>() / truths.len() as f64;
                observations.push(Measured::from(vec![hits]));
                (bounds.report)(arm.name(), observations.len(), bounds.rounds * PHASES as usize);
                if arm == Arm::Pressure {
                    self.share_by_use()?;
                }
            }
        }
        Ok(observations)
    }

    fn shift(&mut self, phase: u32) -> anyhow::Result<()> {
        let hot: Vec<Bytes> = (0..NAMES.len()).map(|place| self.hot(phase, place)).collect();
        for (hot, program) in hot.into_iter().zip(&mut self.programs) {
            program.set(shape(hot), Some(FAST))?;
            // Resets the counts.
            program.truth()?;
        }
        Ok(())
    }

    fn truths(&mut self) -> anyhow::Result<Vec<(f64, Bytes)>> {
        let of_vm = |program: &mut Program| {
            let truth = program.truth()?;
            Ok((truth.hits.unwrap_or(Share(0.0)).0.max(1e-4), truth.on_fast))
        };
        self.programs.iter_mut().map(of_vm).collect()
    }

    fn see(&mut self) -> anyhow::Result<()> {
        for (name, vm) in &mut self.vms {
            self.seen.insert(name.clone(), vm.look(INTERVAL)?);
        }
        Ok(())
    }

    fn hot(&self, phase: u32, place: usize) -> Bytes {
        hot(phase, place, self.own.get(place).map_or(FLOOR, |own| Bytes(*own)))
    }

    fn hits_with(&self, phase: u32, place: usize, size: u64) -> f64 {
        hit_share(self.hot(phase, place), size.saturating_sub(self.own[place]) as f64)
    }

    fn best(&self, phase: u32) -> Vec<Bytes> {
        let capacity = self.capacity.0;
        let sizes = (0..).map(|step| FLOOR.0 + step * STEP);
        let sizes = sizes.take_while(|size| *size <= FAST_MEMORY.0 && size + FLOOR.0 <= capacity);
        let sum = |(first, second): &(u64, u64)| {
            self.hits_with(phase, 0, *first) + self.hits_with(phase, 1, *second)
        };
        let pairs = sizes.map(|first| (first, (capacity - first).min(FAST_MEMORY.0)));
        let best = pairs.max_by(|one, other| sum(one).total_cmp(&sum(other)));
        let (first, second) = best.unwrap_or((FLOOR.0, FLOOR.0));
        vec![Bytes(first), Bytes(second)]
    }

    /// Shrinks guests first, so that the capacity is never exceeded.
    fn resize(&mut self, sizes: &[Bytes], wait: bool) -> anyhow::Result<()> {
        let mut order: Vec<(&mut AttachedVm, Bytes)> =
            self.vms.values_mut().zip(sizes.iter().copied()).collect();
        order.sort_by_key(|(vm, size)| *size > vm.has().fast);
        for (vm, size) in &mut order {
            vm.resize(*size)?;
        }
        let begun = Instant::now();
        for (vm, size) in &mut order {
            loop {
                vm.look(INTERVAL)?;
                let fast = vm.has().fast;
                if fast.0.abs_diff(size.0) <= 8 * MIB || !wait {
                    break;
                }
                if begun.elapsed() > PATIENCE {
                    bail!("a guest has {fast} of fast memory, not {size}, after {} s", PATIENCE.as_secs());
                }
                thread::sleep(GLANCE);
            }
        }
        Ok(())
    }

    fn share_by_use(&mut self) -> anyhow::Result<()> {
        let used = self.seen.values().map(|seen| {
            let all = seen.size.0 + seen.slow.0;
            all.saturating_sub(seen.available.unwrap_or_default().0) as f64
        });
        let used: Vec<f64> = used.collect();
        let all: f64 = used.iter().sum();
        let spare = self.capacity.0.saturating_sub(FLOOR.0 * NAMES.len() as u64) as f64;
        let part = |used: &f64| Bytes((FLOOR.0 + (spare * used / all.max(1.0)) as u64).min(FAST_MEMORY.0));
        let sizes: Vec<Bytes> = used.iter().map(part).collect();
        self.resize(&sizes, false)
    }

    fn rebalancer(&self) -> anyhow::Result<Rebalancer> {
        let vm = |name: &&str| VmSettings {
            name: (*name).to_owned(),
            weight: 1.0,
            memory: FAST_MEMORY + SLOW_MEMORY,
            floor: Tiers { fast: FLOOR, slow: SLOW_MEMORY },
            ceiling: Tiers { fast: FAST_MEMORY, slow: SLOW_MEMORY },
            target: TARGET,
        };
        let slow = Bytes(SLOW_MEMORY.0 * NAMES.len() as u64);
        let mut settings = Settings::new(Tiers { fast: self.capacity, slow }, NAMES.iter().map(vm).collect());
        settings.reserve = Bytes(0);
        Rebalancer::new(settings).context("configure the rebalancer")
    }

    fn rebalance(&mut self, rebalancer: &mut Rebalancer) -> anyhow::Result<()> {
        let vms = std::mem::take(&mut self.vms);
        let mut rebalance = Rebalance::new(rebalancer.clone(), vms, INTERVAL);
        let round = rebalance.round(false);
        *rebalancer = rebalance.rebalancer().clone();
        self.vms = rebalance.into_vms();
        for (name, seen) in round.seen {
            self.seen.insert(name, seen?);
        }
        Ok(())
    }
}

fn hot(phase: u32, place: usize, own: Bytes) -> Bytes {
    let large = ((FAST_MEMORY.0 as f64 * LARGE) as u64).saturating_sub(own.0).min(PROGRAM.0 - SMALL.0);
    if (phase as usize + place).is_multiple_of(2) { SMALL.max(Bytes(large)) } else { SMALL }
}

fn shape(hot: Bytes) -> PatternShape {
    PatternShape::TwoLevel { hot, share: HOT_SHARE }
}

fn hit_share(hot: Bytes, bytes: f64) -> f64 {
    let class = |bytes: u64, part: f64| AccessClass { bytes: Bytes(bytes), accesses: (part * 1e9) as u64 };
    served(&[class(hot.0, HOT_SHARE), class(PROGRAM.0 - hot.0, 1.0 - HOT_SHARE)], bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(arm: Arm, hits: [f64; 4]) -> Taken {
        let rounds = hits.map(|hits| Measured::from(vec![hits])).to_vec();
        Taken { name: arm.name(), rounds, ..Taken::default() }
    }

    #[test]
    fn gain_is_relative_to_equal_parts_and_the_optimum() {
        let mut all = [
            taken(Arm::Static, [0.5; 4]),
            taken(Arm::Rebalancer, [0.5, 0.9, 0.7, 0.9]),
            taken(Arm::Optimum, [0.9; 4]),
        ];
        add_gain(&mut all);
        let [(_, gain), (_, settled)] = all[1].rounds[0].extra[..] else { panic!("two values") };
        assert!((gain - 62.5).abs() < 1e-6 && (settled - 100.0).abs() < 1e-6, "{gain} {settled}");
    }

    #[test]
    fn there_is_no_gain_if_equal_parts_are_optimal() {
        let mut all = Arm::ALL.map(|arm| taken(arm, [0.9; 4]));
        add_gain(&mut all);
        assert!(all.iter().flat_map(|taken| &taken.rounds).all(|round| round.extra.is_empty()));
    }

    #[test]
    fn working_sets_change_places() {
        let own = Bytes(100 * MIB);
        assert_eq!(hot(0, 0, own), hot(1, 1, own));
        assert_eq!((hot(0, 1, own), hot(1, 0, own)), (SMALL, SMALL));
        let needed = hot(0, 0, own).0 + own.0;
        assert!(needed > FAST_MEMORY.0 * 9 / 10 && needed < FAST_MEMORY.0, "{needed}");
        assert_eq!(hot(0, 0, Bytes(0)).0, PROGRAM.0 - SMALL.0, "limited by the program's memory");
    }

    #[test]
    fn hot_part_that_fits_serves_its_share() {
        let hot = Bytes(128 * MIB);
        assert!((hit_share(hot, hot.0 as f64) - HOT_SHARE).abs() < 1e-6);
        assert!((hit_share(hot, hot.0 as f64 / 2.0) - HOT_SHARE / 2.0).abs() < 1e-6);
    }
}
