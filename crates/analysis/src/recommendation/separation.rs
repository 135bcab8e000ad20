//! Which settings the numbers tell apart.

use stats::{Contest, curve, describe};

/// Settings that score less than this share of another are never called its equal, however few the trials.
const NEAR: f64 = 0.9;
/// Two-sided 95 % point of the normal distribution.
const NORMAL_95: f64 = 1.96;

/// Settings by their place, each with the scores of its trials; a higher score is better.
pub(super) struct Apart {
    scores: Vec<f64>,
    by: Basis,
}

enum Basis {
    /// Trials were repeated.
    Trials(Contest),
    /// None was: differences of logarithms up to this one are the scatter of single numbers.
    Tolerance(f64),
}

impl Apart {
    /// Scores are positive; a setting without any is below all others.
    pub(super) fn of(scores: &[Vec<f64>]) -> Self {
        let logs: Vec<Vec<f64>> =
            scores.iter().map(|trials| trials.iter().map(|score| score.ln()).collect()).collect();
        let medians: Vec<f64> = scores.iter().map(|trials| describe::median(trials).unwrap_or(0.0)).collect();
        let by = if scores.iter().any(|trials| trials.len() > 1) {
            Basis::Trials(Contest::of(&logs))
        } else {
            Basis::Tolerance(NORMAL_95 * std::f64::consts::SQRT_2 * scatter(&medians))
        };
        Self { scores: medians, by }
    }

    /// The place of the highest median score; `None` when there is none.
    pub(super) fn best(&self) -> Option<usize> {
        let scored = self.scores.iter().enumerate().filter(|(_, score)| **score > 0.0);
        scored.max_by(|one, other| one.1.total_cmp(other.1)).map(|(place, _)| place)
    }

    /// Whether `one` cannot be told apart from `other`.
    pub(super) fn is_like(&self, one: usize, other: usize) -> bool {
        let (low, high) =
            (self.scores[one].min(self.scores[other]), self.scores[one].max(self.scores[other]));
        if low < NEAR * high {
            return false;
        }
        match &self.by {
            Basis::Trials(contest) => {
                !contest.is_below(one, other, 0.0) && !contest.is_below(other, one, 0.0)
            }
            Basis::Tolerance(tolerance) => (high / low).ln() <= *tolerance,
        }
    }

    /// How far apart single numbers may lie by chance, as a share; `None` where trials were repeated.
    pub(super) fn tolerance(&self) -> Option<f64> {
        match self.by {
            Basis::Trials(_) => None,
            Basis::Tolerance(tolerance) => Some(tolerance.exp_m1()),
        }
    }
}

/// What single numbers scatter by, as a share: that of those near the best, which differ by little else.
fn scatter(scores: &[f64]) -> f64 {
    let best = scores.iter().copied().fold(0.0, f64::max);
    let near: Vec<f64> = scores
        .iter()
        .filter(|score| **score >= (1.0 - curve::ALIKE) * best)
        .map(|score| score.ln())
        .collect();
    describe::stddev(&near).unwrap_or(0.0).max(curve::ASSUMED_SCATTER)
}
