//! `backlog-drops`: a CPU's queue of packets that wait for a soft interrupt was full, and packets were dropped.

use findings::{CellSummary, Evidence, Finding, Remedy, Severity};
use samples::SoftnetCounters;

use super::{Context, Rule};
use crate::words::{count, percent, so_in};

pub(crate) const RULE: Rule = Rule { id: "backlog-drops", look };

/// From this share of the packets on it is worth acting on.
const MUCH: f64 = 1e-4;

type BacklogDrops<'a> = (&'a CellSummary, SoftnetCounters);

/// One claim for all cells, the one that lost the largest share named.
fn look(context: &Context<'_>) -> Vec<Finding> {
    let counted =
        context.findings.cells.iter().filter_map(|cell| Some((cell, cell.counters.as_ref()?.softnet?)));
    let mut found: Vec<BacklogDrops<'_>> = counted.filter(|(_, softnet)| softnet.dropped > 0).collect();
    found.sort_by(|(_, one), (_, other)| share(other).total_cmp(&share(one)));
    found.first().map(|worst| finding(worst, &found)).into_iter().collect()
}

fn share(softnet: &SoftnetCounters) -> f64 {
    softnet.dropped as f64 / softnet.processed.saturating_add(softnet.dropped).max(1) as f64
}

/// Whether a device of the path lost packets as well: else another program's may have been dropped.
fn is_on_path(cell: &CellSummary) -> bool {
    let mut devices = cell.counters.iter().flat_map(|counters| &counters.devices);
    devices.any(|device| device.rx_dropped > 0 || device.tx_dropped > 0)
}

fn finding((cell, softnet): &BacklogDrops<'_>, found: &[BacklogDrops<'_>]) -> Finding {
    let others = so_in(found.len());
    Finding {
        id: String::new(),
        severity: if is_on_path(cell) && share(softnet) >= MUCH { Severity::Warning } else { Severity::Note },
        claim: format!(
            "Backlog queues of CPUs were full: {} dropped, {} of what came through them, in {}.{others}",
            count(usize::try_from(softnet.dropped).unwrap_or(usize::MAX), "packet"),
            percent(share(softnet)),
            cell.id
        ),
        cells: found.iter().map(|(cell, _)| cell.id.clone()).collect(),
        evidence: found.iter().map(evidence).collect(),
        caveats: vec![
            if is_on_path(cell) {
                "The queues are the machine's: packets of other programs count as well.".into()
            } else {
                "No device of the path counted a drop: the packets may have been another program's.".into()
            },
            "A TCP sender without congestion fills any queue: a longer one drops later and delays more.".into(),
        ],
        remedy: Some(Remedy::manual(
            "Make the backlog queue longer, so that it holds what comes between two soft interrupts. Give one soft \
             interrupt more room where its budget runs out, and spread the packets over more CPUs."
                .into(),
            vec![
                "sysctl -w net.core.netdev_max_backlog=10000".into(),
                "sysctl -w net.core.netdev_budget=600 net.core.netdev_budget_usecs=8000".into(),
                "cat /proc/net/softnet_stat  # the second column: dropped, the third: out of budget".into(),
            ],
        )),
    }
}

fn evidence((cell, softnet): &BacklogDrops<'_>) -> Evidence {
    Evidence::new(format!("softnet_stat in the trials of {}", cell.id))
        .count(softnet.dropped)
        .text(" of ")
        .count(softnet.processed.saturating_add(softnet.dropped))
        .text(" dropped; the budget ran out ")
        .text(count(usize::try_from(softnet.squeezed).unwrap_or(usize::MAX), "time"))
}
