//! Measures the accuracy and the cost of access sources on known patterns.

use std::{path::PathBuf, thread, time::Duration};

use machine::Kernel;
use memory::{AttachedVm, MemoryError};
use protocol::{AccessClass, AccessPattern, AccessSourceKind, MemoryOrder, PatternShape};
use units::{Bytes, Share};

use super::{FLOOR, Guests, MIB, PROGRAM, Truth, failed, served, truth};
use crate::{error::RunError, stop::Stop};

const NAME: &str = "guest";
/// Number and interval of checks for memory movement.
const SETTLES: u32 = 300;
const GLANCE: Duration = Duration::from_millis(200);
/// Parts of the program's memory at which curves are compared.
const PLACES: [f64; 3] = [0.125, 0.25, 0.5];
/// Sources that distinguish the guest's nodes.
const SOURCES: [AccessSourceKind; 3] =
    [AccessSourceKind::Damon, AccessSourceKind::Mglru, AccessSourceKind::Referenced];

/// Parameters.
#[derive(Debug, Clone)]
pub struct AccuracyRequest {
    pub kernel: Kernel,
    /// The plumb program.
    pub program: PathBuf,
    pub tool: String,
    /// Accesses per second.
    pub rate: u64,
    /// Interval between looks.
    pub interval: Duration,
    /// Number of discarded looks at the start, and number of counted looks.
    pub looks: (u32, u32),
    pub stop: Stop,
}

/// Result for a source and a pattern. Shares are means over the looks.
#[derive(Debug, Clone, PartialEq)]
pub struct Accuracy {
    pub source: AccessSourceKind,
    pub pattern: &'static str,
    /// The reason why the source does not work here.
    pub lacking: Option<String>,
    /// Share of accesses served by the fast node: actual, and measured if the source distinguishes nodes.
    pub true_hits: Option<Share>,
    pub told_hits: Option<Share>,
    /// Share of accesses served by the hottest part of the program's memory: part, actual, measured.
    pub curve: Vec<(f64, f64, f64)>,
    /// Accessed memory: actual and measured.
    pub true_accessed: Bytes,
    pub told_accessed: Bytes,
    /// CPU use as a share of one CPU: of the guest, or of the host for host-side sources.
    pub cost: Option<Share>,
}

fn patterns() -> [(&'static str, PatternShape); 3] {
    [
        ("two-level", PatternShape::TwoLevel { hot: Bytes(32 * MIB), share: 0.9 }),
        ("zipf", PatternShape::Zipf { exponent: 1.0 }),
        ("scan", PatternShape::Scan),
    ]
}

/// Boots a guest per source and pattern and measures it. Calls `tell` with each result.
///
/// # Errors
/// If a guest does not boot or its agent is lost.
pub fn accuracy(
    request: &AccuracyRequest,
    tell: &mut dyn FnMut(&Accuracy),
) -> Result<Vec<Accuracy>, RunError> {
    let mut results = Vec::new();
    for source in SOURCES {
        // A source left on would affect the next one, so each gets a new guest.
        let mut guests =
            Guests::new(request.kernel.clone(), &request.program, &request.tool, request.interval)?;
        guests.source = source;
        let mut guest = guests.boot(NAME)?;
        // Puts part of the program's memory on each node.
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

/// Waits until the guest has released the requested memory.
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
    let mut missing = None;
    for number in 0..request.looks.0 + request.looks.1 {
        if request.stop.is_asked() {
            return Err(RunError::Interrupted);
        }
        thread::sleep(request.interval);
        let look = vm.look(request.interval).map_err(failed(NAME))?;
        let truth = truth(vm).map_err(failed(NAME))?;
        if number < request.looks.0 {
            continue;
        }
        let classes: Vec<AccessClass> = look.classes().copied().collect();
        if classes.is_empty() {
            missing = look.no_accesses_because.clone().or(missing);
            continue;
        }
        // The host sees a single node.
        let measured_hits = look.dram_hits().filter(|_| source != AccessSourceKind::Referenced);
        let of_host = look.host_cost.map(|cost| Share(cost.seconds() / request.interval.as_secs_f64()));
        let of_host = of_host.filter(|_| source == AccessSourceKind::Referenced);
        sums.add(&truth, measured_hits, &classes, of_host.or(look.cost));
    }
    Ok(sums.mean(source, pattern, missing))
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
        let curve = PLACES
            .iter()
            .zip(self.curve)
            .map(|(part, (truth, measured))| (*part, truth / looks, measured / looks));
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
