//! Every comparison of a run: what a layer, a level or a word in the paths' names changes.

use std::cmp::Ordering;

use findings::{Comparison, Findings};
use workload::Metric;

use crate::{
    labels,
    phrases::{self, Confidence},
    text::Text,
};

/// One of them.
pub(super) struct Difference<'a> {
    what: String,
    pub(super) workload: &'a str,
    metric: Metric,
    change: &'a Comparison,
    /// Both cells.
    pub(super) cells: [&'a str; 2],
    /// Whether it is of the settings whose layers are shown first; what others cost is their factor's doing.
    pub(super) is_main: bool,
}

/// Those of layers, then of factors' levels, then of words.
pub(super) fn all(findings: &Findings) -> Vec<Difference<'_>> {
    let mut all = Vec::new();
    for ladder in &findings.ladders {
        let is_main =
            super::ladder(findings, &ladder.workload).is_some_and(|first| first.levels == ladder.levels);
        for rung in &ladder.rungs {
            let below =
                rung.below.as_ref().and_then(|below| ladder.rungs.iter().find(|other| other.path == *below));
            if let (Some(change), Some(below)) = (&rung.cost, below) {
                let settings =
                    labels::levels(&ladder.levels).map(|levels| format!(" ({levels})")).unwrap_or_default();
                all.push(Difference {
                    what: format!("{} over {}{settings}", rung.adds.join(" + "), below.path),
                    workload: &ladder.workload,
                    metric: ladder.metric,
                    change,
                    cells: [&rung.cell, &below.cell],
                    is_main,
                });
            }
        }
    }
    all.extend(findings.effects.iter().map(|effect| Difference {
        what: format!("{} {} instead of {}, {}", effect.factor, effect.level, effect.reference, effect.path),
        workload: &effect.workload,
        metric: effect.metric,
        change: &effect.change,
        cells: [&effect.cell, &effect.reference_cell],
        is_main: true,
    }));
    let path = |id: &str| {
        findings
            .cells
            .iter()
            .find(|cell| cell.id == id)
            .map_or_else(|| id.to_owned(), |cell| cell.path.clone())
    };
    all.extend(findings.twins.iter().flat_map(|twins| {
        twins.pairs.iter().map(move |pair| Difference {
            what: format!("{}, {} vs {}", twins.word, path(&pair.with), path(&pair.without)),
            workload: &twins.workload,
            metric: twins.metric,
            change: &pair.change,
            cells: [&pair.with, &pair.without],
            is_main: true,
        })
    }));
    all
}

impl Difference<'_> {
    pub(super) fn is_established(&self) -> bool {
        matches!(self.change.verdict, findings::Difference::Lower | findings::Difference::Higher)
    }

    pub(super) fn is_open(&self) -> bool {
        self.change.verdict == findings::Difference::Unclear
    }

    /// Both cells, the one with the worse number first; of a metric of which neither is, the one that is compared.
    pub(super) fn worse_first(&self) -> [&str; 2] {
        let [cell, reference] = self.cells;
        let is_better = self.metric.more_is_better().is_some_and(|more| more == (self.change.ratio > 1.0));
        if is_better { [reference, cell] } else { [cell, reference] }
    }

    /// How far its ratio is from 1, either way.
    pub(super) fn size(&self) -> f64 {
        self.change.ratio.ln().abs()
    }

    pub(super) fn cmp_size(&self, other: &Self) -> Ordering {
        self.size().total_cmp(&other.size())
    }

    /// `stream: vxlan over node-to-node −41.8 % (−43.0 to −40.1, 94 %)`.
    pub(super) fn text(&self, findings: &Findings) -> Text {
        let lead = super::speed::lead(findings, self.workload);
        let gain = phrases::gain(self.change, Confidence::Inline);
        Text::from(format!("{lead}{} ", self.what)).and(phrases::tone(self.metric, self.change), gain)
    }
}

/// What stands before the numbers of differences that are not established.
pub(super) const fn judgement(change: &Comparison) -> &'static str {
    match change.verdict {
        findings::Difference::Lower | findings::Difference::Higher => "",
        findings::Difference::None => "not significant: ",
        findings::Difference::Unclear => "unclear: ",
    }
}
