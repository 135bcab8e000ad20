//! Independent or autocorrelated synthetic data of several shapes, with known true values.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Normal,
    /// Log-normal with sigma 0.5, skewed like durations.
    Skewed,
    /// Student's t with 3 degrees of freedom.
    Heavy,
    /// Two modes, ten standard deviations apart, with 40 % in the lower one.
    TwoHumps,
}

impl Shape {
    pub(crate) const ALL: [Self; 4] = [Self::Normal, Self::Skewed, Self::Heavy, Self::TwoHumps];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Skewed => "log-normal",
            Self::Heavy => "heavy tails",
            Self::TwoHumps => "two humps",
        }
    }

    pub(crate) fn median(self) -> f64 {
        match self {
            Self::Normal | Self::Heavy => 0.0,
            Self::Skewed => 1.0,
            Self::TwoHumps => 1.0 - 0.2 * 0.967_421_566,
        }
    }

    pub(crate) fn mean(self) -> f64 {
        match self {
            Self::Normal | Self::Heavy => 0.0,
            Self::Skewed => 0.125f64.exp(),
            Self::TwoHumps => 0.2,
        }
    }

    pub(crate) fn mean_in_time(self) -> f64 {
        if self == Self::Skewed { 0.125f64.exp() } else { 0.0 }
    }
}

pub(crate) struct Draws(Pcg64Mcg);

impl Draws {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(seed))
    }

    pub(crate) fn chance(&mut self, share: f64) -> bool {
        self.uniform() < share
    }

    pub(crate) fn uniform(&mut self) -> f64 {
        self.0.random_range(0.0..1.0)
    }

    pub(crate) fn normal(&mut self) -> f64 {
        let (radius, angle) = (self.0.random_range(1e-300..1.0f64), self.uniform());
        (-2.0 * radius.ln()).sqrt() * (2.0 * std::f64::consts::PI * angle).cos()
    }

    pub(crate) fn error(&mut self, shape: Shape) -> f64 {
        match shape {
            Shape::Normal => self.normal(),
            Shape::Skewed => (0.5 * self.normal()).exp(),
            Shape::Heavy => self.heavy(),
            Shape::TwoHumps => {
                let hump = if self.chance(0.4) { -1.0 } else { 1.0 };
                hump + 0.2 * self.normal()
            }
        }
    }

    pub(crate) fn rates(&mut self, n: usize, shape: Shape, scale: f64) -> Vec<f64> {
        (0..n).map(|_| 10.0 * (scale * self.error(shape)).exp()).collect()
    }

    /// Positive values on a machine with noisy neighbours: one in ten is scaled by `kept`.
    pub(crate) fn disturbed(&mut self, n: usize, scale: f64, kept: f64) -> Vec<f64> {
        (0..n)
            .map(|_| {
                let slow = if self.chance(0.1) { kept } else { 1.0 };
                10.0 * slow * (scale * self.normal()).exp()
            })
            .collect()
    }

    pub(crate) fn series(&mut self, n: usize, shape: Shape, carry: f64) -> Vec<f64> {
        let fresh = (1.0 - carry * carry).sqrt();
        let mut last = self.fresh(shape);
        let begin = 50;
        let mut out = Vec::with_capacity(n);
        for at in 0..begin + n {
            last = carry * last + fresh * self.fresh(shape);
            if at >= begin {
                out.push(match shape {
                    Shape::Normal | Shape::Heavy => last,
                    Shape::Skewed => (0.5 * last).exp(),
                    Shape::TwoHumps => last.signum() + 0.2 * self.normal(),
                });
            }
        }
        out
    }

    fn fresh(&mut self, shape: Shape) -> f64 {
        if shape == Shape::Heavy { self.heavy() } else { self.normal() }
    }

    fn heavy(&mut self) -> f64 {
        let squares: f64 = (0..3).map(|_| self.normal().powi(2)).sum();
        self.normal() / (squares / 3.0).sqrt()
    }
}
