//! Other policies for comparison.

use crate::host::View;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rival {
    /// Knows the true curves of this and the next interval, and has no step limit. So no other policy can have more VMs
    /// on target.
    Optimum,
    /// Gives each VM DRAM in proportion to its memory that is hotter than the VM's average, as hot-page steering
    /// does.
    HotBytes,
    /// Gives each VM DRAM in proportion to its memory in use, as ballooning by free memory does.
    Pressure,
    Proportional,
    Equal,
}

impl Rival {
    pub(crate) const ALL: [Self; 5] =
        [Self::Optimum, Self::HotBytes, Self::Pressure, Self::Proportional, Self::Equal];

    pub(crate) fn wants(self, now: &[View<'_>], next: &[View<'_>], capacity: f64) -> Vec<f64> {
        match self {
            Self::Optimum => optimum(next, capacity),
            Self::HotBytes => shared(now, capacity, hot_bytes),
            Self::Pressure => shared(now, capacity, |view| 1.2 * view.truth.size),
            Self::Proportional => shared(now, capacity, |view| view.vm.memory.0 as f64),
            Self::Equal => shared(now, capacity, |_| 1.0),
        }
    }

    pub(crate) fn steps(self) -> bool {
        matches!(self, Self::HotBytes | Self::Pressure)
    }
}

/// Meets the smallest needs first. By an exchange argument, no other choice meets more of them.
fn optimum(next: &[View<'_>], capacity: f64) -> Vec<f64> {
    let mut given: Vec<f64> = next.iter().map(|view| view.vm.floor.fast.0 as f64).collect();
    let mut left = capacity - given.iter().sum::<f64>();
    let extra =
        |at: usize| (next[at].truth.need(next[at].vm.target.0) * (1.0 + 1e-9) + 1.0 - given[at]).max(0.0);
    let mut order: Vec<(f64, usize)> = (0..next.len()).map(|at| (extra(at), at)).collect();
    order.sort_by(|one, other| one.0.total_cmp(&other.0));
    for (extra, at) in order {
        if extra > left {
            break;
        }
        given[at] += extra;
        left -= extra;
    }
    given
}

fn shared(views: &[View<'_>], capacity: f64, claim: impl Fn(&View<'_>) -> f64) -> Vec<f64> {
    let claims: Vec<f64> = views.iter().map(claim).collect();
    let at = |factor: f64| -> Vec<f64> {
        let bounds = views.iter().map(|view| (view.vm.floor.fast.0 as f64, view.vm.memory.0 as f64));
        claims.iter().zip(bounds).map(|(claim, (least, most))| (claim * factor).clamp(least, most)).collect()
    };
    let (mut low, mut high) = (0.0, 1e15);
    for _ in 0..120 {
        let middle = f64::midpoint(low, high);
        *(if at(middle).iter().sum::<f64>() <= capacity { &mut low } else { &mut high }) = middle;
    }
    at(low)
}

fn hot_bytes(view: &View<'_>) -> f64 {
    let histogram = view.histogram();
    let accesses: f64 = histogram.iter().map(|class| class.accesses).sum();
    let bytes: f64 = histogram.iter().map(|class| class.bytes.0 as f64).sum();
    let mean = accesses / bytes.max(1.0);
    let hot = histogram.iter().filter(|class| class.accesses >= mean * class.bytes.0 as f64);
    hot.map(|class| class.bytes.0 as f64).sum()
}
