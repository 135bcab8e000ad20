//! `cpu-unexplained`: what the kernel counted as busy and what the owners had do not add up.

use findings::{CellSummary, CpuByOwner, Evidence, Finding, Remedy, Severity};
use units::significant;

use super::{
    Context, Rule,
    sure::{self, Above},
};
use crate::{
    probed,
    words::{percent, so_in},
};

pub(crate) const RULE: Rule = Rule { id: "cpu-unexplained", look };

/// A rest up to this share of busy is rounding: /proc/stat counts in ticks on most kernels.
const MOST: f64 = 0.05;

struct Open<'a> {
    cell: &'a CellSummary,
    cpu: &'a CpuByOwner,
    rest: Above,
}

/// One claim for all cells, the one with the largest rest named.
fn look(context: &Context<'_>) -> Vec<Finding> {
    let mut found: Vec<Open<'_>> = context
        .cells()
        .filter_map(|(cell, measured)| {
            let rests: Vec<f64> = probed::unexplained(measured).into_iter().map(f64::abs).collect();
            let cpu = cell.probed.as_ref()?.cpu.as_ref()?;
            Some(Open { cell, cpu, rest: sure::above(&rests, MOST)? })
        })
        .collect();
    found.sort_by(|one, other| other.rest.median.total_cmp(&one.rest.median));
    found.first().map(|worst| finding(worst, &found)).into_iter().collect()
}

fn finding(worst: &Open<'_>, found: &[Open<'_>]) -> Finding {
    let others = so_in(found.len());
    let which = if worst.cpu.unexplained < 0.0 {
        "more than the kernel counted as busy"
    } else {
        "less than the kernel counted as busy"
    };
    let is_sure = found.iter().any(|open| open.rest.sure);
    Finding {
        id: String::new(),
        severity: if is_sure { Severity::Warning } else { Severity::Note },
        claim: format!(
            "The CPU time of {} does not close: its owners had {which}, by {} of it. Do not read shares of owners closer \
             than that.{others}",
            worst.cell.id,
            percent(worst.rest.median)
        ),
        cells: found.iter().map(|open| open.cell.id.clone()).collect(),
        evidence: found.iter().map(evidence).collect(),
        caveats: vec![
            "Where the kernel counts busy time in ticks, it is off by up to a tick at either reading, and by more where \
             work begins after each tick: then the owners are right and busy is not."
                .into(),
            "Time in the idle loop's own interrupts may be counted as idle by the kernel and as work by a probe, or the \
             other way."
                .into(),
        ],
        remedy: Some(Remedy::manual(
            "Make longer trials, so that ticks weigh less; see whether a probe had no room for some events; leave \
             other work off the machine."
                .into(),
            vec!["plumb run SCENARIO --probe cpu".into(), "cat /proc/stat".into()],
        )),
    }
}

fn evidence(open: &Open<'_>) -> Evidence {
    let cpus = |cpus: f64| significant(cpus, 3);
    Evidence {
        what: format!("CPUs busy in {}", open.cell.id),
        value: format!(
            "{} as the kernel counted, {} by owner; the rest in the median trial {}",
            cpus(open.cpu.busy),
            cpus(open.cpu.owned),
            percent(open.rest.median)
        ),
    }
}
