//! What iperf3 says of its CPU time: `CPU Utilization: local/sender 95.6% (0.5%u/95.1%s), remote/receiver 57.9% (...)`.
//! Must not know what becomes of it.

/// CPU time of both processes over the test, in percent of one CPU.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cpu {
    /// Of the end that wrote this.
    pub(super) own: f64,
    pub(super) other: f64,
}

impl Cpu {
    /// Both, where they make sense.
    pub(super) fn of(own: f64, other: f64) -> Option<Self> {
        let sensible = |percent: f64| percent.is_finite() && (0.0..=1e5).contains(&percent);
        (sensible(own) && sensible(other)).then_some(Self { own, other })
    }

    /// From the line of `-V`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let said = text.split_once("CPU Utilization:")?.1;
        let percent = |label: &str| {
            let after = said.split_once(label)?.1;
            after
                .split_whitespace()
                .nth(1)
                .or(after.split_whitespace().next())?
                .strip_suffix('%')?
                .parse()
                .ok()
        };
        Self::of(percent("local")?, percent("remote")?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_shares_are_read() {
        let line = "CPU Utilization: local/sender 95.6% (0.5%u/95.1%s), remote/receiver 57.9% (2.7%u/55.3%s)";
        assert_eq!(Cpu::parse(line), Some(Cpu { own: 95.6, other: 57.9 }));
        for text in [
            "",
            "CPU Utilization: local/sender nan% (), remote/receiver 1%",
            "CPU Utilization: local/sender 95",
        ] {
            assert_eq!(Cpu::parse(text), None, "{text}");
        }
    }
}
