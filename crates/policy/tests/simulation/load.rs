//! Synthetic loads: a VM's accesses over time, and the guest's histograms.

use policy::HeatClass;
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use units::Bytes;

const CLASSES: usize = 48;
/// Accesses per interval. Only their ratios matter.
const ACCESSES: f64 = 1e6;
const ITEMS: f64 = 65_536.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Pattern {
    TwoLevel { hot: f64, hits: f64 },
    Zipf { exponent: f64 },
    Scan,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Phase {
    start: usize,
    pattern: Pattern,
    pub(crate) size: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Load {
    phases: Vec<Phase>,
}

impl Pattern {
    fn draw(rng: &mut Pcg64Mcg) -> Self {
        match rng.random_range(0..5) {
            0 | 1 => Self::TwoLevel { hot: rng.random_range(0.05..0.4), hits: rng.random_range(0.85..0.99) },
            2 | 3 => Self::Zipf { exponent: rng.random_range(0.6..1.2) },
            _ => Self::Scan,
        }
    }

    fn share(self, part: f64) -> f64 {
        let part = part.clamp(0.0, 1.0);
        match self {
            Self::TwoLevel { hot, hits } if part < hot => hits * part / hot,
            Self::TwoLevel { hot, hits } => hits + (1.0 - hits) * (part - hot) / (1.0 - hot),
            Self::Zipf { exponent } => mass(part * ITEMS, exponent) / mass(ITEMS, exponent),
            Self::Scan => part,
        }
    }

    fn part(self, share: f64) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..50 {
            let middle = f64::midpoint(low, high);
            *(if self.share(middle) < share { &mut low } else { &mut high }) = middle;
        }
        high
    }
}

fn mass(items: f64, exponent: f64) -> f64 {
    if (exponent - 1.0).abs() < 1e-9 {
        return items.ln_1p();
    }
    ((items + 1.0).powf(1.0 - exponent) - 1.0) / (1.0 - exponent)
}

impl Phase {
    pub(crate) fn served(&self, dram: u64) -> f64 {
        self.pattern.share(dram as f64 / self.size)
    }

    pub(crate) fn need(&self, share: f64) -> f64 {
        self.size * self.pattern.part(share)
    }

    /// Class sizes grow from a thousandth of the working set. Each class has an error of `noise` in its accesses, and
    /// all sizes share an error of a third of `noise`.
    pub(crate) fn histogram(&self, rng: &mut Pcg64Mcg, noise: f64) -> Vec<HeatClass> {
        let edge = |at: usize| 1000_f64.powf(at as f64 / CLASSES as f64 - 1.0);
        let scale = (noise / 3.0 * normal(rng)).exp();
        let mut before = 0.0;
        (0..=CLASSES)
            .map(|at| {
                let after = if at == CLASSES { 1.0 } else { edge(at) };
                let accesses = ACCESSES * (self.pattern.share(after) - self.pattern.share(before));
                let bytes = Bytes((self.size * scale * (after - before)) as u64);
                before = after;
                HeatClass { bytes, accesses: accesses * (noise * normal(rng)).exp() }
            })
            .collect()
    }

    fn next(&self, rng: &mut Pcg64Mcg, start: usize, memory: f64) -> Self {
        let factor = rng.random_range(1.25..2.5);
        let (pattern, size) = match rng.random_range(0..5) {
            0 | 1 => (self.pattern, self.size * factor),
            2 | 3 => (self.pattern, self.size / factor),
            _ => (Pattern::draw(rng), self.size),
        };
        Self { start, pattern, size: size.clamp(memory / 16.0, memory) }
    }
}

impl Load {
    /// Lengths are exponentially distributed. The load is constant if `mean` is `None`.
    pub(crate) fn draw(rng: &mut Pcg64Mcg, memory: f64, intervals: usize, mean: Option<f64>) -> Self {
        let size = memory * 8_f64.powf(rng.random_range(-1.0..0.0));
        let mut phases = vec![Phase { start: 0, pattern: Pattern::draw(rng), size }];
        let mut at = 0.0;
        while let Some(mean) = mean {
            at += 1.0 - mean * rng.random_range(1e-12..1.0_f64).ln();
            if at >= intervals as f64 {
                break;
            }
            phases.push(phases[phases.len() - 1].next(rng, at as usize, memory));
        }
        Self { phases }
    }

    pub(crate) fn at(&self, interval: usize) -> &Phase {
        &self.phases[self.phases.partition_point(|phase| phase.start <= interval) - 1]
    }
}

/// A standard normal number (Box and Muller, 1958).
pub(crate) fn normal(rng: &mut Pcg64Mcg) -> f64 {
    let radius = (-2.0 * rng.random_range(1e-12..1.0_f64).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.random_range(0.0..1.0_f64)).cos()
}
