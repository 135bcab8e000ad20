//! Parses iperf3's CPU time: `CPU Utilization: local/sender 95.6% (0.5%u/95.1%s), remote/receiver 57.9% (...)`.

/// CPU time of both processes during the test, in percent of one CPU.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cpu {
    pub(super) own: f64,
    pub(super) other: f64,
}

impl Cpu {
    pub(super) fn of(own: f64, other: f64) -> Option<Self> {
        let sensible = |percent: f64| percent.is_finite() && (0.0..=1e5).contains(&percent);
        (sensible(own) && sensible(other)).then_some(Self { own, other })
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let shares = text.split_once("CPU Utilization:")?.1;
        let percent = |label: &str| {
            let after = shares.split_once(label)?.1;
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
    fn reads_shares_of_both_ends() {
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
