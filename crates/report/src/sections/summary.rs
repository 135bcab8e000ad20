//! The answer in at most twelve lines of 80 columns: how fast, what each layer costs, the largest difference and why, what to set,
//! how far to trust it. Chooses among what the findings say, and leaves the rest to the sections.

mod difference;
mod speed;
mod trust;

use findings::{CostStep, Finding, Findings, Ladder, Objective};

use super::Source;
use crate::{
    labels,
    page::{Block, Section, section},
    phrases,
    text::{Text, Tone},
};
use difference::Difference;

/// So many workloads have lines of their own: those whose established differences are the largest.
const WORKLOADS: usize = 2;
/// So many lines it has at most ...
const LINES: usize = 12;
/// ... each with so many characters beside the labels, on 80 columns.
const LINE: usize = 64;
/// What the longest lines may take: two.
const TWO_LINES: usize = 124;

/// A line: what it tells, and what.
type Row = (String, Text);

pub(super) const TITLE: &str = "Summary";

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    if findings.cells.is_empty() {
        return None;
    }
    let differences = difference::all(findings);
    let answer = Answer {
        source,
        workloads: deciding(findings, &differences),
        largest: differences.iter().filter(|it| it.is_established()).max_by(|one, other| one.cmp_size(other)),
        distrust: findings.claims.iter().find(|claim| claim.distrusts()),
        differences: &differences,
    };
    let roomy = answer.rows(TWO_LINES);
    let rows = if lines(&roomy) <= LINES { roomy } else { answer.rows(LINE) };
    Some(section(TITLE, vec![Block::KeyValues(rows)]))
}

/// What the summary is chosen from.
struct Answer<'a> {
    source: &'a Source<'a>,
    workloads: Vec<&'a str>,
    differences: &'a [Difference<'a>],
    largest: Option<&'a Difference<'a>>,
    /// What says that numbers cannot be relied on.
    distrust: Option<&'a Finding>,
}

impl Answer<'_> {
    /// The rows, those of workloads with so much room each.
    fn rows(&self, room: usize) -> Vec<Row> {
        let findings = self.source.findings;
        let caution = |claim: &Finding| row("Caution", Text::of(Tone::Bad, short(&claim.claim, TWO_LINES)));
        let mut rows: Vec<Row> = self.distrust.map(caution).into_iter().collect();
        let speeds = self.workloads.iter().map(|workload| speed::of(findings, workload, room));
        rows.extend(labelled("Speed", speeds.map(Text::from)));
        let ladders = self.workloads.iter().filter_map(|workload| ladder(findings, workload));
        rows.extend(labelled("Each layer", ladders.map(|ladder| layers(findings, ladder, room).into())));
        rows.extend(match self.largest {
            Some(largest) => Some(row("Largest", largest.text(findings))),
            None => none_established(self.differences),
        });
        let why = self.why();
        rows.extend(why.map(|claim| row("Why", short(&claim.claim, TWO_LINES).into())));
        let open = why.is_none() && self.distrust.is_none() && self.largest.is_some();
        rows.extend(open.then(|| row("Why", Text::of(Tone::Faint, self.unexplained()))));
        rows.extend(set(self.source, why.or(self.distrust), room));
        rows.push(row("Trust", trust::text(findings, self.differences)));
        rows.push(row("More", more(findings, self.workloads.len())));
        rows
    }

    const fn unexplained(&self) -> &'static str {
        let run = &self.source.findings.run;
        match (run.origin.imported().is_some(), self.source.findings.probes.ran.is_empty()) {
            (true, _) | (_, false) => "no finding explains it",
            (false, true) => "no finding explains it; with `--probe all` a run looks into the path",
        }
    }

    /// The first claim about the largest difference, or else about any; none about numbers that cannot be relied on.
    fn why(&self) -> Option<&Finding> {
        let of = |claim: &Finding, cell: &str| claim.cells.iter().any(|its| its == cell);
        let doubted = |claim: &Finding| {
            self.distrust.is_some_and(|doubt| doubt.cells.iter().any(|cell| of(claim, cell)))
        };
        let claims = &self.source.findings.claims;
        let said = || claims.iter().filter(|claim| !claim.is_of_the_measurement() && !doubted(claim));
        let largest =
            |claim: &&Finding| self.largest.is_some_and(|it| it.cells.iter().any(|cell| of(claim, cell)));
        said().find(largest).or_else(|| said().next())
    }
}

/// What the rows take on 80 columns, about.
fn lines(rows: &[Row]) -> usize {
    rows.iter().map(|(_, text)| text.characters().chars().count().div_ceil(LINE).max(1)).sum()
}

fn row(label: &str, text: Text) -> Row {
    (label.to_owned(), text)
}

/// Several lines under one label.
fn labelled(label: &str, lines: impl Iterator<Item = Text>) -> Vec<Row> {
    lines.enumerate().map(|(place, text)| row(if place == 0 { label } else { "" }, text)).collect()
}

/// The workloads whose established differences are the largest, those of which neither more nor less is better last, in the order
/// of the scenario.
fn deciding<'a>(findings: &'a Findings, differences: &[Difference<'_>]) -> Vec<&'a str> {
    let mut ranked: Vec<(usize, &str)> = labels::workloads(findings).into_iter().enumerate().collect();
    let size = |workload: &str| {
        let own = differences.iter().filter(|it| it.workload == workload && it.is_established());
        own.map(Difference::size).fold(0.0, f64::max)
    };
    let judged = |workload: &str| {
        let mut cells = findings.cells.iter().filter(|cell| cell.workload == workload);
        cells.any(|cell| cell.metric.more_is_better().is_some())
    };
    ranked.sort_by(|(_, one), (_, other)| {
        judged(other).cmp(&judged(one)).then(size(other).total_cmp(&size(one)))
    });
    ranked.truncate(WORKLOADS);
    ranked.sort_unstable_by_key(|(place, _)| *place);
    ranked.into_iter().map(|(_, workload)| workload).collect()
}

fn ladder<'a>(findings: &'a Findings, workload: &str) -> Option<&'a Ladder> {
    findings.ladders.iter().find(|ladder| ladder.workload == workload)
}

/// `stream: vxlan −41.8 %; veth, bridge, gateway −1.90 % (not significant)`, the largest where not all fit.
fn layers(findings: &Findings, ladder: &Ladder, room: usize) -> String {
    let cost = |rung: &CostStep| {
        let cost = rung.cost.as_ref()?;
        let said =
            format!("{} {}{}", rung.adds.join(", "), phrases::gain_alone(cost), difference::judgement(cost));
        Some((cost.ratio.ln().abs(), said))
    };
    let mut steps: Vec<(f64, String)> = ladder.rungs.iter().filter_map(cost).collect();
    let (lead, all) = (speed::lead(findings, &ladder.workload), steps.len());
    loop {
        let said: Vec<&str> = steps.iter().map(|(_, said)| said.as_str()).collect();
        let more = if steps.len() < all { format!("; {} more", all - steps.len()) } else { String::new() };
        let line = format!("{lead}{}{more}", said.join("; "));
        let least = steps.iter().enumerate().min_by(|(_, one), (_, other)| one.0.total_cmp(&other.0));
        match least.map(|(place, _)| place) {
            Some(place) if line.chars().count() > room && steps.len() > 1 => drop(steps.remove(place)),
            _ => return short(&line, room),
        }
    }
}

/// What to say where nothing is established.
fn none_established(differences: &[Difference<'_>]) -> Option<Row> {
    let open = differences.iter().filter(|it| it.is_open()).count();
    let said = match (differences.len(), open) {
        (0, _) => return None,
        (_, 0) => "no difference beyond the noise",
        _ => "no difference is established: more trials may show one",
    };
    Some(row("Largest", Text::of(Tone::Doubtful, said)))
}

/// What a sweep recommends, or else the remedy of what was told.
fn set(source: &Source<'_>, told: Option<&Finding>, room: usize) -> Option<Row> {
    let chosen = source.findings.answers.iter().find_map(|answer| {
        let of = |objective| answer.recommendations.iter().find(move |it| it.objective == objective);
        Some((answer, of(source.objective)?))
    });
    if let Some((answer, chosen)) = chosen {
        let levels = labels::levels(&chosen.levels).unwrap_or_else(|| chosen.cell.clone());
        let value = phrases::value(answer.metric, chosen.value);
        let said = match &chosen.withheld {
            Some(why) => Text::of(Tone::Doubtful, short(&format!("none yet: {why}"), TWO_LINES)),
            None => Text::of(Tone::Good, levels)
                .and(Tone::Plain, format!(": {value}, {}", objective(source.objective))),
        };
        return Some(row("Set", said));
    }
    let remedy = told?.remedy.as_ref()?;
    Some(row("Set", Text::of(Tone::Good, short(&remedy.action, room))))
}

const fn objective(sought: Objective) -> &'static str {
    match sought {
        Objective::Max => "the most",
        Objective::Efficient => "the most for its CPU time",
        Objective::LowCpu => "the least CPU time",
    }
}

/// Where the rest is.
fn more(findings: &Findings, shown: usize) -> Text {
    let others = labels::workloads(findings).len().saturating_sub(shown);
    let others = match others {
        0 => String::new(),
        1 => "1 more workload, ".to_owned(),
        _ => format!("{others} more workloads, "),
    };
    Text::of(Tone::Faint, format!("{others}all sections: "))
        .and(Tone::Code, format!("plumb report {} --full", findings.run.id))
}

/// As much of a text as fits so many characters, cut between words.
fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut kept = String::new();
    for word in text.split(' ') {
        if kept.chars().count() + word.chars().count() + 2 > most {
            break;
        }
        kept = if kept.is_empty() { word.to_owned() } else { format!("{kept} {word}") };
    }
    let kept = kept.trim_end_matches([',', ':', ';']);
    format!("{kept}…")
}
