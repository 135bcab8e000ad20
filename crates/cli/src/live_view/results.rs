//! The table of results: one row per result, grouped by workload.

use std::collections::BTreeMap;

use ::report::{Judgement, LiveResult, LiveStep, Scale};
use ratatui::text::{Line, Span};
use scenario::{FactorName, PlannedResult};
use watch::{State, one_line};
use workload::Metric;

use super::{colours::Colours, path::columns};

const GAP: usize = 2;
const TRIALS: usize = 3;
const VALUE: usize = 11;
const RANGE: usize = 15;
const CHANGE: usize = 8;
const CHANGE_RANGE: usize = 18;
const DRAWN: (usize, usize) = (16, 48);

pub(super) struct Results {
    pub(super) head: Line<'static>,
    pub(super) rows: Vec<Line<'static>>,
    pub(super) current: Option<usize>,
}

struct Layout {
    path: usize,
    levels: usize,
    has_change_range: bool,
    drawn: usize,
}

pub(super) fn table(state: &State, width: usize, colours: Colours) -> Results {
    let groups = groups(state);
    let layout = Layout::of(&groups, width);
    let mut results = Results { head: layout.head(colours), rows: Vec::new(), current: None };
    let current = state.trial.as_ref().map(|trial| trial.planned.result);
    for group in &groups {
        let scale = group.scale(state);
        results.rows.push(layout.heading(group, scale, colours));
        for (place, result) in &group.results {
            let is_current = current == Some(*place);
            if is_current {
                results.current = Some(results.rows.len());
            }
            results.rows.push(layout.row(state, group, result, scale, is_current, colours));
        }
    }
    results
}

struct Group<'a> {
    workload: &'a str,
    factors: Vec<&'a FactorName>,
    widths: Vec<usize>,
    results: Vec<(usize, &'a PlannedResult)>,
}

fn groups(state: &State) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (place, result) in state.plan.results.iter().enumerate() {
        match groups.iter_mut().find(|group| group.workload == result.workload.as_str()) {
            Some(group) => group.results.push((place, result)),
            None => groups.push(Group {
                workload: result.workload.as_str(),
                factors: Vec::new(),
                widths: Vec::new(),
                results: vec![(place, result)],
            }),
        }
    }
    for group in &mut groups {
        let mut widths: BTreeMap<&FactorName, usize> = BTreeMap::new();
        for (_, result) in &group.results {
            let result: &PlannedResult = result;
            for (factor, level) in &result.levels {
                let width = widths.entry(factor).or_default();
                *width = (*width).max(columns(level));
            }
        }
        (group.factors, group.widths) = widths.into_iter().unzip();
    }
    groups
}

impl Group<'_> {
    fn heading(&self, colours: Colours) -> Line<'static> {
        let factors: Vec<&str> = self.factors.iter().map(|factor| factor.as_str()).collect();
        let by = if factors.is_empty() { String::new() } else { format!("  by {}", factors.join(", ")) };
        Line::from(vec![
            Span::styled(one_line(self.workload), colours.strong()),
            Span::styled(one_line(&by), colours.faint()),
        ])
    }

    fn metric(&self) -> Option<Metric> {
        self.results.first().map(|(_, result)| result.load.kind().metric())
    }

    fn levels(&self, result: &PlannedResult) -> String {
        let level = |(factor, width): (&&FactorName, &usize)| {
            let level = result.levels.get(*factor).map_or("·", String::as_str);
            padded(&one_line(level), *width)
        };
        self.factors.iter().zip(&self.widths).map(level).collect::<Vec<_>>().join(" ")
    }

    fn scale(&self, state: &State) -> Option<(f64, f64)> {
        let results = self.results.iter().filter_map(|(_, result)| state.results.get(result.id.as_str()));
        let ends = results.map(|result| result.ends.unwrap_or((result.estimate, result.estimate)));
        let (low, high) = ends.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))?;
        Some((low.min(0.0), high)).filter(|(low, high)| high > low)
    }
}

impl Layout {
    fn of(groups: &[Group<'_>], width: usize) -> Self {
        let results = || groups.iter().flat_map(|group| &group.results);
        let path = results().map(|(_, result)| columns(result.path.as_str())).max().unwrap_or(0);
        let of_group = |group: &Group<'_>| group.widths.iter().map(|width| width + 1).sum::<usize>();
        let levels = groups.iter().map(of_group).max().filter(|levels| *levels > 0);
        let levels = levels.map_or(0, |levels| levels - 1 + GAP);
        let plain = GAP + path + levels + 4 * GAP + TRIALS + VALUE + RANGE + CHANGE;
        let has_change_range = plain + GAP + CHANGE_RANGE <= width;
        let taken = if has_change_range { plain + GAP + CHANGE_RANGE } else { plain };
        let drawn = width.saturating_sub(taken + GAP).min(DRAWN.1);
        let is_drawn = has_change_range && drawn >= DRAWN.0;
        Self { path, levels, has_change_range, drawn: if is_drawn { drawn + GAP } else { 0 } }
    }

    fn heading(&self, group: &Group<'_>, scale: Option<(f64, f64)>, colours: Colours) -> Line<'static> {
        let mut heading = group.heading(colours);
        let before = self.head(colours).width() + GAP;
        if let (Some((low, high)), Some(metric)) = (scale, group.metric())
            && self.drawn > GAP
            && heading.width() < before
        {
            let unit = Scale::of(metric, high);
            let low = if low == 0.0 { "0".to_owned() } else { unit.quantity(low) };
            let high = unit.quantity(high);
            let room = (self.drawn - GAP).saturating_sub(columns(&low));
            let gap = " ".repeat(before - heading.width());
            heading.spans.push(Span::styled(format!("{gap}{low}{high:>room$}"), colours.faint()));
        }
        heading
    }

    fn head(&self, colours: Colours) -> Line<'static> {
        let name = GAP + self.path + self.levels;
        let mut text = format!(
            "{}  {:>TRIALS$}  {:>VALUE$}  {}  {:>CHANGE$}",
            " ".repeat(name),
            "n",
            "value",
            padded("interval", RANGE),
            "change"
        );
        if self.has_change_range {
            text.push_str(&format!("  {}", padded("interval", CHANGE_RANGE)));
        }
        Line::styled(text, colours.faint())
    }

    fn row(
        &self,
        state: &State,
        group: &Group<'_>,
        result: &PlannedResult,
        scale: Option<(f64, f64)>,
        is_current: bool,
        colours: Colours,
    ) -> Line<'static> {
        let mark = if is_current { "▸ " } else { "  " };
        let path = padded(&one_line(result.path.as_str()), self.path);
        let style = if is_current { colours.accent() } else { colours.plain() };
        let mut spans = vec![Span::styled(format!("{mark}{path}"), style)];
        if self.levels > 0 {
            spans.push(Span::styled(padded(&format!("  {}", group.levels(result)), self.levels), style));
        }
        match state.results.get(result.id.as_str()) {
            Some(measured) => spans.extend(self.numbers(measured, result.baseline, scale, colours)),
            None if state.skipped.contains(result.id.as_str()) => {
                spans.push(Span::styled(format!("  {:>TRIALS$}  skipped", ""), colours.doubtful()));
            }
            None => spans.push(Span::styled(format!("  {:>TRIALS$}", "·"), colours.faint())),
        }
        Line::from(spans)
    }

    fn numbers(
        &self,
        result: &LiveResult,
        is_baseline: bool,
        scale: Option<(f64, f64)>,
        colours: Colours,
    ) -> Vec<Span<'static>> {
        let warned = if result.has_warnings { "!" } else { " " };
        let range = result.range.clone().unwrap_or_else(|| "·".to_owned());
        let mut spans = vec![
            Span::styled(format!("  {:>TRIALS$}", result.trials), colours.faint()),
            Span::styled(format!("  {:>VALUE$}", result.value), colours.strong()),
            Span::styled(format!("{warned} "), colours.doubtful()),
            Span::styled(padded(&range, RANGE), colours.plain()),
        ];
        let baseline = if is_baseline { "baseline" } else { "·" };
        match &result.step {
            Some(step) => spans.extend(self.step(step, colours)),
            None => {
                let rest = if self.has_change_range { GAP + CHANGE_RANGE } else { 0 };
                spans.push(Span::styled(
                    format!("  {baseline:>CHANGE$}{}", " ".repeat(rest)),
                    colours.faint(),
                ));
            }
        }
        if let Some(scale) = scale.filter(|_| self.drawn > GAP) {
            spans
                .push(Span::styled(format!("  {}", drawn(result, scale, self.drawn - GAP)), colours.plain()));
        }
        spans
    }

    fn step(&self, step: &LiveStep, colours: Colours) -> Vec<Span<'static>> {
        let (style, suffix) = match step.judgement {
            Judgement::Better => (colours.good(), " "),
            Judgement::Worse => (colours.bad(), " "),
            Judgement::Different => (colours.plain(), " "),
            Judgement::NotSignificant => (colours.faint(), "≈"),
            Judgement::Unclear => (colours.doubtful(), "?"),
        };
        let mut spans =
            vec![Span::styled(format!("  {:>CHANGE$}", step.change), style), Span::styled(suffix, style)];
        if self.has_change_range {
            let range = step.range.clone().unwrap_or_default();
            spans.push(Span::styled(format!(" {}", padded(&range, CHANGE_RANGE)), colours.faint()));
        }
        spans
    }
}

/// Draws the interval and its median, e.g. `├──●─┤`.
fn drawn(result: &LiveResult, (least, greatest): (f64, f64), width: usize) -> String {
    let place = |value: f64| {
        let share = ((value - least) / (greatest - least)).clamp(0.0, 1.0);
        (share * (width - 1) as f64).round() as usize
    };
    let (low, high) = result.ends.unwrap_or((result.estimate, result.estimate));
    let (low, median, high) = (place(low), place(result.estimate), place(high));
    let sign = |at: usize| match at {
        _ if at == median => '●',
        _ if at == low => '├',
        _ if at == high => '┤',
        _ if (low..high).contains(&at) => '─',
        _ => ' ',
    };
    (0..width).map(sign).collect()
}

pub(super) fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_interval_on_scale_of_its_group() {
        let result = LiveResult {
            result: "a".to_owned(),
            trials: 5,
            value: "5".to_owned(),
            range: None,
            estimate: 5.0,
            ends: Some((2.0, 10.0)),
            step: None,
            has_warnings: false,
        };
        assert_eq!(drawn(&result, (0.0, 10.0), 11), "  ├──●────┤");
        assert_eq!(drawn(&LiveResult { ends: None, ..result }, (0.0, 10.0), 11), "     ●     ");
    }
}
