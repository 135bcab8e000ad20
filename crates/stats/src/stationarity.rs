//! Classifies a time series as steady, stalled, starting slowly, drifting, shifting between levels, or unsteady.

use std::ops::Range;

use crate::{
    describe,
    levels::{self, Level},
    warmup,
};

/// Minimum drift over the whole series, as a fraction of the mean. Smaller drifts are ignored, even if they are
/// significant.
pub const LEAST_DRIFT: f64 = 0.05;
/// Minimum relative size of a jump or of a slow start.
pub const LEAST_JUMP: f64 = 0.04;
/// Minimum length of a stall, in consecutive values without data.
pub const FEWEST_SILENT: usize = 3;

/// Values below this fraction of the median count as no data.
const SILENT: f64 = 0.01;
/// Maximum fraction of values without data outside stalls. Beyond it, the series is intermittent.
const MOST_SILENT: f64 = 0.1;
/// Penalty of a slope, in units of ln n, like that of a change point in [`levels::levels`].
const SLOPE: f64 = 3.0;
/// Penalty of a jump or an exponential start. It is higher than for a slope, because the search also fits a position
/// or a time constant.
const JUMP: f64 = 5.0;
/// Minimum difference in cost between the best two kinds of change. Below it, neither is reported.
const CLEAR: f64 = 2.0;
/// Upper limit for the estimated autocorrelation. Beyond it, no level can be detected.
const MOST_LIKENESS: f64 = 0.97;
/// Sums of squares below this are rounding errors.
const LEAST_SQUARES: f64 = 1e-300;
/// The shortest time constant to try, in values, and the ratio between successive ones.
const TIME_CONSTANTS: (f64, f64) = (0.7, 1.4);
/// Minimum length of a series with a slow start, in time constants. After four of them, 2 % of the difference remains.
const MANY_CONSTANTS: f64 = 4.0;
/// A series has settled once it is within this fraction of the final value.
const SETTLED: f64 = 0.02;

#[derive(Debug, Clone, PartialEq)]
pub enum Stationarity {
    Steady,
    /// The endpoints of the best straight line.
    Drift {
        from: f64,
        to: f64,
    },
    Levels(Vec<Level>),
    /// The series starts at a different level and settles after this many values.
    SlowStart {
        from: f64,
        to: f64,
        settled: usize,
    },
    Stall(Vec<Range<usize>>),
    /// The series varies between these values, and no kind of change clearly fits best.
    Unsteady {
        low: f64,
        high: f64,
    },
}

/// A series with stretches without data has stalled. Otherwise, this function skips an abrupt warm-up ([`warmup::cut`])
/// and compares four models of the remainder: one level, a straight line, an exponential approach to a final level, and
/// jumps between levels. Each has first-order autocorrelated errors and costs n ln(s / n) + k ln n. Here s is the sum
/// of squared prediction errors, and k is 0 for one level, 3 for a line, and 5 for an exponential or for each jump
/// (after Shi, Gallagher, Lund & Killick 2022).
pub fn stationarity(values: &[f64]) -> Option<Stationarity> {
    let middle = describe::median(values)?;
    if values.len() < 2 * levels::FEWEST {
        return Some(Stationarity::Steady);
    }
    if let Some(stalls) = stalls(values, middle) {
        return Some(Stationarity::Stall(stalls));
    }
    let cut = warmup::cut(values);
    let kind = change(values, cut)?;
    if cut == 0 {
        return Some(kind);
    }
    // If more jumps follow, the warm-up is just another level.
    let whole = matches!(kind, Stationarity::Levels(_)).then(|| change(values, 0)).flatten();
    let levels = whole.filter(|whole| matches!(whole, Stationarity::Levels(_)));
    Some(levels.unwrap_or(after(kind, describe::mean(&values[..cut])?, cut, middle)))
}

/// Returns the number of values before the series settles.
#[must_use]
pub fn settled(values: &[f64]) -> usize {
    match stationarity(values) {
        Some(Stationarity::SlowStart { settled, .. }) => settled,
        Some(Stationarity::Stall(_)) | None => 0,
        Some(_) => warmup::cut(values),
    }
}

fn stalls(values: &[f64], middle: f64) -> Option<Vec<Range<usize>>> {
    let is_silent = |value: &f64| value.abs() < SILENT * middle;
    let mut runs: Vec<Range<usize>> = Vec::new();
    for at in (0..values.len()).filter(|at| is_silent(&values[*at])) {
        match runs.last_mut().filter(|run| run.end == at) {
            Some(run) => run.end = at + 1,
            None => runs.push(at..at + 1),
        }
    }
    // If data is missing only at the start, the series has a warm-up.
    let (stalls, others): (Vec<_>, Vec<_>) =
        runs.into_iter().partition(|run| run.start > 0 && run.len() >= FEWEST_SILENT);
    let silent: usize = others.iter().map(Range::len).sum();
    (!stalls.is_empty() && silent as f64 <= MOST_SILENT * values.len() as f64).then_some(stalls)
}

/// Shifts the positions of a change by the skipped warm-up. A warm-up before a steady series is a slow start.
fn after(kind: Stationarity, first: f64, cut: usize, middle: f64) -> Stationarity {
    match kind {
        Stationarity::Steady => Stationarity::SlowStart { from: first, to: middle, settled: cut },
        Stationarity::SlowStart { to, settled, .. } => {
            Stationarity::SlowStart { from: first, to, settled: settled + cut }
        }
        Stationarity::Levels(found) => Stationarity::Levels(
            found.iter().map(|it| Level { start: it.start + cut, end: it.end + cut, ..*it }).collect(),
        ),
        other => other,
    }
}

struct Model {
    cost: f64,
    kind: Stationarity,
    /// Lowest and highest expected value.
    ends: (f64, f64),
}

impl Model {
    fn is_large(&self) -> bool {
        let (low, high) = self.ends;
        let least = if matches!(self.kind, Stationarity::Drift { .. }) { LEAST_DRIFT } else { LEAST_JUMP };
        high - low >= least * 0.5 * (low + high).abs()
    }
}

fn change(whole: &[f64], cut: usize) -> Option<Stationarity> {
    let values = &whole[cut..];
    if values.len() < 2 * levels::FEWEST {
        return Some(Stationarity::Steady);
    }
    let found = levels::split(values, LEAST_JUMP)?;
    let clipped = levels::clipped(values)?;
    let mean = describe::mean(&clipped)?;
    let level = cost(&clipped, |_| mean, 0.0);
    let mut models = vec![drift(&clipped, mean), approach(&clipped, 0)?];
    if cut > 0 {
        // The abrupt part and the remainder may belong to the same slow start.
        models.push(approach(&levels::clipped(whole)?, cut)?);
    }
    models.extend(
        [single_jump(values, &clipped)?, found.clone()].into_iter().filter_map(|it| jumps(&clipped, it)),
    );
    models.sort_by(|one, other| one.cost.total_cmp(&other.cost));
    let is_other =
        |model: &&Model| std::mem::discriminant(&model.kind) != std::mem::discriminant(&models[0].kind);
    let next = models.iter().find(is_other).map_or(f64::INFINITY, |other| other.cost);
    let best = &models[0];
    if best.cost < level {
        return Some(match best.is_large() {
            true if next - best.cost >= CLEAR => best.kind.clone(),
            true => Stationarity::Unsteady { low: best.ends.0, high: best.ends.1 },
            false => Stationarity::Steady,
        });
    }
    let (low, high) = ends(found.iter().map(|level| level.value));
    let wanders = high - low > levels::LEAST_JUMP * low.abs();
    Some(if wanders { Stationarity::Unsteady { low, high } } else { Stationarity::Steady })
}

fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), it| (low.min(it), high.max(it)))
}

fn drift(values: &[f64], mean: f64) -> Model {
    let middle = (values.len() - 1) as f64 / 2.0;
    let slope = slope(values, mean, |at| at as f64 - middle);
    let line = |at: usize| mean + slope * (at as f64 - middle);
    let (from, to) = (line(0), line(values.len() - 1));
    Model {
        cost: cost(values, line, SLOPE),
        kind: Stationarity::Drift { from, to },
        ends: (from.min(to), from.max(to)),
    }
}

/// Fits an exponential approach to a constant level by least squares for each time constant, and returns the best
/// fit. The cost counts only values from `cut` on.
fn approach(values: &[f64], cut: usize) -> Option<Model> {
    let mean = describe::mean(values)?;
    let (shortest, ratio) = TIME_CONSTANTS;
    let most = values.len() as f64 / MANY_CONSTANTS;
    let constants = std::iter::successors(Some(shortest), |constant| Some(constant * ratio));
    let fits = constants.take_while(|constant| *constant <= most).map(|constant| {
        let decay = |at: usize| (-(at as f64) / constant).exp();
        let usual = (0..values.len()).map(decay).sum::<f64>() / values.len() as f64;
        let by = slope(values, mean, |at| decay(at) - usual);
        let to = mean - by * usual;
        let left = (by / (SETTLED * to)).abs().max(1.0);
        Model {
            cost: cost(&values[cut..], |at| to + by * decay(at + cut), JUMP),
            kind: Stationarity::SlowStart {
                from: to + by,
                to,
                settled: ((constant * left.ln()).ceil() as usize).saturating_sub(cut),
            },
            ends: (to.min(to + by), to.max(to + by)),
        }
    });
    let none = Model { cost: f64::INFINITY, kind: Stationarity::Steady, ends: (mean, mean) };
    Some(fits.fold(none, |best, fit| if fit.cost < best.cost { fit } else { best }))
}

fn single_jump(values: &[f64], clipped: &[f64]) -> Option<Vec<Level>> {
    let edge = levels::best_edge(clipped, levels::FEWEST);
    let level = |start, end| Some(Level { start, end, value: describe::median(&values[start..end])? });
    Some(vec![level(0, edge)?, level(edge, values.len())?])
}

fn jumps(values: &[f64], found: Vec<Level>) -> Option<Model> {
    let means: Option<Vec<f64>> =
        found.iter().map(|level| describe::mean(&values[level.start..level.end])).collect();
    let means = means.filter(|means| means.len() > 1)?;
    let mut expected = Vec::with_capacity(values.len());
    for (level, mean) in found.iter().zip(&means) {
        expected.resize(level.end, *mean);
    }
    let penalty = JUMP * (found.len() - 1) as f64;
    Some(Model {
        cost: cost(values, |at| expected[at], penalty),
        ends: ends(found.iter().map(|level| level.value)),
        kind: Stationarity::Levels(found),
    })
}

fn cost(values: &[f64], expected: impl Fn(usize) -> f64, penalty: f64) -> f64 {
    let errors: Vec<f64> = values.iter().enumerate().map(|(at, value)| value - expected(at)).collect();
    let n = errors.len() as f64;
    let square = |errors: &[f64]| errors.iter().map(|error| error * error).sum::<f64>();
    let together: f64 = errors.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let before = square(&errors[..errors.len() - 1]);
    let likeness = if before > 0.0 { (together / before).clamp(0.0, MOST_LIKENESS) } else { 0.0 };
    let unforeseen: Vec<f64> = errors.windows(2).map(|pair| pair[1] - likeness * pair[0]).collect();
    let first = errors[0] * errors[0] * (1.0 - likeness * likeness);
    let rest = (first + square(&unforeseen)).max(LEAST_SQUARES);
    n * (rest / n).ln() - (1.0 - likeness * likeness).ln() + penalty * n.ln()
}

/// The least-squares slope of the values over `away`, which has a mean of zero.
fn slope(values: &[f64], mean: f64, away: impl Fn(usize) -> f64) -> f64 {
    let (products, squares) =
        values.iter().enumerate().fold((0.0, 0.0), |(products, squares), (at, value)| {
            let away = away(at);
            (products + away * (value - mean), squares + away * away)
        });
    if squares > 0.0 { products / squares } else { 0.0 }
}

#[cfg(test)]
mod tests;
