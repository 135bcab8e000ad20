//! Runs a scenario under a policy and collects results.

use std::time::Duration;

use policy::{Decision, Rebalancer};

use crate::{
    host::{Host, View},
    rivals::Rival,
};

/// The number of decisions after which all policies have settled.
pub(crate) const SETTLED: usize = 100;

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) on_target: f64,
    pub(crate) shortfall: f64,
    pub(crate) reversals: usize,
    pub(crate) moves: usize,
    pub(crate) times: Vec<Duration>,
}

pub(crate) fn ours(host: &Host, intervals: usize, clock: fn() -> Duration) -> Outcome {
    let mut rebalancer = Rebalancer::new(host.settings.clone()).expect("floors are part of memory");
    let mut times = Vec::new();
    let mut outcome = simulate(host, intervals, |now, _| {
        let observations = host.observe(now);
        let before = clock();
        let decision = rebalancer.decide(&observations);
        times.push(clock().saturating_sub(before));
        after(now, &decision)
    });
    outcome.times = times;
    outcome
}

fn after(now: &[View<'_>], decision: &Decision) -> Vec<u64> {
    let mut has: Vec<u64> = now.iter().map(|view| view.has).collect();
    for made in &decision.moves {
        let at: usize = made.vm[2..].parse().expect("VMs are named vm and a number");
        has[at] = made.to.fast.0;
    }
    has
}

/// Policies with a step limit move as much per interval as the rebalancer, but their moves complete at once.
pub(crate) fn theirs(host: &Host, intervals: usize, rival: Rival) -> Outcome {
    let capacity = host.settings.capacity.fast.0 as f64;
    simulate(host, intervals, |now, next| {
        let wants = rival.wants(now, next, capacity);
        if rival.steps() {
            stepped(host, now, &wants)
        } else {
            wants.iter().map(|want| *want as u64).collect()
        }
    })
}

fn stepped(host: &Host, now: &[View<'_>], wants: &[f64]) -> Vec<u64> {
    let share = host.settings.step_share.0;
    let one = |(view, want): (&View<'_>, &f64)| {
        let step = view.vm.memory.0 as f64 * share;
        (want - view.has as f64).clamp(-step, step)
    };
    let changes: Vec<f64> = now.iter().zip(wants).map(one).collect();
    let has: u64 = now.iter().map(|view| view.has).sum();
    let given: f64 = changes.iter().filter(|change| **change < 0.0).sum();
    let got: f64 = changes.iter().filter(|change| **change > 0.0).sum();
    let free = (host.settings.capacity.fast.0 - has) as f64 - given;
    let part = if got > free { free / got } else { 1.0 };
    let apply = |(view, change): (&View<'_>, &f64)| {
        let change = if *change > 0.0 { change * part } else { *change };
        (view.has as f64 + change) as u64
    };
    now.iter().zip(&changes).map(apply).collect()
}

fn simulate(
    host: &Host,
    intervals: usize,
    mut decide: impl FnMut(&[View<'_>], &[View<'_>]) -> Vec<u64>,
) -> Outcome {
    let mut outcome = Outcome::default();
    let mut directions = vec![0_i8; host.settings.vms.len()];
    let mut now = host.view(0, &host.start());
    for interval in 1..intervals {
        let mut next = host.view(interval, &host.start());
        let decided = decide(&now, &next);
        assert!(decided.iter().sum::<u64>() <= host.settings.capacity.fast.0, "exceeds the capacity");
        for ((before, after), direction) in now.iter().zip(&decided).zip(&mut directions) {
            outcome.count_move(interval, before.has, *after, host.settings.block.0, direction);
        }
        for (view, has) in next.iter_mut().zip(decided) {
            view.has = has;
        }
        if interval > SETTLED {
            outcome.count_targets(&next);
        }
        now = next;
    }
    let counted = (intervals.saturating_sub(SETTLED + 1) * now.len()).max(1) as f64;
    outcome.on_target /= counted;
    outcome.shortfall /= counted;
    outcome
}

impl Outcome {
    fn count_targets(&mut self, views: &[View<'_>]) {
        for view in views {
            let target = view.vm.target.0;
            let short = (1.0 - view.truth.served(view.has) / target).max(0.0);
            self.on_target += f64::from(u8::from(short <= 1e-9));
            self.shortfall += short;
        }
    }

    fn count_move(&mut self, interval: usize, before: u64, after: u64, block: u64, direction: &mut i8) {
        if before.abs_diff(after) < block {
            return;
        }
        let new = if after > before { 1 } else { -1 };
        if interval > SETTLED {
            self.moves += 1;
            self.reversals += usize::from(*direction == -new);
        }
        *direction = new;
    }

    pub(crate) fn median_time(&self) -> Duration {
        let mut times = self.times.clone();
        times.sort();
        times.get(times.len() / 2).copied().unwrap_or_default()
    }
}
