//! The beginning of a series that belongs to another level than the rest. Must not know what the values measure.

use crate::{describe, levels};

/// Fewest values in which a warm-up is looked for.
pub const FEWEST: usize = 10;
/// A warm-up ends within this share of the series; a later jump is a change of level ([`levels::levels`]).
pub const LONGEST: f64 = 0.2;

/// How many of the first values belong to another level than what follows; 0 when none, for fewer than [`FEWEST`]
/// values or values that are not finite.
///
/// The series is divided where its mean changes ([`levels::levels`]), into parts as short as one value. The first part
/// that reaches beyond [`LONGEST`] of the series and is long enough for a level is what the rest is held against: parts
/// are cut from the front while their mean is off its mean by [`levels::LEAST_JUMP`] or more.
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
    Some(last[1])
}
