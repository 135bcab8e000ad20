//! `retransmits`: a meaningful share of a stream's segments was sent again.

use findings::{CellSummary, Evidence, Finding, Remedy, Severity};

use super::{Context, Rule};
use crate::{
    measured::Measured,
    stream::flows,
    words::{count, list, percent},
};

pub(crate) const RULE: Rule = Rule { id: "retransmits", look };

/// One segment in a thousand: enough for a loss-based congestion control to feel it.
const WORTH_A_WARNING: f64 = 0.001;
/// One in a hundred: the path loses or reorders all the time.
const SERIOUS: f64 = 0.01;
/// Fewer than these are an accident.
const FEWEST: u64 = 10;

/// One claim for all cells together, the worst one named.
fn look(context: &Context<'_>) -> Vec<Finding> {
    let cells = context.findings.cells.iter().zip(context.measured);
    let mut lossy: Vec<(f64, &CellSummary)> = cells
        .filter_map(|(cell, measured)| Some((share(cell, measured)?, cell)))
        .filter(|(share, _)| *share >= WORTH_A_WARNING)
        .collect();
    lossy.sort_by(|one, other| other.0.total_cmp(&one.0));
    lossy.first().map(|worst| finding(*worst, &lossy)).into_iter().collect()
}

/// Segments sent again as a share of those that the payload fills.
fn share(cell: &CellSummary, measured: &Measured<'_>) -> Option<f64> {
    let stream = cell.stream.as_ref().filter(|stream| stream.retransmits >= FEWEST)?;
    let mss = f64::from(stream.sender_socket.mss.filter(|mss| *mss > 0)?);
    let sent: f64 = measured.trials().flat_map(flows).map(|flow| flow.sender.bytes().0 as f64).sum();
    (sent > 0.0).then(|| stream.retransmits as f64 * mss / sent)
}

fn finding((share, worst): (f64, &CellSummary), lossy: &[(f64, &CellSummary)]) -> Finding {
    let ids: Vec<&str> = lossy.iter().map(|(_, cell)| cell.id.as_str()).collect();
    Finding {
        id: String::new(),
        severity: if share >= SERIOUS { Severity::Serious } else { Severity::Warning },
        claim: format!(
            "{} sent a meaningful share of segments again, most of all {}: {}.",
            count(ids.len(), "cell"),
            worst.id,
            percent(share)
        ),
        cells: ids.iter().map(ToString::to_string).collect(),
        evidence: lossy.iter().map(|(share, cell)| evidence(*share, cell)).collect(),
        caveats: vec![
            "The share is of full-sized segments; smaller ones would make it less.".into(),
            "Nothing need be lost: reordering looks like loss. Inside one kernel data overtakes itself when the \
             sender's CPU and the CPU that handles acknowledgements both send it; ends on the same CPU tell the \
             two apart."
                .into(),
        ],
        remedy: Some(Remedy {
            action: format!(
                "Look for drops on the way of {}: full queues (a rate limit, too small a txqueuelen or backlog) and \
                 MTUs that differ.",
                list(&[worst.path.as_str()])
            ),
            commands: vec![
                "ip -s link".into(),
                "tc -s qdisc".into(),
                "cat /proc/net/softnet_stat  # second column: dropped at net.core.netdev_max_backlog".into(),
            ],
        }),
    }
}

fn evidence(share: f64, cell: &CellSummary) -> Evidence {
    let retransmits = cell.stream.as_ref().map_or(0, |stream| stream.retransmits);
    Evidence {
        what: format!("segments sent again, {}", cell.id),
        value: format!("{retransmits}, {} of all", percent(share)),
    }
}
