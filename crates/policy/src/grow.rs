//! Distributes free DRAM to the VMs that may grow in this decision.

use units::Bytes;

use crate::{
    allocation::{Claim, Level},
    flight::Direction,
    ledger::Ledger,
    moves::{Basis, Move, Reason},
    plan::{Candidate, Plan},
    settings::Settings,
    tiers::Tiers,
};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Want<'a> {
    candidate: &'a Candidate<'a>,
    to: u64,
    /// Set by floors and the brake. They take precedence over targets.
    urgent: bool,
}

impl Want<'_> {
    pub(crate) fn is_pressing(&self) -> bool {
        self.urgent || self.candidate.below
    }

    pub(crate) fn extra(&self) -> u64 {
        self.to.saturating_sub(self.candidate.has.fast.0)
    }
}

pub(crate) fn wants<'a>(plan: &'a Plan<'a>, settings: &Settings) -> Vec<Want<'a>> {
    plan.candidates.iter().filter_map(|candidate| want(candidate, settings)).collect()
}

fn want<'a>(candidate: &'a Candidate<'a>, settings: &Settings) -> Option<Want<'a>> {
    let (has, block) = (candidate.has.fast.0, settings.block.0);
    if candidate.flight == Direction::Grows {
        return None;
    }
    let least = candidate.vm.floor.fast.0.max(candidate.guarded);
    if has < least {
        return Some(Want { candidate, to: raised(candidate, least, block), urgent: true });
    }
    if candidate.strained && candidate.flight == Direction::Shrinks {
        return Some(Want { candidate, to: has, urgent: true });
    }
    let step = settings.step_of(candidate.vm) / block * block;
    let to = raised(candidate, candidate.goal, block).min(has.saturating_add(step));
    (candidate.growing && to >= has.saturating_add(block)).then_some(Want { candidate, to, urgent: false })
}

fn raised(candidate: &Candidate<'_>, least: u64, block: u64) -> u64 {
    let has = candidate.has.fast.0;
    let wanted = least.saturating_sub(has).div_ceil(block);
    let allowed = candidate.vm.most_fast().saturating_sub(has) / block;
    has.saturating_add(wanted.min(allowed).saturating_mul(block))
}

pub(crate) fn grows(wants: &[Want<'_>], settings: &Settings, ledger: &mut Ledger) -> Vec<Move> {
    let (urgent, others): (Vec<&Want<'_>>, Vec<&Want<'_>>) = wants.iter().partition(|want| want.urgent);
    let mut moves = Vec::new();
    for want in urgent {
        let extra = ledger.take_fast(want.extra(), settings.block.0);
        if extra > 0 || want.extra() == 0 {
            moves.push(grow(want, extra, ledger));
        }
    }
    for (want, extra) in shared(&others, settings, ledger) {
        moves.push(grow(want, extra, ledger));
    }
    moves
}

fn shared<'a, 'b>(
    wants: &[&'b Want<'a>],
    settings: &Settings,
    ledger: &mut Ledger,
) -> Vec<(&'b Want<'a>, u64)> {
    let (headroom, block) = (settings.headroom.0, settings.block.0);
    let between = |want: &&Want<'_>| Claim {
        floor: want.candidate.has.fast.0 as f64,
        ceiling: want.to as f64,
        ..want.candidate.claim
    };
    let claims: Vec<Claim> = wants.iter().map(between).collect();
    let capacity = claims.iter().map(|claim| claim.floor).sum::<f64>() + ledger.fast as f64;
    let level = Level::highest(&claims, capacity, headroom, false);
    let all = wants.iter().map(|want| want.extra()).fold(0, u64::saturating_add) <= ledger.fast;
    let mut granted = Vec::new();
    for (want, claim) in wants.iter().zip(&claims) {
        let share = (claim.at(level, headroom) - claim.floor) as u64;
        let extra = if all { want.extra() } else { share.min(want.extra()) / block * block };
        let extra = ledger.take_fast(extra, block);
        if extra > 0 {
            granted.push((*want, extra));
        }
    }
    granted
}

fn grow(want: &Want<'_>, extra: u64, ledger: &mut Ledger) -> Move {
    let Candidate { vm, has, ordered, .. } = want.candidate;
    let fast = has.fast.0 + extra;
    let counted = has.slow.max(ordered.slow).0;
    let wanted_slow = vm.slow_for(fast);
    let slow = wanted_slow.min(counted + ledger.take_slow(wanted_slow.saturating_sub(counted)));
    let to = Tiers { fast: Bytes(fast), slow: Bytes(slow) };
    Move { vm: vm.name.clone(), from: *has, to, reason: reason(want, to.fast) }
}

fn reason(want: &Want<'_>, after: Bytes) -> Reason {
    let candidate = want.candidate;
    let needs = candidate.needs();
    if candidate.has.fast < candidate.vm.floor.fast {
        return Reason::BelowFloor { floor: candidate.vm.floor.fast };
    }
    if want.urgent {
        return Reason::Brake { keeps: Bytes(want.to) };
    }
    match candidate.basis {
        Basis::Pressure => Reason::Pressure { needs },
        Basis::Accesses => Reason::BelowTarget {
            served: candidate.served(candidate.has.fast),
            after: candidate.served(after),
            target: candidate.vm.target,
        },
        Basis::MemoryInUse | Basis::Nothing | Basis::Silent => Reason::MemoryInUse { needs },
    }
}

/// Completes a partial move. After such a move, the VM has its DRAM but lacks slow memory.
pub(crate) fn restored(candidate: &Candidate<'_>, settings: &Settings, ledger: &mut Ledger) -> Option<Move> {
    let Candidate { vm, has, ordered, .. } = candidate;
    let counted = has.slow.max(ordered.slow).0;
    let lacking = vm.slow_for(has.fast.0).saturating_sub(counted);
    if candidate.flight != Direction::Rests || lacking < settings.block.0 || ledger.slow < settings.block.0 {
        return None;
    }
    let slow = Bytes(counted + ledger.take_slow(lacking));
    let to = Tiers { fast: ordered.fast, slow };
    Some(Move { vm: vm.name.clone(), from: *has, to, reason: Reason::SlowMemory { memory: vm.memory } })
}
