//! Detects a warm-up at the start of a series.

use crate::{describe, levels};

pub const FEWEST: usize = 10;
/// Maximum length of a warm-up, as a fraction of the series. A later jump is a change of level ([`levels::levels`]).
pub const LONGEST: f64 = 0.2;

/// Maximum fraction of later values that are as far from the level as the warm-up, in the same direction.
const MOST_ALIKE: f64 = 0.025;

/// Returns the number of initial values that belong to the warm-up, or 0 for fewer than [`FEWEST`] values.
///
/// The reference is the first segment that extends beyond [`LONGEST`] of the series and is long enough for a level.
/// This function cuts segments from the front while their mean differs by at least [`levels::LEAST_JUMP`] from the
/// reference. If later values are often as far from the reference ([`MOST_ALIKE`]), the start is an outlier rather than
/// a warm-up.
pub fn cut(values: &[f64]) -> usize {
    let found = (values.len() >= FEWEST).then(|| leading(values)).flatten();
    found.unwrap_or(0)
}

fn leading(values: &[f64]) -> Option<usize> {
    let longest = (values.len() as f64 * LONGEST) as usize;
    let mut edges = vec![0];
    edges.extend(levels::changes(values, levels::penalty(values)?, 1)?);
    edges.push(values.len());
    let mean = |part: &[usize]| describe::mean(&values[part[0]..part[1]]);
    let is_level = |part: &&[usize]| part[1] > longest && part[1] - part[0] >= levels::FEWEST;
    let level = edges.windows(2).find(is_level).filter(|part| part[0] <= longest)?;
    let steady = mean(level)?;
    let other = |part: &&[usize]| {
        mean(part).is_some_and(|mean| (mean - steady).abs() >= levels::LEAST_JUMP * steady.abs())
    };
    let last = edges.windows(2).take_while(|part| part[0] < level[0]).take_while(other).last()?;
    let (first, later) = values.split_at(last[1]);
    let off = describe::median(first)? - steady;
    let alike = later.iter().filter(|value| (**value - steady) * off.signum() >= off.abs()).count();
    (alike as f64 <= MOST_ALIKE * later.len() as f64).then_some(last[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn after(first: &[f64], n: usize) -> Vec<f64> {
        let steady = (0..n).map(|at| if at % 2 == 0 { 9.9 } else { 10.1 });
        first.iter().copied().chain(steady).collect()
    }

    #[test]
    fn cuts_values_before_the_level() {
        for (first, want) in [(&[][..], 0), (&[2.0], 1), (&[1.0, 4.0, 7.0], 3), (&[14.0, 14.2], 2)] {
            assert_eq!(cut(&after(first, 40)), want, "{first:?}");
        }
    }

    #[test]
    fn late_jump_is_not_a_warm_up() {
        let late = [after(&[], 15), after(&[], 30).iter().map(|x| 1.6 * x).collect()].concat();
        assert_eq!(cut(&late), 0);
        let both = [after(&[1.0, 4.0], 30), after(&[], 30).iter().map(|x| 1.6 * x).collect()].concat();
        assert_eq!(cut(&both), 2, "the warm-up before a level that jumps later is one");
    }

    #[test]
    fn dip_within_the_level_is_not_a_warm_up() {
        let mut dip = after(&[], 50);
        dip[4] = 2.0;
        assert_eq!(cut(&dip), 0);
    }

    #[test]
    fn short_or_invalid_series_has_no_warm_up() {
        assert_eq!((cut(&[1.0, 10.0, 10.0]), cut(&[f64::NAN; 20]), cut(&[]), cut(&[5.0; 30])), (0, 0, 0, 0));
    }

    proptest! {
        #[test]
        fn cuts_only_the_start(v in prop::collection::vec(prop::num::f64::ANY, 0..60)) {
            prop_assert!(cut(&v) as f64 <= v.len() as f64 * LONGEST);
        }
    }
}
