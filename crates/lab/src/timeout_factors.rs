//! Longer timeouts for runs in a virtual hypervisor.

use std::fs;

/// The boot time of a virtual hypervisor on a machine with little other work, in seconds.
const USUAL_BOOT: f64 = 20.0;
/// For orders to agents: emulation is slow, and an emulated machine does not know how long it got no CPU time.
const EMULATED: u32 = 10;

/// Factors for the timeouts of guests' boots and of orders to agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimeoutFactors {
    pub(crate) boots: u32,
    pub(crate) orders: u32,
}

impl TimeoutFactors {
    pub(crate) const NONE: Self = Self { boots: 1, orders: 1 };

    /// Must be called in a hypervisor right after its boot.
    pub(crate) fn of_hypervisor() -> Self {
        Self::after_boot(&fs::read_to_string("/proc/uptime").unwrap_or_default())
    }

    fn after_boot(uptime: &str) -> Self {
        let seconds = uptime.split(' ').next().and_then(|text| text.parse().ok()).unwrap_or(USUAL_BOOT);
        let boots = (seconds / USUAL_BOOT).max(1.0) as u32;
        Self { boots, orders: EMULATED * boots }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_with_boot_time() {
        for (uptime, boots) in [("9.81 5.20\n", 1), ("123.40 0.00\n", 6), ("", 1)] {
            assert_eq!(TimeoutFactors::after_boot(uptime), TimeoutFactors { boots, orders: 10 * boots });
        }
    }
}
