//! Chooses the VMs that give up DRAM in this decision.

use units::Bytes;

use crate::{
    flight::Direction,
    grow::Want,
    ledger::Ledger,
    moves::{Basis, Move, Reason},
    plan::{Candidate, Plan},
    settings::Settings,
    tiers::Tiers,
};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Demand {
    pressing: u64,
    all: u64,
}

impl Demand {
    pub(crate) fn of(wants: &[Want<'_>], reserve: u64, over: u64) -> Self {
        let sum = |of: fn(&&Want<'_>) -> bool| {
            wants.iter().filter(of).map(Want::extra).fold(0, u64::saturating_add)
        };
        Self {
            pressing: sum(|want| want.is_pressing()).saturating_add(over),
            all: sum(|_| true).saturating_add(reserve).saturating_add(over),
        }
    }
}

pub(crate) fn squeezes(
    plan: &Plan<'_>,
    settings: &Settings,
    ledger: &mut Ledger,
    wanted: &Demand,
) -> Vec<Move> {
    let mut moves = Vec::new();
    let mut coming = ledger.fast.saturating_add(plan.candidates.iter().map(in_flight).sum());
    // Starting with the largest excess keeps the number of moves low and leaves VMs near their goals alone.
    let mut givers: Vec<(f64, &Candidate<'_>)> =
        plan.candidates.iter().filter(may_give).map(|candidate| (excess(candidate), candidate)).collect();
    givers.sort_by(|one, other| other.0.total_cmp(&one.0));
    for (excess, candidate) in givers {
        // If other VMs lack only headroom, a VM gives up DRAM only if its excess is larger than its own headroom. This
        // avoids small moves caused by noise.
        let wanted = match excess {
            f64::INFINITY => u64::MAX,
            excess if excess >= 1.0 + settings.headroom.0 => wanted.all,
            _ => wanted.pressing,
        };
        let lacking = wanted.saturating_sub(coming);
        if lacking > 0
            && let Some(squeeze) = squeeze(candidate, settings, ledger, lacking)
        {
            coming = coming.saturating_add(squeeze.from.fast.0 - squeeze.to.fast.0);
            moves.push(squeeze);
        }
    }
    moves
}

fn excess(candidate: &Candidate<'_>) -> f64 {
    if is_above(candidate) {
        return f64::INFINITY;
    }
    candidate.has.fast.0 as f64 / candidate.keeps.max(1) as f64
}

fn in_flight(candidate: &Candidate<'_>) -> u64 {
    candidate.has.fast.0.saturating_sub(candidate.ordered.fast.0)
}

fn may_give(candidate: &&Candidate<'_>) -> bool {
    !candidate.strained && candidate.flight == Direction::Rests
}

fn is_above(candidate: &Candidate<'_>) -> bool {
    candidate.has.fast.0 > candidate.vm.most_fast()
}

/// Takes at most one step, in whole blocks, and at most the free slow memory.
fn squeeze(
    candidate: &Candidate<'_>,
    settings: &Settings,
    ledger: &mut Ledger,
    lacking: u64,
) -> Option<Move> {
    let Candidate { vm, has, ordered, .. } = candidate;
    let block = settings.block.0;
    let excess = has.fast.0.saturating_sub(candidate.keeps).min(settings.step_of(vm));
    let blocks = (excess / block).min(lacking.div_ceil(block));
    let aim = has.fast.0 - blocks * block;
    let growth = vm.slow_for(aim).saturating_sub(has.slow.max(ordered.slow).0);
    // If slow memory is full, the remainder stays in DRAM.
    let left = growth.saturating_sub(ledger.slow).div_ceil(block) * block;
    let fast = aim.saturating_add(left);
    if fast.saturating_add(block) > has.fast.0 {
        return None;
    }
    let growth = vm.slow_for(fast).saturating_sub(has.slow.max(ordered.slow).0);
    let slow = has.slow.max(ordered.slow).0 + ledger.take_slow(growth);
    let to = Tiers { fast: Bytes(fast), slow: Bytes(slow.min(vm.slow_for(fast).max(has.slow.0))) };
    Some(Move { vm: vm.name.clone(), from: *has, to, reason: reason(candidate, to.fast) })
}

fn reason(candidate: &Candidate<'_>, after: Bytes) -> Reason {
    let target = candidate.vm.target;
    if is_above(candidate) {
        Reason::AboveCeiling { ceiling: Bytes(candidate.vm.most_fast()) }
    } else if after >= candidate.needs() || candidate.basis != Basis::Accesses {
        let target = (candidate.basis == Basis::Accesses).then_some(target);
        Reason::Surplus { needs: candidate.needs(), target }
    } else {
        Reason::Shortage { after: candidate.served(after), target }
    }
}
