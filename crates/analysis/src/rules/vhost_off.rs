//! `vhost-off`: packets of a virtual machine go through its process in user space, and that costs.

use findings::{CellSummary, Comparison, Evidence, Finding, Remedy, Severity};
use workload::Quantity;

use super::{
    Context, Rule,
    significance::{self, Side, WeighedDifference},
};
use crate::{
    matched_pairs,
    observations::Observations,
    words::{count, value},
};

pub(crate) const RULE: Rule = Rule { id: "vhost-off", look };

/// The slower side keeps less than this share.
const MUCH: f64 = 0.5;

/// The same with vhost off against on.
struct Pair<'a> {
    off: &'a CellSummary,
    on: &'a CellSummary,
    change: Comparison,
    weighed: Option<WeighedDifference>,
    /// How many times as good it is with vhost.
    gain: f64,
}

impl Pair<'_> {
    fn costs(&self) -> bool {
        self.weighed.is_some() && self.gain > 1.0
    }

    fn sure(&self) -> bool {
        self.weighed.is_some_and(|weighed| weighed.sure)
    }
}

/// One claim for the run: what it costs where it costs most, and where it does not.
fn look(context: &Context<'_>) -> Vec<Finding> {
    let found = matched_pairs::pairs(context.measured);
    let pairs: Vec<Pair<'_>> = found.iter().filter_map(|twins| pair(twins, context)).collect();
    let costly = pairs.iter().filter(|pair| pair.costs());
    let worst =
        costly.max_by(|one, other| one.sure().cmp(&other.sure()).then(one.gain.total_cmp(&other.gain)));
    worst.map(|worst| finding(worst, &pairs)).into_iter().collect()
}

fn pair<'a>(twins: &matched_pairs::Pair<'a>, context: &Context<'a>) -> Option<Pair<'a>> {
    let summary = |cell: &Observations<'_>| context.findings.cells.iter().find(|it| it.id == cell.record.id);
    let (off, on) = (summary(twins.without)?, summary(twins.with)?);
    let more_is_better = on.metric.more_is_better()?;
    let change = context.compare(twins.without, twins.with)?;
    let weighed = significance::weigh(&change);
    let side = if change.ratio < 1.0 { Side::Lower } else { Side::Higher };
    let worse = (side == Side::Lower) == more_is_better;
    let apart = change.ratio.max(change.ratio.recip());
    let gain = if worse { apart } else { apart.recip() };
    change.ratio.is_normal().then_some(Pair { off, on, change, weighed, gain })
}

fn finding(worst: &Pair<'_>, pairs: &[Pair<'_>]) -> Finding {
    let metric = worst.off.metric;
    let costly = pairs.iter().filter(|pair| pair.costs()).count();
    let others: Vec<&Pair<'_>> =
        pairs.iter().filter(|pair| pair.weighed.is_some() && pair.gain < 1.0).collect();
    let against = others.iter().min_by(|one, other| one.gain.total_cmp(&other.gain)).map(|pair| {
        format!(" Not so in {}: {} with vhost, {} without.", pair.on.id, shown(pair.on), shown(pair.off))
    });
    // Their ratio is another one than that of the two values before it.
    let medians = worst.change.ratio_of_medians;
    let medians = medians
        .map(|ratio| format!(" in pairs of trials, {}x by these medians", units::significant(ratio, 3)));
    Finding {
        id: String::new(),
        severity: severity(worst),
        claim: format!(
            "vhost is off in {}, and that costs: {} against {} with it ({}x the {}{}); so it is in {} of {}.{}",
            worst.off.id,
            shown(worst.off),
            shown(worst.on),
            units::significant(worst.gain.recip(), 3),
            if metric.more_is_better() == Some(true) { "rate" } else { "speed" },
            medians.unwrap_or_default(),
            costly,
            count(pairs.len(), "comparison"),
            against.unwrap_or_default()
        ),
        cells: pairs.iter().filter(|pair| pair.costs()).map(|pair| pair.off.id.clone()).collect(),
        evidence: pairs.iter().map(evidence).collect(),
        caveats: caveats(worst, pairs),
        remedy: Some(remedy()),
    }
}

fn severity(worst: &Pair<'_>) -> Severity {
    match worst.gain.recip() {
        _ if !worst.sure() => Severity::Note,
        keeps if keeps < MUCH => Severity::Serious,
        _ => Severity::Warning,
    }
}

fn shown(cell: &CellSummary) -> String {
    value(cell.metric, cell.value.median)
}

fn evidence(pair: &Pair<'_>) -> Evidence {
    let what = match pair.off.metric.quantity() {
        Quantity::Time => "time off against on",
        _ => "off against on",
    };
    Evidence::new(format!("{what}: {} against {}", pair.off.id, pair.on.id)).ratio(&pair.change)
}

fn caveats(worst: &Pair<'_>, pairs: &[Pair<'_>]) -> Vec<String> {
    let named =
        "Whether vhost was on is read from the names of paths, workloads and levels, not from the machine.";
    let own = worst.weighed.and_then(|weighed| weighed.caveat).map(str::to_owned);
    [named.to_owned()].into_iter().chain(own).chain(significance::of_many(pairs.len())).collect()
}

fn remedy() -> Remedy {
    Remedy::manual(
        "Let the kernel move the packets: vhost on for the tap of each virtual machine. Its CPU time is then that \
         of the threads named vhost-PID, no longer of the VMM."
            .into(),
        vec![
            "modprobe vhost_net && ls -l /dev/vhost-net".into(),
            "qemu-system-x86_64 … -netdev tap,id=net0,ifname=TAP,script=no,vhost=on".into(),
        ],
    )
}
