//! How far what a source tells of accesses is from the truth, by patterns, and what it costs.

use std::{path::PathBuf, thread, time::Duration};

use machine::Kernel;
use memory::{AttachedVm, MemoryError};
use protocol::{AccessClass, AccessPattern, AccessSourceKind, MemoryOrder, PatternShape};
use units::{Bytes, Share};

use super::{FLOOR, Guests, MIB, PROGRAM, Truth, failed, served, truth};
use crate::{error::RunError, stop::Stop};

const NAME: &str = "guest";
/// How often, and how far apart, it is looked whether memory has moved.
const SETTLES: u32 = 300;
const GLANCE: Duration = Duration::from_millis(200);
/// Where a curve is held against the true one: at these parts of the program's memory.
const PLACES: [f64; 3] = [0.125, 0.25, 0.5];
/// Of those, the sources that see the guest's nodes.
const SOURCES: [AccessSourceKind; 3] =
    [AccessSourceKind::Damon, AccessSourceKind::Mglru, AccessSourceKind::Referenced];

/// What is to be tried.
#[derive(Debug, Clone)]
pub struct AccuracyRequest {
    pub kernel: Kernel,
    /// This program.
    pub program: PathBuf,
    pub tool: String,
    /// Accesses a second.
    pub rate: u64,
    /// From one look to the next.
    pub interval: Duration,
    /// Looks that are not counted, while a source learns, and looks that are.
    pub looks: (u32, u32),
    pub stop: Stop,
}

/// A source and a pattern. Shares are means over the looks.
#[derive(Debug, Clone, PartialEq)]
pub struct Accuracy {
    pub source: AccessSourceKind,
    pub pattern: &'static str,
    /// Why the source tells nothing here.
    pub lacking: Option<String>,
    /// Share of accesses that the fast node served: in truth, and as told where the source sees nodes.
    pub true_hits: Option<Share>,
    pub told_hits: Option<Share>,
    /// The share that the hottest part of the program's memory serves, in truth and as told: part, truth, told.
    pub curve: Vec<(f64, f64, f64)>,
    /// Memory that was accessed: in truth, and as told.
    pub true_accessed: Bytes,
    pub told_accessed: Bytes,
    /// CPU time of the guest, and of the host for the looks of a source there, as a share of one CPU.
    pub cost: Option<Share>,
}

fn patterns() -> [(&'static str, PatternShape); 3] {
    [
        ("two-level", PatternShape::TwoLevel { hot: Bytes(32 * MIB), share: 0.9 }),
        ("zipf", PatternShape::Zipf { exponent: 1.0 }),
        ("scan", PatternShape::Scan),
    ]
}

/// Boots a guest and tries each source on each pattern; `tell` is told of each result.
///
/// # Errors
/// When the guest does not boot or its agent is lost.
pub fn accuracy(
    request: &AccuracyRequest,
    tell: &mut dyn FnMut(&Accuracy),
) -> Result<Vec<Accuracy>, RunError> {
    let mut results = Vec::new();
    for source in SOURCES {
        // One that was on before would be felt by the next, so each has a guest of its own.
        let mut guests =
            Guests::new(request.kernel.clone(), &request.program, &request.tool, request.interval)?;
        guests.source = source;
        let mut guest = guests.boot(NAME)?;
        // So that the program has memory on both nodes.
        guest.vm.resize(FLOOR).map_err(failed(NAME))?;
        settle(&mut guest.vm, request)?;
        for (name, shape) in patterns() {
            let pattern = AccessPattern { memory: PROGRAM, shape, rate: request.rate, prefers: None };
            let order = MemoryOrder::Pattern { pattern };
            guest.vm.ask(order).map_err(failed(NAME))?;
            let result = one(request, &mut guest.vm, (source, name))?;
            tell(&result);
            results.push(result);
        }
    }
    Ok(results)
}

/// Waits until the guest has given up what it was asked for.
fn settle(vm: &mut AttachedVm, request: &AccuracyRequest) -> Result<(), RunError> {
    for _ in 0..SETTLES {
        if request.stop.is_asked() {
            return Err(RunError::Interrupted);
        }
        vm.look(request.interval).map_err(failed(NAME))?;
        if vm.has().fast <= FLOOR {
            return Ok(());
        }
        thread::sleep(GLANCE);
    }
    let (moved, asked, seconds) = (vm.has().fast, FLOOR, 0);
    Err(failed(NAME)(MemoryError::Stuck { moved, asked, seconds }))
}

fn one(
    request: &AccuracyRequest,
    vm: &mut AttachedVm,
    (source, pattern): (AccessSourceKind, &'static str),
) -> Result<Accuracy, RunError> {
    let mut sums = Sums::default();
    let mut lacking = None;
    for look in 0..request.looks.0 + request.looks.1 {
        if request.stop.is_asked() {
            return Err(RunError::Interrupted);
        }
        thread::sleep(request.interval);
        let told = vm.look(request.interval).map_err(failed(NAME))?;
        let truth = truth(vm).map_err(failed(NAME))?;
        if look < request.looks.0 {
            continue;
        }
        let classes: Vec<AccessClass> = told.classes().copied().collect();
        if classes.is_empty() {
            lacking = told.no_accesses_because.clone().or(lacking);
            continue;
        }
        // The host tells of all by one node.
        let told_hits = told.dram_hits().filter(|_| source != AccessSourceKind::Referenced);
        let of_host = told.host_cost.map(|cost| Share(cost.seconds() / request.interval.as_secs_f64()));
        let of_host = of_host.filter(|_| source == AccessSourceKind::Referenced);
        sums.add(&truth, told_hits, &classes, of_host.or(told.cost));
    }
    Ok(sums.mean(source, pattern, lacking))
}

#[derive(Default)]
struct Sums {
    looks: f64,
    true_hits: Vec<f64>,
    told_hits: Vec<f64>,
    curve: [(f64, f64); PLACES.len()],
    accessed: (f64, f64),
    costs: Vec<f64>,
}

impl Sums {
    fn add(&mut self, truth: &Truth, told_hits: Option<Share>, classes: &[AccessClass], cost: Option<Share>) {
        self.looks += 1.0;
        self.true_hits.extend(truth.hits.map(|hits| hits.0));
        self.told_hits.extend(told_hits.map(|hits| hits.0));
        self.costs.extend(cost.map(|cost| cost.0));
        for (part, sums) in PLACES.iter().zip(&mut self.curve) {
            let bytes = part * PROGRAM.0 as f64;
            sums.0 += served(&truth.hottest, bytes);
            sums.1 += served(classes, bytes);
        }
        let accessed = |classes: &[AccessClass]| -> f64 {
            let of = classes.iter().filter(|class| class.accesses > 0);
            of.map(|class| class.bytes.0 as f64).sum()
        };
        self.accessed.0 += accessed(&truth.hottest);
        self.accessed.1 += accessed(classes);
    }

    fn mean(self, source: AccessSourceKind, pattern: &'static str, lacking: Option<String>) -> Accuracy {
        let mean = |all: &[f64]| (!all.is_empty()).then(|| Share(all.iter().sum::<f64>() / all.len() as f64));
        let looks = self.looks.max(1.0);
        let curve =
            PLACES.iter().zip(self.curve).map(|(part, (truth, told))| (*part, truth / looks, told / looks));
        Accuracy {
            source,
            pattern,
            lacking,
            true_hits: mean(&self.true_hits),
            told_hits: mean(&self.told_hits),
            curve: if self.looks > 0.0 { curve.collect() } else { Vec::new() },
            true_accessed: Bytes((self.accessed.0 / looks) as u64),
            told_accessed: Bytes((self.accessed.1 / looks) as u64),
            cost: mean(&self.costs),
        }
    }
}
