//! Finds the unit of a table in the line or heading above it: `Throughput in Gbit/s:`, `Latency (us)` or `Unit: ms`.

use workload::Quantity;

use super::{column::heading_unit, levels};
use crate::{statistic, unit::unit};

/// Longer lines are prose.
pub(super) const LONGEST: usize = 120;

pub(super) fn unit_at_end(text: &str) -> Option<&str> {
    let text = text.trim_matches(['*', '_', '#', ' ', ':', '：', '.']);
    let inner = text.trim_end_matches([')', ']']);
    let last = inner.rsplit([' ', '(', '[', '：']).next()?;
    let before = inner[..inner.len() - last.len()].trim_end();
    let ends_caption = inner.len() < text.len() || before.ends_with(" in") || before.ends_with([':', '：']);
    let quantity = if ends_caption { unit(last)?.quantity } else { return None };
    matches!(quantity, Quantity::BitRate | Quantity::Time | Quantity::PerSecond).then_some(last)
}

/// Adds the unit to the headings that it fits, unless one of them has its own unit.
pub(super) fn add_unit(headings: &mut [String], written: &str) {
    if headings.iter().any(|heading| heading_unit(heading).1.is_some()) {
        return;
    }
    let Some(quantity) = unit(written).map(|unit| unit.quantity) else { return };
    for heading in headings.iter_mut().skip(1).filter(|heading| fits(heading, quantity)) {
        *heading = format!("{heading} ({written})");
    }
}

fn fits(heading: &str, quantity: Quantity) -> bool {
    const ANY: [&str; 6] = ["value", "values", "result", "results", "tcp", "udp"];
    let own: &[&str] = match quantity {
        Quantity::BitRate => &["throughput", "bandwidth", "bitrate", "goodput", "speed", "rate", "tput"],
        Quantity::Time => &["latency", "rtt", "round trip", "delay", "time"],
        _ => &["rate", "transactions", "requests", "packets"],
    };
    let name = heading.to_lowercase();
    statistic::statistic(heading).is_some()
        || levels::level(heading).is_some()
        || ANY.contains(&name.as_str())
        || own.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_unit_at_the_end_of_a_line() {
        for (text, expected) in [
            ("Throughput in Gbit/s:", Some("Gbit/s")),
            ("**All values in Mbit/s.**", Some("Mbit/s")),
            ("Latency (us)", Some("us")),
            ("Results (values in Gbps):", Some("Gbps")),
            ("单位：Gbit/s", Some("Gbit/s")),
            ("We have two 100 Gbit/s NICs per server.", None),
            ("The host is in Berlin:", None),
            ("Latency:", None),
        ] {
            assert_eq!(unit_at_end(text), expected, "{text}");
        }
    }

    #[test]
    fn adds_the_unit_to_fitting_headings_only() {
        for (headings, expected) in [
            (["CNI", "1 stream", "Retransmits"], ["CNI", "1 stream (us)", "Retransmits"]),
            (["CNI", "p50", "p99"], ["CNI", "p50 (us)", "p99 (us)"]),
            (["CNI", "Rate (Gbit/s)", "p99"], ["CNI", "Rate (Gbit/s)", "p99"]),
        ] {
            let mut headings = headings.map(str::to_owned);
            add_unit(&mut headings, "us");
            assert_eq!(headings, expected);
        }
    }
}
