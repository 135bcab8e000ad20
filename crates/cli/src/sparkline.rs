//! Formats numbers as a row of bars, scaled to the largest number.

const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

pub(crate) fn sparkline(values: impl Iterator<Item = f64> + Clone, room: usize) -> String {
    let highest = values.clone().fold(0.0, f64::max);
    let sign = |value: f64| {
        let step = if highest > 0.0 { value / highest * HEIGHTS.len() as f64 } else { 0.0 };
        HEIGHTS[(step.ceil() as usize).clamp(1, HEIGHTS.len()) - 1]
    };
    let hidden = values.clone().count().saturating_sub(room);
    values.skip(hidden).map(sign).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maximum_has_full_bar_and_last_values_are_shown() {
        let check = |values: &[f64], room: usize, drawn: &str| {
            assert_eq!(sparkline(values.iter().copied(), room), drawn, "{values:?}");
        };
        check(&[0.0, 4.0, 8.0], 9, "▁▄█");
        check(&[8.0, 4.0, 1.0], 2, "▄▁");
        check(&[0.0, f64::NAN], 9, "▁▁");
        check(&[], 9, "");
    }
}
