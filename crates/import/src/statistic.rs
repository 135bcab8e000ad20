//! Names of statistics in tables and tool output.

/// Returns the canonical name, e.g. `p50` for `50th (Median)` and `min` for `Minimum`, or `None`.
pub(crate) fn statistic(text: &str) -> Option<String> {
    let text = text.trim().to_lowercase();
    let text = match text.find('(') {
        Some(at) if text.ends_with(')') => text[..at].trim_end(),
        _ => text.as_str(),
    };
    let named = match text {
        "min" | "minimum" | "min." | "<min>" => "min",
        "max" | "maximum" | "max." | "<max>" => "max",
        "avg" | "avg." | "average" | "mean" => "mean",
        "median" | "med" | "med." => "p50",
        "std dev" | "std. dev." | "std-dev" | "stddev" | "stdev" | "sd" | "standard deviation" | "mdev"
        | "σ" => "standard deviation",
        _ => return percentile(text),
    };
    Some(named.to_owned())
}

pub(crate) fn rank(name: &str) -> u8 {
    match name {
        "p50" => 0,
        "mean" => 1,
        _ => 2,
    }
}

fn percentile(text: &str) -> Option<String> {
    let words = ["percentile", "pct", "%ile"];
    let bare =
        words.iter().fold(text, |text, word| text.trim_start_matches(word).trim_end_matches(word).trim());
    let named = bare.len() < text.len();
    let marked = bare.strip_prefix('p').or_else(|| {
        ["th", "st", "nd", "rd", "%"].iter().find_map(|mark| bare.strip_suffix(mark)).map(str::trim_end)
    });
    let digits = marked.or(named.then_some(bare))?;
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let share: f64 = digits.parse().ok().filter(|share| plain && (0.0..=100.0).contains(share))?;
    Some(format!("p{share}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalizes_names_of_statistics() {
        for (text, name) in [
            ("Min", "min"),
            ("<MAX>", "max"),
            ("25th", "p25"),
            ("50th (Median)", "p50"),
            ("median", "p50"),
            ("99.9th", "p99.9"),
            ("99.9th percentile", "p99.9"),
            ("percentile 99.990", "p99.99"),
            ("P99", "p99"),
            ("95 %", "p95"),
            ("Average", "mean"),
            ("Std Dev", "standard deviation"),
        ] {
            assert_eq!(statistic(text).as_deref(), Some(name), "{text}");
        }
    }

    #[test]
    fn rejects_other_names() {
        for text in
            ["", "50", "p", "pth", "101st", "-1%", "nanth", "p1e1", "BM-BM", "percentile", "port 5", "infth"]
        {
            assert_eq!(statistic(text), None, "{text}");
        }
    }
}
