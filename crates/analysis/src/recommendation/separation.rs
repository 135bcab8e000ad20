//! Determines which settings are statistically tied.

use stats::{Contest, curve, describe};

/// Settings are tied only if the lower score is at least this fraction of the higher one.
const NEAR: f64 = 0.9;
/// Two-sided 95 % point of the normal distribution.
const NORMAL_95: f64 = 1.96;

pub(super) struct Apart {
    scores: Vec<f64>,
    by: Basis,
}

enum Basis {
    Trials(Contest),
    /// The settings have single trials. Differences of logarithms up to this value count as noise.
    Tolerance(f64),
}

impl Apart {
    /// Each setting has a score and the scores of its trials. All scores are positive. Settings without trials rank
    /// below all other settings.
    pub(super) fn of(settings: &[(f64, Vec<f64>)]) -> Self {
        let logs: Vec<Vec<f64>> =
            settings.iter().map(|(_, trials)| trials.iter().map(|score| score.ln()).collect()).collect();
        let scores: Vec<f64> = settings.iter().map(|(score, _)| *score).collect();
        let by = if settings.iter().any(|(_, trials)| trials.len() > 1) {
            Basis::Trials(Contest::of(&logs))
        } else {
            Basis::Tolerance(NORMAL_95 * std::f64::consts::SQRT_2 * scatter(&scores))
        };
        Self { scores, by }
    }

    pub(super) fn best(&self) -> Option<usize> {
        let scored = self.scores.iter().enumerate().filter(|(_, score)| **score > 0.0);
        scored.max_by(|one, other| one.1.total_cmp(other.1)).map(|(place, _)| place)
    }

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

    pub(super) fn tolerance(&self) -> Option<f64> {
        match self.by {
            Basis::Trials(_) => None,
            Basis::Tolerance(tolerance) => Some(tolerance.exp_m1()),
        }
    }
}

/// Estimates the noise from the settings near the best one. Assumes that their results would hardly differ without
/// noise.
fn scatter(scores: &[f64]) -> f64 {
    let best = scores.iter().copied().fold(0.0, f64::max);
    let near: Vec<f64> = scores
        .iter()
        .filter(|score| **score >= (1.0 - curve::ALIKE) * best)
        .map(|score| score.ln())
        .collect();
    describe::stddev(&near).unwrap_or(0.0).max(curve::ASSUMED_SCATTER)
}
