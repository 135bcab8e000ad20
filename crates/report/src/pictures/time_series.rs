//! A trial's rate or round trips over time, with the warm-up, level shifts and CPU contention. Long series are
//! reduced to the minimum and maximum per pixel, which preserves short spikes.

use findings::{ResultShift, ResultSummary};
use samples::{Arm, RunRecord, Trial, ValidityWarning};
use units::Share;

use super::columns::number;
use crate::{
    chart::{Axis, Chart, Data, Drawing, Line, LineKind, Mark, Plot, Scale, Stretch, Ticks},
    kind::{self, TimeSample, TimeSeries},
    phrases,
    sections::Source,
    text::GLUE,
};

pub(super) const KIND: &str = "time-series";

const COLUMNS: usize = 600;

pub(super) fn build(source: &Source<'_>) -> Vec<Chart> {
    let of_result = |result| chart(source.record?, result);
    source.findings.results.iter().filter_map(of_result).collect()
}

/// Picks the first trial with a level shift, or else the first trial. `None` if too few intervals were stored.
pub(crate) fn chart(record: &RunRecord, result: &ResultSummary) -> Option<Chart> {
    let trial = trial(record, result)?;
    let series = kind::series(&trial.measurement)?;
    if series.samples.len() < 3 {
        return None;
    }
    Some(of_series(
        &series,
        &Shown {
            result: &result.id,
            trial: trial.index,
            label: result.label.clone(),
            shifts: result.shifts.iter().filter(|shift| shift.trial == trial.index).collect(),
            disturbed: disturbance(trial),
        },
    ))
}

struct Shown<'a> {
    result: &'a str,
    trial: u32,
    label: String,
    shifts: Vec<&'a ResultShift>,
    disturbed: Option<String>,
}

fn of_series(series: &TimeSeries, shown: &Shown<'_>) -> Chart {
    let columns = columns(&series.samples);
    let begin = series.samples.iter().find(|sample| !sample.warmup).map_or(0.0, |sample| sample.start);
    let first = series.samples.first().map_or(0.0, |sample| sample.start);
    let end = series.samples.last().map_or(1.0, |sample| sample.end);
    let values = || columns.iter().flat_map(|column| [column.least, column.most]);
    let largest = values().fold(0.0, f64::max);
    let time = |at: f64| Stretch { from: first, to: at, text: "warm-up".to_owned() };
    let disturbed = shown.disturbed.clone().map(|text| Stretch { from: begin, to: end, text });
    let points = columns.iter().flat_map(Column::points).collect();
    let plot = Plot {
        x: Axis {
            title: "time in the trial, s".to_owned(),
            scale: Scale::Linear { low: first, high: end.max(first + 1e-9) },
            ticks: Ticks::In(1.0),
        },
        y: Axis::of_metric(series.metric, Scale::from_zero(values()), largest),
        lines: vec![Line { number: 0, kind: LineKind::Bare, points, intervals: Vec::new() }],
        marks: shown.shifts.iter().map(|shift| mark(series, shift, begin)).collect(),
        stretches: (begin > first).then(|| time(begin)).into_iter().chain(disturbed).collect(),
        spots: Vec::new(),
        keys: Vec::new(),
    };
    let mut data = Data::new(["result", "trial", "start_s", "end_s", "least", "most", "warmup"]);
    for column in &columns {
        data.push([
            Some(shown.result.to_owned()),
            Some(shown.trial.to_string()),
            number(Some(column.start)),
            number(Some(column.end)),
            number(Some(column.least)),
            number(Some(column.most)),
            Some(column.warmup.to_string()),
        ]);
    }
    Chart {
        kind: KIND,
        title: format!("{}: {} over time, trial {}", shown.label, series.what, shown.trial + 1),
        about: about(series, &shown.shifts),
        drawing: Drawing::Plots(vec![plot]),
        data,
        plain: None,
    }
}

fn trial<'a>(record: &'a RunRecord, result: &ResultSummary) -> Option<&'a Trial> {
    let mut trials: Vec<&Trial> =
        record.trials.iter().filter(|trial| trial.result == result.id && trial.arm == Arm::Measure).collect();
    let jumps = |trial: &Trial| result.shifts.iter().any(|shift| shift.trial == trial.index);
    trials.sort_by_key(|trial| (!jumps(trial), trial.block));
    trials.first().copied()
}

fn mark(series: &TimeSeries, shift: &ResultShift, begin: f64) -> Mark {
    let value = |value: f64| phrases::value(series.metric, value).replace(GLUE, " ");
    let [before, after] = [shift.shift.before, shift.shift.after].map(value);
    Mark { at: begin + shift.shift.at.seconds(), text: format!("{before} to {after}") }
}

fn disturbance(trial: &Trial) -> Option<String> {
    trial.warnings.iter().find_map(|warning| match warning {
        ValidityWarning::Disturbed { share, .. } => {
            Some(format!("disturbed: other work used {} of the CPUs", Share(*share)).replace(GLUE, " "))
        }
        _ => None,
    })
}

fn about(series: &TimeSeries, shifts: &[&ResultShift]) -> String {
    let values = || series.samples.iter().filter(|sample| !sample.warmup).map(|sample| sample.value);
    let value = |value: f64| phrases::value(series.metric, value);
    let jumps = match shifts {
        [] => "no level shift".to_owned(),
        shifts => {
            let phrase = shifts.iter().map(|shift| {
                format!(
                    "from {} to {} at {}",
                    value(shift.shift.before),
                    value(shift.shift.after),
                    shift.shift.at
                )
            });
            format!("level shift {}", phrase.collect::<Vec<_>>().join(", "))
        }
    };
    let [least, most] = [values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max)].map(value);
    format!("{} intervals between {least} and {most}, {jumps}.", series.samples.len()).replace(GLUE, " ")
}

/// A single sample, or the minimum and maximum of several.
struct Column {
    start: f64,
    end: f64,
    least: f64,
    most: f64,
    warmup: bool,
}

impl Column {
    fn points(&self) -> Vec<(f64, f64)> {
        let middle = (self.start + self.end) / 2.0;
        if self.least == self.most {
            vec![(middle, self.most)]
        } else {
            vec![(middle, self.least), (middle, self.most)]
        }
    }
}

fn columns(samples: &[TimeSample]) -> Vec<Column> {
    let each = samples.len().div_ceil(COLUMNS).max(1);
    let column = |samples: &[TimeSample]| Column {
        start: samples.first().map_or(0.0, |sample| sample.start),
        end: samples.last().map_or(0.0, |sample| sample.end),
        least: samples.iter().map(|sample| sample.value).fold(f64::INFINITY, f64::min),
        most: samples.iter().map(|sample| sample.value).fold(f64::NEG_INFINITY, f64::max),
        warmup: samples.iter().all(|sample| sample.warmup),
    };
    samples.chunks(each).map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart;

    /// Ten samples per second for more than a day.
    #[test]
    fn chart_of_a_million_samples_is_below_200_kb() {
        let sample = |index: usize| TimeSample {
            start: index as f64 / 10.0,
            end: (index as f64 + 1.0) / 10.0,
            value: 1e10 + (index * 7_919 % 1_000_003) as f64 * 1e4,
            warmup: index < 100,
        };
        let samples = (0..1_000_000).map(sample).collect();
        let series = TimeSeries { what: "throughput", metric: workload::Metric::Throughput, samples };
        let (label, shifts, disturbed) = ("a".to_owned(), Vec::new(), None);
        let chart = of_series(&series, &Shown { result: "a", trial: 0, label, shifts, disturbed });
        let shown = chart::inline(&chart, chart::PAGE, "c1") + &chart::inline(&chart, chart::NARROW, "n1");
        for drawn in [chart::file(&chart, chart::Theme::Auto), shown] {
            assert!(drawn.len() < 200 << 10 && drawn.len() > 10 << 10, "{} bytes", drawn.len());
        }
        assert!(chart.csv().lines().count() <= COLUMNS + 1);
    }

    #[test]
    fn draws_shortest_spike_of_a_million_samples() {
        let sample = |index: usize| TimeSample {
            start: index as f64,
            end: index as f64 + 1.0,
            value: if index == 654_321 { 99.0 } else { 1.0 },
            warmup: false,
        };
        let columns = columns(&(0..1_000_000).map(sample).collect::<Vec<_>>());
        assert!(columns.len() <= COLUMNS);
        let spikes: Vec<&Column> = columns.iter().filter(|column| column.most == 99.0).collect();
        assert!(spikes.len() == 1 && spikes[0].least == 1.0 && spikes[0].points().len() == 2);
    }
}
