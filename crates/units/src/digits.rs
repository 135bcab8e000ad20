//! Significant digits.

/// Formats a number with this many significant digits (`9.41`, `94.1`, `941`), never with an exponent.
#[must_use]
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let rounded = format!("{value:.*e}", digits - 1);
    let magnitude = rounded.split_once('e').and_then(|(_, power)| power.parse::<i32>().ok()).unwrap_or(0);
    let decimals = (digits as i32 - 1 - magnitude).max(0) as usize;
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn significant_digits_are_independent_of_magnitude() {
        for (value, text) in [
            (9.414, "9.41"),
            (94.14, "94.1"),
            (941.4, "941"),
            (0.0941, "0.0941"),
            (9.998, "10.0"),
            (0.0, "0"),
        ] {
            assert_eq!(significant(value, 3), text);
        }
    }
}
