//! How often the steps of one run are right: what their intervals hold, and what comes of them beside the noise floor, some
//! trials disturbed. Knows no second run.

use stats::{Difference, Estimate, NoiseFloor, ab, noise, paired, verdict};

use crate::{
    alarms::{FALSE_ALARMS, is_alarm, scaled},
    case::Case,
    coverage::{ASKED, holds},
    draws::{Draws, Shape},
};

/// Of a disturbed trial a third is left.
const LEFT: f64 = 1.0 / 3.0;

/// The cells of a workload beside its baseline.
const CELLS: usize = 3;

/// What the trials of a run are.
#[derive(Clone, Copy)]
enum Trials {
    Shaped(Shape),
    /// One in ten of every cell, the baseline's repetition included, is slowed to a third.
    Disturbed,
    /// One in ten of the step's own cell.
    OneDisturbed,
    /// The step's own cell scatters three times as much as all others.
    Uneven,
    /// Every third one of the baseline's repetition, slowed to a third.
    AgainDisturbed,
}

impl Trials {
    const ALL: [Self; 8] = [
        Self::Shaped(Shape::Normal),
        Self::Shaped(Shape::Skewed),
        Self::Shaped(Shape::Heavy),
        Self::Shaped(Shape::TwoHumps),
        Self::Disturbed,
        Self::OneDisturbed,
        Self::Uneven,
        Self::AgainDisturbed,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Shaped(shape) => shape.name(),
            Self::Disturbed => "a tenth slowed to a third",
            Self::OneDisturbed => "a tenth of the cell slowed to a third",
            Self::Uneven => "the result varies three times as much",
            Self::AgainDisturbed => "every third repetition slowed to a third",
        }
    }

    /// The trials of the step's own cell, or of another.
    fn draw(self, draws: &mut Draws, n: usize, scatter: f64, own: bool) -> Vec<f64> {
        match (self, own) {
            (Self::Shaped(shape), _) => draws.rates(n, shape, scatter),
            (Self::Disturbed, _) | (Self::OneDisturbed, true) => draws.disturbed(n, scatter, LEFT),
            (Self::Uneven, true) => draws.rates(n, Shape::Normal, 3.0 * scatter),
            (Self::OneDisturbed | Self::Uneven | Self::AgainDisturbed, _) => {
                draws.rates(n, Shape::Normal, scatter)
            }
        }
    }
}

/// A step that keeps so much, and the floor beside it, from blocks that are 10 % apart.
fn step(
    draws: &mut Draws,
    n: usize,
    trials: Trials,
    scatter: f64,
    kept: f64,
) -> Option<(Estimate, NoiseFloor)> {
    let blocks: Vec<f64> = (0..n).map(|_| (0.1 * draws.normal()).exp()).collect();
    let mut cell = |own: bool| -> Vec<f64> {
        trials.draw(draws, n, scatter, own).iter().zip(&blocks).map(|(trial, block)| trial * block).collect()
    };
    let baseline = cell(false);
    let against = |values: Vec<f64>| baseline.iter().copied().zip(values).collect::<Vec<_>>();
    let mut again = against(cell(false));
    if matches!(trials, Trials::AgainDisturbed) {
        for pair in again.iter_mut().step_by(3) {
            pair.1 *= LEFT;
        }
    }
    let mut comparisons = vec![again.clone(), against(scaled(&cell(true), kept))];
    comparisons.extend((1..CELLS).map(|_| against(cell(false))));
    let shared = paired::scatter(&comparisons)?;
    let floor = noise::floor(&again, shared, ab::CONFIDENCE, noise::USUAL_MINIMUM)?;
    Some((paired::ratio(&comparisons[1], shared, ab::CONFIDENCE)?, floor))
}

/// Every case.
pub(crate) fn cases() -> Vec<Case> {
    [intervals(), alarms(), found()].into_iter().flatten().collect()
}

/// What the interval of a step attains. Nothing is asked of few pairs of which one is disturbed: these are shown.
fn intervals() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in [3, 4, 5, 6, 8, 10, 12, 20] {
        for trials in Trials::ALL {
            let data = format!("{} 3 % n={n}", trials.name());
            let once = move |draws: &mut Draws| {
                let (step, _) = step(draws, n, trials, 0.03, 0.8)?;
                holds(step.interval, 0.8)
            };
            cases.push(match (n, trials) {
                (3 | 4, Trials::OneDisturbed) => Case::figure("interval of a step", data, once),
                (3, _) => Case::new("interval of a step", data, (0.745, 0.755), once),
                (4, _) => Case::new("interval of a step", data, (0.87, 0.88), once),
                // Pairs that were disturbed make it wider, never much narrower.
                (_, Trials::Disturbed | Trials::Shaped(Shape::Heavy)) => {
                    Case::new("interval of a step", data, (ASKED.0, 0.99), once)
                }
                _ => Case::new("interval of a step", data, (ASKED.0, 0.98), once),
            });
        }
    }
    cases
}

fn alarms() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in [3, 4, 5, 6, 8, 10, 12, 20] {
        for trials in Trials::ALL {
            let data = format!("{} 3 % n={n}", trials.name());
            let most = if matches!(trials, Trials::Uneven) { 0.06 } else { FALSE_ALARMS.1 };
            cases.push(Case::new("step: false alarm", data.clone(), (0.0, most), move |draws| {
                let (step, floor) = step(draws, n, trials, 0.03, 1.0)?;
                Some(is_alarm(verdict::verdict(&step, &floor)))
            }));
            cases.push(Case::figure("step: within noise", data, move |draws| {
                let (step, floor) = step(draws, n, trials, 0.03, 1.0)?;
                Some(verdict::verdict(&step, &floor) == Difference::WithinNoise)
            }));
        }
    }
    cases
}

/// How often a step is found, and what is claimed of one of a tenth with a tenth of the trials disturbed.
fn found() -> Vec<Case> {
    let mut cases = Vec::new();
    for trials in [Trials::Shaped(Shape::Normal), Trials::Disturbed, Trials::AgainDisturbed] {
        for scatter in [0.02, 0.05] {
            for n in [5, 6, 8, 10, 12, 20] {
                for lost in [0.02, 0.05, 0.1, 0.2] {
                    let data = format!(
                        "{} {:.0} % n={n}, {:.0} % lost",
                        trials.name(),
                        100.0 * scatter,
                        100.0 * lost
                    );
                    let once = move |draws: &mut Draws| {
                        let (step, floor) = step(draws, n, trials, scatter, 1.0 - lost)?;
                        Some(verdict::verdict(&step, &floor) == Difference::Lower)
                    };
                    let claimed = n >= 6 && scatter < 0.03 && lost >= 0.1;
                    cases.push(if claimed {
                        Case::new("step: found", data, (0.9, 1.0), once)
                    } else {
                        Case::figure("step: found", data, once)
                    });
                }
            }
        }
    }
    cases
}
