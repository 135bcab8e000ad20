//! A sparkline of call durations.

use samples::CallTimes;

const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The first character covers calls below 2^10 ns. Each further one covers calls up to four times the previous limit.
const FIRST: usize = 10;
const EACH: usize = 2;
const CHARACTERS: usize = 9;

pub(super) const SHAPE: &str = "Single calls: histogram with bounds at 1 µs, 4 µs, 16 µs, 66 µs, 262 µs, 1 ms, 4 \
     ms, 17 ms; each row is scaled to its maximum.";

/// Returns a sparkline such as `·▂█▃·····`, with the same time bounds in every row.
pub(super) fn shape(times: &CallTimes) -> Option<String> {
    let mut columns = [0u64; CHARACTERS];
    for (place, count) in times.0.iter().enumerate() {
        let column = if place < FIRST { 0 } else { (1 + (place - FIRST) / EACH).min(CHARACTERS - 1) };
        columns[column] = columns[column].saturating_add(*count);
    }
    let most = columns.iter().copied().max().filter(|most| *most > 0)?;
    let levels = LEVELS.len() as u64;
    let level =
        |count: u64| LEVELS[(count.saturating_mul(levels).div_ceil(most).clamp(1, levels) - 1) as usize];
    Some(columns.iter().map(|count| if *count == 0 { '·' } else { level(*count) }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_sparklines_have_the_same_scale() {
        let drawn = |counts: &[(usize, u64)]| {
            let mut times = vec![0; 40];
            counts.iter().for_each(|(place, count)| times[*place] = *count);
            shape(&CallTimes(times))
        };
        assert_eq!(drawn(&[(3, 10), (9, 10), (11, 80), (12, 1)]).as_deref(), Some("▂█▁······"));
        assert_eq!(drawn(&[(23, 5), (24, 5), (39, 10)]).as_deref(), Some("·······▃█"));
        assert_eq!((drawn(&[]), shape(&CallTimes(Vec::new()))), (None, None));
    }
}
