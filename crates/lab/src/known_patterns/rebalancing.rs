//! Compares policies for sharing fast memory between guests whose working sets shift in a known way. The metric is
//! the share of accesses served by fast memory, relative to the optimum for the patterns.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use machine::Kernel;
use memory::{AttachedVm, GuestMemory, MemoryError, Rebalance};
use policy::{Rebalancer, Settings, Tiers, VmSettings};
use protocol::{AccessPattern, AccessSourceKind, MemoryOrder, PatternShape};
use units::{Bytes, Share};

use super::{FAST, FAST_MEMORY, FLOOR, Guests, KnownGuest, MIB, PROGRAM, SLOW_MEMORY, failed, served, truth};
use crate::{error::RunError, stop::Stop};

/// The small hot part of a program's memory.
const SMALL: Bytes = Bytes(16 * MIB);
/// The large hot part, as a share of the fast memory that a guest can have.
const LARGE: f64 = 0.93;
/// Share of accesses to the hot part.
const HOT_SHARE: f64 = 0.99;
/// Nearly all accesses: policies are compared by hits. Outside the hot part, one percentage point corresponds to tens
/// of MiB.
const TARGET: Share = Share(0.96);
/// Default fast memory relative to the needs of the hot parts and the guests themselves. Includes the rebalancer's
/// headroom, so that all targets can be met.
const ROOM: f64 = 1.15;
/// Step size in the search for the optimum.
const STEP: u64 = 2 * MIB;
/// Timeout for memory to move.
const PATIENCE: Duration = Duration::from_secs(60);
const GLANCE: Duration = Duration::from_millis(200);
const NAMES: [&str; 2] = ["a", "b"];

/// A policy for sharing fast memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Arm {
    /// Equal shares.
    Static,
    /// In proportion to memory in use, like memory overcommitment managers.
    Pressure,
    Rebalancer,
    /// The optimal sizes for the patterns, immediately after each shift.
    Optimum,
}

impl Arm {
    pub const ALL: [Self; 4] = [Self::Static, Self::Pressure, Self::Rebalancer, Self::Optimum];

    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Static => "static halves",
            Self::Pressure => "pressure-driven",
            Self::Rebalancer => "rebalancer",
            Self::Optimum => "optimum",
        }
    }
}

/// Parameters.
#[derive(Debug, Clone)]
pub struct RebalancingRequest {
    pub kernel: Kernel,
    /// The plumb program.
    pub program: PathBuf,
    pub tool: String,
    /// Accesses per second of each guest's program.
    pub rate: u64,
    pub interval: Duration,
    /// Number of shifts, and of looks per shift.
    pub phases: u32,
    pub looks: u32,
    /// Total fast memory. Default: the needs plus some headroom.
    pub capacity: Option<Bytes>,
    /// The policies to compare.
    pub arms: Vec<Arm>,
    pub stop: Stop,
}

/// State of a guest at a look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KnownVm {
    pub fast: Bytes,
    /// Share of accesses served by fast memory since the previous look, counted by its program.
    pub hits: Share,
    /// The same share with optimal sizes.
    pub best: Share,
}

/// State of all guests at a look.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    pub phase: u32,
    pub vms: Vec<KnownVm>,
}

/// Result.
#[derive(Debug, Clone, PartialEq)]
pub struct Rebalancing {
    /// Source of access data for the rebalancer.
    pub source: AccessSourceKind,
    pub vms: Vec<String>,
    /// Total fast memory.
    pub capacity: Bytes,
    /// Looks by policy.
    pub arms: Vec<(Arm, Vec<Look>)>,
}

impl Rebalancing {
    /// Share of accesses served by fast memory, for one guest or all.
    #[must_use]
    pub fn hits(&self, arm: Arm, vm: Option<usize>) -> Option<Share> {
        let looks = &self.arms.iter().find(|(it, _)| *it == arm)?.1;
        let hits = looks.iter().flat_map(|look| {
            look.vms.iter().enumerate().filter(move |(place, _)| vm.is_none_or(|vm| vm == *place))
        });
        let hits: Vec<f64> = hits.map(|(_, vm)| vm.hits.0).collect();
        (!hits.is_empty()).then(|| Share(hits.iter().sum::<f64>() / hits.len() as f64))
    }

    /// The same without the first half of each phase, while memory is still moving.
    #[must_use]
    pub fn settled(&self) -> Self {
        let later = |looks: &[Look]| -> Vec<Look> {
            let phases = looks.chunk_by(|one, next| one.phase == next.phase);
            phases.flat_map(|looks| &looks[looks.len() / 2..]).cloned().collect()
        };
        let arms = self.arms.iter().map(|(arm, looks)| (*arm, later(looks))).collect();
        Self { vms: self.vms.clone(), arms, ..*self }
    }

    /// Position between equal shares (0) and the optimum (1). `None` if they hardly differ.
    #[must_use]
    pub fn way(&self, arm: Arm) -> Option<Share> {
        let hits = |arm| Some(self.hits(arm, None)?.0);
        let (from, to) = (hits(Arm::Static)?, hits(Arm::Optimum)?);
        (to - from > 0.01).then_some(Share((hits(arm)? - from) / (to - from)))
    }
}

/// Runs the same shifts on the same guests with each policy in turn. Calls `tell` with each look.
///
/// # Errors
/// If a guest does not boot, or its memory does not move.
pub fn rebalancing(
    request: &RebalancingRequest,
    tell: &mut dyn FnMut(Arm, &Look),
) -> Result<Rebalancing, RunError> {
    let mut guests = Guests::new(request.kernel.clone(), &request.program, &request.tool, request.interval)?;
    guests.source = AccessSourceKind::Auto;
    let booted: BTreeMap<String, KnownGuest> = NAMES
        .iter()
        .map(|name| Ok(((*name).to_owned(), guests.boot(name)?)))
        .collect::<Result<_, RunError>>()?;
    // Keep the machines alive as long as their connections.
    let (mut vms, mut machines) = (BTreeMap::new(), Vec::new());
    for (name, KnownGuest { vm, _machine: machine }) in booted {
        vms.insert(name, vm);
        machines.push(machine);
    }
    let source = sees(&mut vms, request)?;
    let mut runner = Runner { request, vms, own: Vec::new(), capacity: Bytes(0), seen: BTreeMap::new() };
    runner.learn_own()?;
    runner.capacity = request.capacity.unwrap_or_else(|| runner.enough());
    let mut arms = Vec::new();
    for arm in request.arms.iter().copied() {
        arms.push((arm, runner.run(arm, tell)?));
    }
    drop(machines);
    Ok(Rebalancing { source, vms: NAMES.map(str::to_owned).to_vec(), capacity: runner.capacity, arms })
}

/// The access source in these guests. Enables page generations if they are the only one.
fn sees(
    vms: &mut BTreeMap<String, AttachedVm>,
    request: &RebalancingRequest,
) -> Result<AccessSourceKind, RunError> {
    let mut source = AccessSourceKind::None;
    for (name, vm) in vms {
        let mut look = vm.look(request.interval).map_err(failed(name))?;
        if look.source == AccessSourceKind::None {
            vm.set_source(AccessSourceKind::Mglru);
            look = vm.look(request.interval).map_err(failed(name))?;
        }
        source = look.source;
    }
    match source {
        AccessSourceKind::None => Err(RunError::Lacks {
            because: "the guests' kernel supports neither DAMON nor page generations".to_owned(),
        }),
        source => Ok(source),
    }
}

struct Runner<'a> {
    request: &'a RebalancingRequest,
    vms: BTreeMap<String, AttachedVm>,
    /// Fast memory per guest that its program cannot use: kernel, files, agent and free reserve.
    own: Vec<u64>,
    capacity: Bytes,
    /// Looks at each guest once per interval. Accesses are counted since the previous look of any caller.
    seen: BTreeMap<String, GuestMemory>,
}

impl Runner<'_> {
    /// The program has more memory than fits, so it fills all that is available.
    fn learn_own(&mut self) -> Result<(), RunError> {
        self.shift(0)?;
        self.resize(&[Bytes(u64::midpoint(FLOOR.0, FAST_MEMORY.0)); NAMES.len()], true)?;
        thread::sleep(self.request.interval);
        let truths = self.truths()?;
        let sizes = self.vms.values().map(|vm| vm.has().fast.0);
        // A guest boots with its floor. The rest is memory that the program has not touched yet.
        let own = |(size, (_, on_fast)): (u64, &(Share, Bytes))| size.saturating_sub(on_fast.0).min(FLOOR.0);
        self.own = sizes.zip(&truths).map(own).collect();
        Ok(())
    }

    /// The maximum needs over all phases, plus headroom.
    fn enough(&self) -> Bytes {
        let need = |phase: u32| -> u64 {
            let of_vm = |(place, own): (usize, &u64)| (own + self.hot(phase, place).0).max(FLOOR.0);
            self.own.iter().enumerate().map(of_vm).sum()
        };
        let needed = (0..2).map(need).max().unwrap_or_default();
        let enough = (needed as f64 * ROOM) as u64 / STEP * STEP;
        Bytes(enough.min(FAST_MEMORY.0 * NAMES.len() as u64))
    }

    fn run(&mut self, arm: Arm, tell: &mut dyn FnMut(Arm, &Look)) -> Result<Vec<Look>, RunError> {
        self.seen.clear();
        self.shift(0)?;
        let half = Bytes(self.capacity.0 / NAMES.len() as u64);
        self.resize(&[half; NAMES.len()], true)?;
        self.see()?;
        let mut rebalancer = (arm == Arm::Rebalancer).then(|| self.rebalancer()).transpose()?;
        let mut looks = Vec::new();
        for phase in 0..self.request.phases {
            self.shift(phase)?;
            if arm == Arm::Optimum {
                let best = self.best(phase);
                self.resize(&best, false)?;
            }
            for _ in 0..self.request.looks {
                if self.request.stop.is_asked() {
                    return Err(RunError::Interrupted);
                }
                thread::sleep(self.request.interval);
                let truths = self.truths()?;
                match &mut rebalancer {
                    Some(rebalancer) => self.rebalance(rebalancer)?,
                    None => self.see()?,
                }
                let look = self.look(phase, &truths);
                tell(arm, &look);
                looks.push(look);
                if arm == Arm::Pressure {
                    self.share_by_use()?;
                }
            }
        }
        Ok(looks)
    }

    /// Shifts the working sets to those of the phase.
    fn shift(&mut self, phase: u32) -> Result<(), RunError> {
        let shapes: Vec<PatternShape> = (0..NAMES.len()).map(|place| shape(self.hot(phase, place))).collect();
        for (shape, (name, vm)) in shapes.into_iter().zip(&mut self.vms) {
            let pattern =
                AccessPattern { memory: PROGRAM, shape, rate: self.request.rate, prefers: Some(FAST) };
            vm.ask(MemoryOrder::Pattern { pattern }).map_err(failed(name))?;
            // Discard accesses before the shift.
            truth(vm).map_err(failed(name))?;
        }
        Ok(())
    }

    /// Per guest: share of accesses served by fast memory, and the program's fast memory.
    fn truths(&mut self) -> Result<Vec<(Share, Bytes)>, RunError> {
        let of_vm = |(name, vm): (&String, &mut AttachedVm)| -> Result<(Share, Bytes), RunError> {
            let truth = truth(vm).map_err(failed(name))?;
            Ok((truth.hits.unwrap_or(Share(0.0)), truth.on_fast))
        };
        self.vms.iter_mut().map(of_vm).collect()
    }

    fn see(&mut self) -> Result<(), RunError> {
        for (name, vm) in &mut self.vms {
            let seen = vm.look(self.request.interval).map_err(failed(name))?;
            self.seen.insert(name.clone(), seen);
        }
        Ok(())
    }

    fn look(&self, phase: u32, truths: &[(Share, Bytes)]) -> Look {
        let best = self.best(phase);
        let vms = self.seen.values().zip(truths).enumerate().map(|(place, (seen, (hits, _)))| {
            let best = Share(self.hits_with(phase, place, best[place].0));
            KnownVm { fast: seen.size, hits: *hits, best }
        });
        Look { phase, vms: vms.collect() }
    }

    fn hot(&self, phase: u32, place: usize) -> Bytes {
        hot(phase, place, self.own.get(place).map_or(FLOOR, |own| Bytes(*own)))
    }

    /// Share of a guest's accesses served by this much fast memory.
    fn hits_with(&self, phase: u32, place: usize, size: u64) -> f64 {
        hit_share(shape(self.hot(phase, place)), size.saturating_sub(self.own[place]) as f64)
    }

    /// Sizes that maximize hits for the patterns and the guests' own needs.
    fn best(&self, phase: u32) -> Vec<Bytes> {
        let capacity = self.capacity.0;
        let sizes = (0..).map(|step| FLOOR.0 + step * STEP);
        let sizes = sizes.take_while(|size| *size <= FAST_MEMORY.0 && size + FLOOR.0 <= capacity);
        let best = sizes
            .map(|first| (first, (capacity - first).min(FAST_MEMORY.0)))
            .max_by(|one, other| {
                let sum = |(first, second): &(u64, u64)| {
                    self.hits_with(phase, 0, *first) + self.hits_with(phase, 1, *second)
                };
                sum(one).total_cmp(&sum(other))
            })
            .unwrap_or((FLOOR.0, FLOOR.0));
        vec![Bytes(best.0), Bytes(best.1)]
    }

    /// Shrink before growing, to stay within the capacity.
    fn resize(&mut self, sizes: &[Bytes], wait: bool) -> Result<(), RunError> {
        let mut order: Vec<(&String, &mut AttachedVm, Bytes)> =
            self.vms.iter_mut().zip(sizes).map(|((name, vm), size)| (name, vm, *size)).collect();
        order.sort_by_key(|(_, vm, size)| *size > vm.has().fast);
        for (name, vm, size) in &mut order {
            vm.resize(*size).map_err(failed(name))?;
        }
        let begun = Instant::now();
        for (name, vm, size) in &mut order {
            loop {
                vm.look(self.request.interval).map_err(failed(name))?;
                let off = vm.has().fast.0.abs_diff(size.0);
                if off <= 8 * MIB || !wait {
                    break;
                }
                if begun.elapsed() > PATIENCE {
                    let seconds = PATIENCE.as_secs();
                    let stuck = MemoryError::Stuck { moved: vm.has().fast, asked: *size, seconds };
                    return Err(failed(name)(stuck));
                }
                thread::sleep(GLANCE);
            }
        }
        Ok(())
    }

    fn share_by_use(&mut self) -> Result<(), RunError> {
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

    fn rebalancer(&self) -> Result<Rebalancer, RunError> {
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
        Rebalancer::new(settings).map_err(|error| RunError::Lacks { because: error.to_string() })
    }

    /// One round, with this interval's look.
    fn rebalance(&mut self, rebalancer: &mut Rebalancer) -> Result<(), RunError> {
        let vms = std::mem::take(&mut self.vms);
        let mut rebalance = Rebalance::new(rebalancer.clone(), vms, self.request.interval);
        let round = rebalance.round(false);
        *rebalancer = rebalance.rebalancer().clone();
        self.vms = rebalance.into_vms();
        for (name, seen) in round.seen {
            self.seen.insert(name.clone(), seen.map_err(failed(&name))?);
        }
        Ok(())
    }
}

/// The hot part of a guest that has this much fast memory. The first guest starts with the large one, and they swap
/// with each phase.
fn hot(phase: u32, place: usize, own: Bytes) -> Bytes {
    let large = ((FAST_MEMORY.0 as f64 * LARGE) as u64).saturating_sub(own.0).min(PROGRAM.0 - SMALL.0);
    if (phase as usize + place).is_multiple_of(2) { SMALL.max(Bytes(large)) } else { SMALL }
}

fn shape(hot: Bytes) -> PatternShape {
    PatternShape::TwoLevel { hot, share: HOT_SHARE }
}

/// Share of a pattern's accesses served by this much memory with the hottest pages.
fn hit_share(shape: PatternShape, bytes: f64) -> f64 {
    let PatternShape::TwoLevel { hot, share } = shape else { return 0.0 };
    let class =
        |bytes: u64, part: f64| protocol::AccessClass { bytes: Bytes(bytes), accesses: (part * 1e9) as u64 };
    served(&[class(hot.0, share), class(PROGRAM.0 - hot.0, 1.0 - share)], bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(hits: [f64; 2]) -> Look {
        let vm = |hits: f64| KnownVm { fast: FLOOR, hits: Share(hits), best: Share(1.0) };
        Look { phase: 0, vms: hits.map(vm).to_vec() }
    }

    #[test]
    fn locates_policy_between_equal_shares_and_optimum() {
        let arms = vec![
            (Arm::Static, vec![look([0.5, 0.9])]),
            (Arm::Rebalancer, vec![look([0.8, 0.9]), look([0.8, 0.9])]),
            (Arm::Optimum, vec![look([0.9, 0.9])]),
        ];
        let result = Rebalancing { source: AccessSourceKind::Damon, vms: Vec::new(), capacity: FLOOR, arms };
        let way = result.way(Arm::Rebalancer).expect("a difference").0;
        assert!((way - 0.75).abs() < 1e-9, "{way}");
        assert_eq!(result.hits(Arm::Static, Some(1)), Some(Share(0.9)));
        assert_eq!(result.way(Arm::Pressure), None);
    }

    #[test]
    fn settled_excludes_first_half_of_each_phase() {
        let of_phase = |phase: u32, hits: f64| Look { phase, ..look([hits, hits]) };
        let looks =
            vec![of_phase(0, 0.1), of_phase(0, 0.9), of_phase(1, 0.2), of_phase(1, 0.3), of_phase(1, 0.9)];
        let result = Rebalancing {
            source: AccessSourceKind::Damon,
            vms: Vec::new(),
            capacity: FLOOR,
            arms: vec![(Arm::Rebalancer, looks)],
        };
        let settled = result.settled().hits(Arm::Rebalancer, None).expect("there are looks").0;
        assert!((settled - (0.9 + 0.3 + 0.9) / 3.0).abs() < 1e-9, "{settled}");
    }

    #[test]
    fn working_sets_swap_with_each_phase() {
        let own = Bytes(100 * MIB);
        assert_eq!(hot(0, 0, own), hot(1, 1, own));
        assert_eq!((hot(0, 1, own), hot(1, 0, own)), (SMALL, SMALL));
        let needed = hot(0, 0, own).0 + own.0;
        assert!(needed > FAST_MEMORY.0 * 9 / 10 && needed < FAST_MEMORY.0, "{needed}");
        assert_eq!(hot(0, 0, Bytes(0)).0, PROGRAM.0 - SMALL.0, "no program has more");
    }

    #[test]
    fn serves_hot_share_if_hot_part_fits() {
        let hot = Bytes(128 * MIB);
        assert!((hit_share(shape(hot), hot.0 as f64) - HOT_SHARE).abs() < 1e-6);
        assert!((hit_share(shape(hot), hot.0 as f64 / 2.0) - HOT_SHARE / 2.0).abs() < 1e-6);
    }
}
