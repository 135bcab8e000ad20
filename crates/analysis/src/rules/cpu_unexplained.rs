//! `cpu-unexplained`: what the kernel counted as busy and what the owners had do not add up.

use findings::{CellSummary, CpuAttribution, Evidence, Finding, Remedy, Severity, Unit};

use super::{
    Context, Rule,
    significance::{self, Above},
};
use crate::{
    commands::Commands,
    probed,
    words::{percent, so_in},
};

pub(crate) const RULE: Rule = Rule { id: "cpu-unexplained", look };

/// A rest up to this share of busy is what CPUs that wake do before anything can be seen, and rounding.
const MOST: f64 = 0.05;

struct Open<'a> {
    cell: &'a CellSummary,
    cpu: &'a CpuAttribution,
    rest: Above,
}

/// One claim for all cells, the one with the largest rest named.
fn look(context: &Context<'_>) -> Vec<Finding> {
    let mut found: Vec<Open<'_>> = context
        .cells()
        .filter_map(|(cell, measured)| {
            let rests: Vec<f64> = probed::unexplained(measured).into_iter().map(f64::abs).collect();
            let cpu = cell.probed.as_ref()?.cpu.as_ref()?;
            Some(Open { cell, cpu, rest: significance::above(&rests, MOST)? })
        })
        .collect();
    found.sort_by(|one, other| other.rest.median.total_cmp(&one.rest.median));
    found.first().map(|worst| finding(worst, &found, &context.commands())).into_iter().collect()
}

fn finding(worst: &Open<'_>, found: &[Open<'_>], commands: &Commands<'_>) -> Finding {
    let others = so_in(found.len());
    let which = if worst.cpu.unexplained < 0.0 { "more than" } else { "less than" };
    let is_sure = found.iter().any(|open| open.rest.sure);
    Finding {
        id: String::new(),
        severity: if is_sure { Severity::Warning } else { Severity::Note },
        claim: format!(
            "CPU attribution of {} is {} {which} what the kernel counted as busy. Do not read its shares closer than \
             that.{others}",
            worst.cell.id,
            percent(worst.rest.median)
        ),
        cells: found.iter().map(|open| open.cell.id.clone()).collect(),
        evidence: found.iter().map(evidence).collect(),
        caveats: vec![
            "Busy is what /proc/stat does not count as idle, in hundredths of a second. Attribution from /proc alone is \
             compared with it at any moment: half a second may then be off by several percent. The exact probe waits \
             for the moment when it moves on."
                .into(),
            "An idle CPU that is woken works before anything can be seen of it, a microsecond or two in a virtual \
             machine: where messages wake CPUs tens of thousands of times a second, that is some percent."
                .into(),
        ],
        remedy: Some(Remedy::manual(
            "Make longer trials, so that rounding weighs less. See whether a probe had no room for some events; leave \
             other work off the machine."
                .into(),
            commands.again("--probe cpu", ""),
        )),
    }
}

fn evidence(open: &Open<'_>) -> Evidence {
    Evidence::new(format!("CPUs busy in {}", open.cell.id))
        .rounded(open.cpu.busy, Unit::Cpus)
        .text(" as the kernel counted, ")
        .rounded(open.cpu.owned, Unit::Cpus)
        .text(" by owner; the rest in the median trial ")
        .share(open.rest.median)
}
