//! Parses the number in a factor's level, to sort levels.

/// Returns the number in a label such as `8`, `128K`, `9000`, `4x (capped at 128)` or `20 ms`, if any.
pub(super) fn of(label: &str) -> Option<f64> {
    let label = label.trim();
    let end = label.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(label.len());
    let number: f64 = label[..end].parse().ok()?;
    let suffix = label[end..].split_whitespace().next().unwrap_or("");
    let scaled = number * scale(suffix)?;
    scaled.is_finite().then_some(scaled)
}

fn scale(suffix: &str) -> Option<f64> {
    const KIBI: f64 = 1024.0;
    let suffix = suffix.to_lowercase();
    Some(match suffix.as_str() {
        "bit/s" => 1.0,
        "kbit/s" => 1e3,
        "mbit/s" => 1e6,
        "gbit/s" => 1e9,
        "" | "x" | "%" | "b" | "s" => 1.0,
        "k" | "kb" | "ki" | "kib" => KIBI,
        "m" | "mb" | "mi" | "mib" => KIBI * KIBI,
        "g" | "gb" | "gi" | "gib" => KIBI * KIBI * KIBI,
        "ms" => 1e-3,
        "us" | "µs" => 1e-6,
        "ns" => 1e-9,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_only_numeric_levels() {
        for (label, number) in [
            ("8", Some(8.0)),
            ("128K", Some(131_072.0)),
            ("1.5 GiB", Some(1.5 * 1024.0 * 1024.0 * 1024.0)),
            ("4x (capped at 128)", Some(4.0)),
            ("500us", Some(5e-4)),
            ("2Mbit/s", Some(2e6)),
            ("on", None),
            ("4 to 5", None),
            ("10.0.0.1", None),
            ("", None),
            ("cubic", None),
        ] {
            assert_eq!(of(label), number, "{label}");
        }
    }
}
