//! Plots a sweep along one factor: the metric and CPU time, with a line for each setting of the other factors. Marks
//! the knee and the recommendation.

use findings::{Answer, ConsumerUnit, Findings, Knee, ResultSummary};

use super::columns::{CELL, bases, ends, interval_key, number, of_result};
use crate::{
    chart::{Mark, Spot, *},
    labels, phrases,
    sections::Source,
};

pub(super) const KIND: &str = "sweep";

/// Maximum number of lines that readers can distinguish. Only the best lines are drawn.
const MOST_LINES: usize = 7;

pub(super) fn build(source: &Source<'_>) -> Vec<Chart> {
    let of_answer = |answer: &Answer| -> Vec<Chart> {
        answer.knees.iter().filter_map(|knee| chart(source, answer, knee)).collect()
    };
    source.findings.answers.iter().flat_map(of_answer).collect()
}

struct Curve<'a> {
    others: String,
    results: Vec<(usize, &'a ResultSummary)>,
}

pub(crate) fn chart(source: &Source<'_>, answer: &Answer, knee: &Knee) -> Option<Chart> {
    let levels = levels(source.findings, answer, &knee.factor);
    let curves = curves(source.findings, answer, knee, &levels);
    if levels.len() < 2 || curves.is_empty() {
        return None;
    }
    let of = labels::swept(&answer.workload, &answer.path);
    let mut plots = vec![value_plot(source, answer, knee, &levels, &curves)];
    plots.extend(cpu_plot(answer, knee, &levels, &curves));
    Some(Chart {
        kind: KIND,
        title: format!("{of}: {} over {}", answer.metric.name(), knee.factor),
        about: about(source, answer, knee),
        drawing: Drawing::Plots(plots),
        data: data(answer, knee, &curves),
        plain: None,
    })
}

fn about(source: &Source<'_>, answer: &Answer, knee: &Knee) -> String {
    let curve =
        knee.curve.iter().map(|(level, value)| format!("{level}: {}", phrases::value(answer.metric, *value)));
    let curve = curve.collect::<Vec<_>>().join("; ");
    let chosen = answer.recommendations.iter().find(|it| it.objective == source.objective);
    let chosen = chosen.and_then(|it| labels::levels(&it.levels)).map(|it| format!(" Recommended: {it}."));
    format!(
        "Best {} at each level of {}: {curve}. Plateau from {} on: {}.{}",
        answer.metric.name(),
        knee.factor,
        knee.level,
        phrases::value(answer.metric, knee.plateau),
        chosen.unwrap_or_default()
    )
}

pub(super) fn swept<'a>(
    findings: &'a Findings,
    answer: &'a Answer,
) -> impl Iterator<Item = &'a ResultSummary> {
    findings.results.iter().filter(|result| result.workload == answer.workload && result.path == answer.path)
}

/// Sorts levels that are numbers. Other levels keep their order.
pub(super) fn levels<'a>(findings: &'a Findings, answer: &'a Answer, factor: &str) -> Vec<&'a str> {
    let found = swept(findings, answer).filter_map(|result| result.levels.get(factor).map(String::as_str));
    let mut levels = labels::distinct(found);
    if levels.iter().all(|level| level.parse::<f64>().is_ok()) {
        levels.sort_by(|one, other| {
            let number = |level: &str| level.parse::<f64>().unwrap_or_default();
            number(one).total_cmp(&number(other))
        });
    }
    levels
}

fn curves<'a>(findings: &'a Findings, answer: &'a Answer, knee: &Knee, levels: &[&str]) -> Vec<Curve<'a>> {
    let mut curves: Vec<Curve<'a>> = Vec::new();
    for result in swept(findings, answer) {
        let Some(level) = result.levels.get(&knee.factor) else { continue };
        let Some(place) = levels.iter().position(|it| it == level) else { continue };
        let mut others = result.levels.clone();
        others.remove(&knee.factor);
        let others = labels::levels(&others).unwrap_or_else(|| answer.metric.name().to_owned());
        match curves.iter_mut().find(|curve| curve.others == others) {
            Some(curve) => curve.results.push((place, result)),
            None => curves.push(Curve { others, results: vec![(place, result)] }),
        }
    }
    curves.iter_mut().for_each(|curve| curve.results.sort_by_key(|(place, _)| *place));
    if curves.len() > MOST_LINES {
        let sign = if answer.metric.more_is_better() == Some(false) { 1.0 } else { -1.0 };
        let best = |curve: &Curve<'_>| {
            curve.results.iter().map(|(_, result)| result.value.estimate * sign).fold(f64::INFINITY, f64::min)
        };
        curves.sort_by(|one, other| best(one).total_cmp(&best(other)));
        curves.truncate(MOST_LINES);
    }
    curves.sort_by_cached_key(|curve| {
        let others = curve.results[0].1.levels.iter().filter(|(factor, _)| **factor != knee.factor);
        let place = |(factor, level): (&String, &String)| {
            self::levels(findings, answer, factor).iter().position(|it| it == level)
        };
        others.map(place).collect::<Vec<_>>()
    });
    curves
}

/// Places numeric levels by value, on a logarithmic axis if they span several orders of magnitude.
fn axis(factor: &str, levels: &[&str]) -> (Axis, Vec<f64>) {
    let numbers: Option<Vec<f64>> = levels.iter().map(|level| level.parse::<f64>().ok()).collect();
    let title = factor.to_owned();
    let (scale, places) = match numbers {
        Some(numbers) if numbers[0] > 0.0 && numbers[numbers.len() - 1] / numbers[0] >= 6.0 => {
            (Scale::log(numbers.iter().copied()), numbers)
        }
        Some(numbers) => (Scale::around(numbers.iter().copied()), numbers),
        None => {
            let places: Vec<f64> = (0..levels.len()).map(|place| place as f64).collect();
            (Scale::around(places.iter().copied()), places)
        }
    };
    let named = places.iter().copied().zip(levels.iter().map(ToString::to_string)).collect();
    (Axis { title, scale, ticks: Ticks::Named(named) }, places)
}

fn value_plot(
    source: &Source<'_>,
    answer: &Answer,
    knee: &Knee,
    levels: &[&str],
    curves: &[Curve<'_>],
) -> Plot {
    let (x, places) = axis(&knee.factor, levels);
    let line = |(number, curve): (usize, &Curve<'_>)| Line {
        number,
        kind: LineKind::Dotted,
        points: curve.results.iter().map(|(place, result)| (places[*place], result.value.estimate)).collect(),
        intervals: curve.results.iter().map(|(_, result)| ends(result.value.interval)).collect(),
    };
    let lines: Vec<Line> = curves.iter().enumerate().map(line).collect();
    let highs = lines.iter().flat_map(|line| line.intervals.iter().flatten().map(|(_, high)| *high));
    let values = || lines.iter().flat_map(|line| line.points.iter().map(|(_, value)| *value));
    let largest = values().fold(0.0, f64::max);
    let y = Axis::of_metric(answer.metric, Scale::from_zero(values().chain(highs)), largest);
    let at = |level: &str| levels.iter().position(|it| *it == level).map(|place| places[place]);
    let is_last = levels.last() == Some(&knee.level.as_str());
    let mark = |at| Mark { at, text: format!("knee: {}", knee.level) };
    let chosen =
        answer.recommendations.iter().find(|it| it.objective == source.objective && it.withheld.is_none());
    let spot = chosen.and_then(|it| {
        let text = "recommended".to_owned();
        Some(Spot { at: (at(it.levels.get(&knee.factor)?)?, it.value), text, is_chosen: true })
    });
    let named = curves.iter().enumerate().filter(|_| curves.len() > 1);
    let named = named.map(|(number, curve)| Key::Line(number, curve.others.clone()));
    let shown = curves.iter().flat_map(|curve| curve.results.iter().map(|(_, result)| *result));
    Plot {
        x,
        y,
        marks: at(&knee.level).filter(|_| !is_last).map(mark).into_iter().collect(),
        stretches: Vec::new(),
        spots: spot.into_iter().collect(),
        keys: named.chain(interval_key("value", "", bases(shown))).collect(),
        lines,
    }
}

/// Sums the CPU time of the owners that are known for every result of the answer.
pub(super) fn cpu(answer: &Answer, result: &ResultSummary) -> Option<f64> {
    let of_owner = |consumer: &String| {
        result.consumers.iter().find(|cost| cost.consumer == *consumer).map(|cost| cost.value)
    };
    if answer.consumers.is_empty() { None } else { answer.consumers.iter().map(of_owner).sum() }
}

pub(super) fn cpu_axis(answer: &Answer, scale: Scale) -> Axis {
    let unit = answer.frontier.iter().flat_map(|point| &point.consumers).map(|cost| cost.unit).next();
    let (what, ticks) = match unit {
        Some(ConsumerUnit::Share) => ("share of the CPUs", Ticks::Percent),
        _ => ("CPUs busy", Ticks::In(1.0)),
    };
    Axis { title: format!("CPU time, {what} ({})", answer.consumers.join(", ")), scale, ticks }
}

fn cpu_plot(answer: &Answer, knee: &Knee, levels: &[&str], curves: &[Curve<'_>]) -> Option<Plot> {
    let (x, places) = axis(&knee.factor, levels);
    let line = |(number, curve): (usize, &Curve<'_>)| {
        let points =
            curve.results.iter().filter_map(|(place, result)| Some((places[*place], cpu(answer, result)?)));
        Line { number, kind: LineKind::Dotted, points: points.collect(), intervals: Vec::new() }
    };
    let lines: Vec<Line> =
        curves.iter().enumerate().map(line).filter(|line| !line.points.is_empty()).collect();
    if lines.is_empty() {
        return None;
    }
    let scale = Scale::from_zero(lines.iter().flat_map(|line| line.points.iter().map(|(_, cpu)| *cpu)));
    let (marks, stretches, spots, keys) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    Some(Plot { x, y: cpu_axis(answer, scale), lines, marks, stretches, spots, keys })
}

fn data(answer: &Answer, knee: &Knee, curves: &[Curve<'_>]) -> Data {
    let mut data = Data::new(CELL.into_iter().chain(["factor", "level", "others", "cpu_time"]));
    for (curve, (_, result)) in
        curves.iter().flat_map(|curve| curve.results.iter().map(move |result| (curve, result)))
    {
        data.push(of_result(result).into_iter().chain([
            Some(knee.factor.clone()),
            result.levels.get(&knee.factor).cloned(),
            Some(curve.others.clone()),
            number(cpu(answer, result)),
        ]));
    }
    data
}
