//! Checks the intervals of a run's results, and the verdicts against the noise floor with disturbed trials.

use stats::{Blocks, Difference, Estimate, Family, Fit, ab, fit::BASELINE, interval, verdict};

use crate::{
    alarms::{FALSE_ALARMS, is_alarm},
    case::Case,
    coverage::{ASKED, holds},
    draws::{Draws, Shape},
};

/// Remaining fraction of a disturbed trial's value.
const LEFT: f64 = 1.0 / 3.0;
const OF_BLOCKS: f64 = 0.1;
const OWN: usize = 1;
const OTHER: usize = 2;
const EARLY: u32 = 5;
/// Maximum mean width of an interval, relative to the exact interval of the median.
const WIDEST: f64 = 1.1;
const LEAST_POWER: f64 = 0.02;

#[derive(Clone, Copy)]
enum Trials {
    Shaped(Shape),
    Disturbed,
    OneDisturbed,
    Uneven,
    AgainDisturbed,
    /// The other results vary between blocks, but the examined result does not.
    WithoutBlocks,
    EndsEarly,
}

impl Trials {
    const ALL: [Self; 10] = [
        Self::Shaped(Shape::Normal),
        Self::Shaped(Shape::Skewed),
        Self::Shaped(Shape::Heavy),
        Self::Shaped(Shape::TwoHumps),
        Self::Disturbed,
        Self::OneDisturbed,
        Self::Uneven,
        Self::AgainDisturbed,
        Self::WithoutBlocks,
        Self::EndsEarly,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Shaped(shape) => shape.name(),
            Self::Disturbed => "a tenth slowed to a third",
            Self::OneDisturbed => "a tenth of the result slowed to a third",
            Self::Uneven => "the result varies three times as much",
            Self::AgainDisturbed => "every third repetition slowed to a third",
            Self::WithoutBlocks => "a block effect that the result lacks",
            Self::EndsEarly => "the result ends early",
        }
    }

    fn draw(self, draws: &mut Draws, n: usize, scatter: f64, own: bool) -> Vec<f64> {
        match (self, own) {
            (Self::Shaped(shape), _) => draws.rates(n, shape, scatter),
            (Self::Disturbed, _) | (Self::OneDisturbed, true) => draws.disturbed(n, scatter, LEFT),
            (Self::Uneven, true) => draws.rates(n, Shape::Normal, 3.0 * scatter),
            _ => draws.rates(n, Shape::Normal, scatter),
        }
    }

    fn level(self, scatter: f64) -> f64 {
        let mean = if let Self::Shaped(shape) = self { shape.mean() } else { 0.0 };
        10.0 * (scatter * mean).exp()
    }
}

fn run(draws: &mut Draws, n: usize, trials: Trials, scatter: f64, kept: f64) -> (Vec<Blocks>, Blocks) {
    let blocks: Vec<f64> = (0..n).map(|_| (OF_BLOCKS * draws.normal()).exp()).collect();
    let mut result = |own: bool, kept: f64| -> Blocks {
        let values = trials.draw(draws, n, scatter, own);
        let of_block = |(block, value): (u32, f64)| {
            let lacks = own && matches!(trials, Trials::WithoutBlocks);
            (block, kept * value * if lacks { 1.0 } else { blocks[block as usize] })
        };
        (0..).zip(values).map(of_block).collect()
    };
    let mut results = vec![result(false, 1.0), result(true, kept), result(false, 1.0), result(false, 1.0)];
    let mut again = result(false, 1.0);
    if matches!(trials, Trials::AgainDisturbed) {
        again.values_mut().step_by(3).for_each(|value| *value *= LEFT);
    }
    if matches!(trials, Trials::EndsEarly) {
        results[OWN].retain(|block, _| *block < EARLY);
    }
    (results, again)
}

fn fit(draws: &mut Draws, n: usize, trials: Trials, scatter: f64, kept: f64) -> Option<Fit> {
    let (results, again) = run(draws, n, trials, scatter, kept);
    Fit::of(&results, &again, Family::SINGLE)
}

fn ratio(fit: &Fit, reference: usize) -> Option<Estimate> {
    fit.ratio(OWN, reference, ab::CONFIDENCE)
}

pub(crate) fn cases() -> Vec<Case> {
    [intervals(), widths(), alarms(), found()].into_iter().flatten().collect()
}

const BLOCKS: [usize; 6] = [5, 6, 8, 10, 12, 20];

fn intervals() -> Vec<Case> {
    let mut cases = Vec::new();
    for (scatter, n) in [0.02, 0.03].into_iter().flat_map(|scatter| BLOCKS.map(|n| (scatter, n))) {
        for trials in Trials::ALL {
            let data = format!("{} {:.0} % n={n}", trials.name(), 100.0 * scatter);
            let most = (ASKED.0, 0.995);
            for (method, reference) in
                [("interval of a step", BASELINE), ("interval of a step between results", OTHER)]
            {
                cases.push(Case::new(method, data.clone(), most, move |draws| {
                    let fit = fit(draws, n, trials, scatter, 0.8)?;
                    holds(ratio(&fit, reference)?.interval, 0.8)
                }));
            }
            for (method, result, kept) in
                [("interval of a value", OWN, 0.8), ("interval of the baseline's value", BASELINE, 1.0)]
            {
                cases.push(Case::new(method, data.clone(), most, move |draws| {
                    let fit = fit(draws, n, trials, scatter, 0.8)?;
                    holds(fit.value(result, ab::CONFIDENCE)?.interval, kept * trials.level(scatter))
                }));
            }
        }
    }
    cases
}

fn width(estimate: Option<Estimate>) -> Option<f64> {
    let interval = estimate?.interval?;
    Some((interval.high / interval.low).ln())
}

/// A fit with another result as its baseline, for a direct comparison with [`OWN`].
fn direct(results: &[Blocks], again: &Blocks) -> Option<Fit> {
    let mut results = results.to_vec();
    results.swap(BASELINE, OTHER);
    Fit::of(&results, again, Family::SINGLE)
}

fn widths() -> Vec<Case> {
    let mut cases = Vec::new();
    for (n, trials) in BLOCKS.into_iter().flat_map(|n| Trials::ALL.map(|trials| (n, trials))) {
        let data = format!("{} 2 % n={n}", trials.name());
        // There is no claim for few blocks if the other results vary between blocks.
        let held = n > 6 || !matches!(trials, Trials::WithoutBlocks);
        let of_value = Case::at_most("width of a value", data.clone(), WIDEST, move |draws| {
            let (results, again) = run(draws, n, trials, 0.02, 0.8);
            let own: Vec<f64> = results[OWN].values().copied().collect();
            let exact = interval::median_estimate(&own, ab::CONFIDENCE);
            Some((
                width(Fit::of(&results, &again, Family::SINGLE)?.value(OWN, ab::CONFIDENCE))?,
                width(exact)?,
            ))
        });
        cases.push(of_value.claimed_if(held));
        let held = n > 12 || !matches!(trials, Trials::Disturbed);
        let of_step = Case::at_most("width of a step between results", data, WIDEST, move |draws| {
            let (results, again) = run(draws, n, trials, 0.02, 0.8);
            let (ours, theirs) = (Fit::of(&results, &again, Family::SINGLE)?, direct(&results, &again)?);
            Some((width(ratio(&ours, OTHER))?, width(ratio(&theirs, BASELINE))?))
        });
        cases.push(of_step.claimed_if(held));
        for lost in [0.05, 0.1] {
            let data = format!("{} 2 % n={n}, {:.0} % lost", trials.name(), 100.0 * lost);
            cases.push(Case::at_most("step between results: power lost", data, LEAST_POWER, move |draws| {
                let (results, again) = run(draws, n, trials, 0.02, 1.0 - lost);
                let (ours, theirs) = (Fit::of(&results, &again, Family::SINGLE)?, direct(&results, &again)?);
                let floor = ours.floor(ab::CONFIDENCE)?;
                let found = |ratio: Option<Estimate>| {
                    Some(f64::from(u8::from(verdict::verdict(&ratio?, &floor) == Difference::Lower)))
                };
                Some((found(ratio(&theirs, BASELINE))? - found(ratio(&ours, OTHER))?, 1.0))
            }));
        }
    }
    cases
}

fn judged(fit: &Fit, reference: usize) -> Option<Difference> {
    Some(fit.judge(OWN, reference, ab::CONFIDENCE)?.1)
}

fn alarms() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in BLOCKS {
        for trials in Trials::ALL {
            let data = format!("{} 3 % n={n}", trials.name());
            let most = if matches!(trials, Trials::Uneven) { 0.06 } else { FALSE_ALARMS.1 };
            cases.push(Case::new("step: false alarm", data.clone(), (0.0, most), move |draws| {
                Some(is_alarm(judged(&fit(draws, n, trials, 0.03, 1.0)?, BASELINE)?))
            }));
            cases.push(Case::figure("step: within noise", data, move |draws| {
                Some(judged(&fit(draws, n, trials, 0.03, 1.0)?, BASELINE)? == Difference::WithinNoise)
            }));
        }
    }
    cases
}

/// Power to find a difference, claimed for losses of 10 % or more, even if one trial in ten is disturbed.
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
                        Some(
                            judged(&fit(draws, n, trials, scatter, 1.0 - lost)?, BASELINE)?
                                == Difference::Lower,
                        )
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
