//! `vhost-off`: packets of a virtual machine go through its process in user space, and that costs.

use findings::{CellSummary, Comparison, Evidence, Finding, Metric, Remedy, Severity};
use samples::CellRecord;

use super::{
    Context, Rule,
    sure::{self, Side, Weighed},
};
use crate::{
    measured::Measured,
    words::{count, ratio, value},
};

pub(crate) const RULE: Rule = Rule { id: "vhost-off", look };

const WORD: &str = "vhost";
/// The slower side keeps less than this share.
const MUCH: f64 = 0.5;

/// A cell with the word taken out of all that names it, and what the word said.
struct Sided<'a> {
    cell: &'a CellSummary,
    measured: &'a Measured<'a>,
    /// Equal for cells that differ in vhost alone.
    key: String,
    /// `None` where the word does not stand.
    on: Option<bool>,
}

/// The same with vhost off against on.
struct Pair<'a> {
    off: &'a CellSummary,
    on: &'a CellSummary,
    change: Comparison,
    weighed: Option<Weighed>,
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
    let cells: Vec<Sided<'_>> = context.cells().map(|(cell, measured)| sided(cell, measured)).collect();
    let on = cells.iter().filter(|cell| cell.on == Some(true));
    let pairs: Vec<Pair<'_>> = on.filter_map(|on| pair(on, &cells, context)).collect();
    let costly = pairs.iter().filter(|pair| pair.costs());
    let worst =
        costly.max_by(|one, other| one.sure().cmp(&other.sure()).then(one.gain.total_cmp(&other.gain)));
    worst.map(|worst| finding(worst, &pairs)).into_iter().collect()
}

fn pair<'a>(on: &Sided<'a>, cells: &[Sided<'a>], context: &Context<'a>) -> Option<Pair<'a>> {
    let more_is_better = on.cell.metric.more_is_better()?;
    let same = |other: &&Sided<'_>| other.key == on.key && other.cell.metric == on.cell.metric;
    let off = cells.iter().filter(|other| other.on == Some(false)).find(same);
    let off = off.or_else(|| cells.iter().filter(|other| other.on.is_none()).find(same))?;
    let change = context.compare(off.measured, on.measured)?;
    let weighed = sure::weigh(&change, sure::swing([on.cell, off.cell]));
    let side = if change.ratio < 1.0 { Side::Lower } else { Side::Higher };
    let worse = (side == Side::Lower) == more_is_better;
    let apart = change.ratio.max(change.ratio.recip());
    let gain = if worse { apart } else { apart.recip() };
    change.ratio.is_normal().then_some(Pair { off: off.cell, on: on.cell, change, weighed, gain })
}

fn sided<'a>(cell: &'a CellSummary, measured: &'a Measured<'a>) -> Sided<'a> {
    let CellRecord { path, workload, levels, .. } = measured.record;
    let mut on = None;
    let mut key = Vec::new();
    let factors = levels.iter().map(|(factor, level)| (factor.as_str(), level.as_str()));
    for (name, text) in [("path", path.as_str()), ("workload", workload.as_str())].into_iter().chain(factors)
    {
        let (rest, said) = if name.to_lowercase().contains(WORD) {
            (String::new(), Some(!is_off(text)))
        } else {
            without_the_word(text)
        };
        on = said.or(on);
        if !rest.is_empty() {
            key.push(format!("{name}={rest}"));
        }
    }
    Sided { cell, measured, key: key.join("/"), on }
}

fn is_off(level: &str) -> bool {
    matches!(
        level.trim().to_lowercase().as_str(),
        "off" | "no" | "false" | "0" | "without" | "disabled" | "none"
    )
}

/// The text without the word and what belongs to it, and what it said of vhost.
fn without_the_word(text: &str) -> (String, Option<bool>) {
    let text = text.to_lowercase().replace("vhost-net", WORD).replace("vhost_net", WORD);
    let between = |letter: char| matches!(letter, '-' | '_' | ' ' | '+' | ',' | '/' | '=' | '>');
    let words: Vec<&str> = text.split(between).filter(|word| !word.is_empty()).collect();
    let Some(at) = words.iter().position(|word| *word == WORD) else { return (words.join("-"), None) };
    let beside = |index: Option<usize>| index.and_then(|index| words.get(index).copied()).unwrap_or_default();
    let (before, after) = (beside(at.checked_sub(1)), beside(Some(at + 1)));
    let off = matches!(before, "without" | "no") || is_off(after);
    let belongs = |index: usize, word: &str| {
        index == at
            || (index + 1 == at && matches!(word, "with" | "without" | "no"))
            || (index == at + 1 && matches!(word, "on" | "off"))
    };
    let rest: Vec<&str> = words
        .iter()
        .enumerate()
        .filter(|(index, word)| !belongs(*index, word))
        .map(|(_, word)| *word)
        .collect();
    (rest.join("-"), Some(!off))
}

fn finding(worst: &Pair<'_>, pairs: &[Pair<'_>]) -> Finding {
    let metric = worst.off.metric;
    let costly = pairs.iter().filter(|pair| pair.costs()).count();
    let others: Vec<&Pair<'_>> =
        pairs.iter().filter(|pair| pair.weighed.is_some() && pair.gain < 1.0).collect();
    let against = others.iter().min_by(|one, other| one.gain.total_cmp(&other.gain)).map(|pair| {
        format!(" Not so in {}: {} with vhost, {} without.", pair.on.id, shown(pair.on), shown(pair.off))
    });
    Finding {
        id: String::new(),
        severity: severity(worst),
        claim: format!(
            "vhost is off in {}, and that costs: {} against {} with it ({}x the {}); so it is in {} of {}.{}",
            worst.off.id,
            shown(worst.off),
            shown(worst.on),
            units::significant(worst.gain.recip(), 3),
            if metric.more_is_better() == Some(true) { "rate" } else { "speed" },
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
    let what = match pair.off.metric {
        Metric::RoundTrip | Metric::Latency => "time off against on",
        _ => "off against on",
    };
    Evidence { what: format!("{what}: {} against {}", pair.off.id, pair.on.id), value: ratio(&pair.change) }
}

fn caveats(worst: &Pair<'_>, pairs: &[Pair<'_>]) -> Vec<String> {
    let named =
        "Whether vhost was on is read from the names of paths, workloads and levels, not from the machine.";
    let own = worst.weighed.and_then(|weighed| weighed.caveat).map(str::to_owned);
    [named.to_owned()].into_iter().chain(own).chain(sure::of_many(pairs.len())).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_and_without_the_word_share_what_is_left() {
        for (text, rest, on) in [
            ("KVM-KVM-vhost", "kvm-kvm", Some(true)),
            ("KVM-KVM", "kvm-kvm", None),
            ("with vhost-net + VM0->VM1", "vm0-vm1", Some(true)),
            ("without vhost-net + VM0->VM1", "vm0-vm1", Some(false)),
            ("no-vhost", "", Some(false)),
            ("vhost=off", "", Some(false)),
            ("ghost", "ghost", None),
        ] {
            assert_eq!(without_the_word(text), (rest.to_owned(), on), "{text}");
        }
    }
}
