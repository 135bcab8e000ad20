//! Shows a trial's rate and round trips over time, with the warm-up, level shifts and CPU contention. Long
//! series are reduced to the minimum and maximum per pixel, which preserves short spikes.

use findings::{ResultShift, ResultSummary};
use samples::{Arm, RunRecord, Trial, ValidityWarning};
use units::Share;

use super::columns::number;
use crate::{
    chart::{Mark, Stretch, *},
    kind::{self, TimeSample, TimeSeries},
    phrases, quantity,
    sections::Source,
    text::GLUE,
};

pub(super) const KIND: &str = "time-series";

const COLUMNS: usize = 600;

pub(super) fn build(source: &Source<'_>) -> Vec<Chart> {
    let of_result = |result| chart(source.record?, result);
    source.findings.results.iter().filter_map(of_result).collect()
}

/// Draws the first trial with a level shift, or else the first trial. Returns `None` for too few stored intervals.
pub(crate) fn chart(record: &RunRecord, result: &ResultSummary) -> Option<Chart> {
    let trial = trial(record, result)?;
    let shown = Shown {
        result: &result.id,
        trial: trial.index,
        label: result.label.clone(),
        shifts: result.shifts.iter().filter(|shift| shift.trial == trial.index).collect(),
        disturbed: disturbance(trial),
    };
    let series = kind::series(&trial.measurement);
    (!series.is_empty()).then(|| of_series(&series, &shown))
}

struct Shown<'a> {
    result: &'a str,
    trial: u32,
    label: String,
    shifts: Vec<&'a ResultShift>,
    disturbed: Option<String>,
}

fn of_series(all: &[TimeSeries], shown: &Shown<'_>) -> Chart {
    let first = &all[0];
    let drawn: Vec<Reduced<'_>> = all.iter().map(Reduced::of).collect();
    let (from, to) = span(drawn.iter());
    let begin = first.samples.iter().find(|sample| !sample.warmup).map_or(0.0, |sample| sample.start);
    let warm_up = (begin > from).then(|| Stretch { from, to: begin, text: "warm-up".to_owned() });
    let disturbed = shown.disturbed.clone().map(|text| Stretch { from: begin, to, text });
    let stretches: Vec<Stretch> = warm_up.into_iter().chain(disturbed).collect();
    let mut plots: Vec<Plot> = drawn
        .iter()
        .map(|one| Plot { stretches: stretches.clone(), ..plot(&[(0, one)], (from, to)) })
        .collect();
    plots[0].marks = shown.shifts.iter().map(|shift| mark(first, shift, begin)).collect();
    let mut data = Data::new(["result", "trial"].into_iter().chain(COLUMN));
    drawn.iter().for_each(|one| one.push_into(&mut data, &[shown.result, &shown.trial.to_string()]));
    let quantities: Vec<&str> = all.iter().map(|series| series.what).collect();
    Chart {
        kind: KIND,
        title: format!("{}: {} over time, trial {}", shown.label, quantities.join(" and "), shown.trial + 1),
        about: about(first, &shown.shifts),
        drawing: Drawing::Plots(plots),
        data,
        plain: None,
    }
}

/// A series with at most one column per pixel.
pub(super) struct Reduced<'a> {
    pub(super) series: &'a TimeSeries,
    columns: Vec<Column>,
}

pub(super) const COLUMN: [&str; 6] = ["series", "start_s", "end_s", "least", "most", "warmup"];

impl<'a> Reduced<'a> {
    pub(super) fn of(series: &'a TimeSeries) -> Self {
        Self { series, columns: columns(&series.samples) }
    }

    pub(super) fn push_into(&self, data: &mut Data, place: &[&str]) {
        for column in &self.columns {
            let numbers = [column.start, column.end, column.least, column.most].map(|it| number(Some(it)));
            let place = place.iter().copied().chain([self.series.what]).map(|word| Some(word.to_owned()));
            data.push(place.chain(numbers).chain([Some(column.warmup.to_string())]));
        }
    }
}

pub(super) fn span<'a>(all: impl Iterator<Item = &'a Reduced<'a>>) -> (f64, f64) {
    let wider = |(from, to): (f64, f64), column: &Column| (from.min(column.start), to.max(column.end));
    let (from, to) = all.flat_map(|one| &one.columns).fold((f64::INFINITY, 0.0), wider);
    (from, to.max(from + 1e-9))
}

/// Draws numbered series of the same quantity in one plot.
pub(super) fn plot(all: &[(usize, &Reduced<'_>)], (from, to): (f64, f64)) -> Plot {
    let values =
        || all.iter().flat_map(|(_, one)| &one.columns).flat_map(|column| [column.least, column.most]);
    let (series, largest) = (all[0].1.series, values().fold(0.0, f64::max));
    let line = |(number, one): &(usize, &Reduced<'_>)| {
        let points = one.columns.iter().flat_map(Column::points).collect();
        Line { number: *number, kind: LineKind::Bare, points, intervals: Vec::new() }
    };
    Plot {
        x: Axis {
            title: "time in the trial, s".to_owned(),
            scale: Scale::Linear { low: from, high: to },
            ticks: Ticks::In(1.0),
        },
        y: Axis::of_unit(
            series.what,
            quantity::Scale::of(series.metric, largest),
            Scale::from_zero(values()),
        ),
        lines: all.iter().map(line).collect(),
        marks: Vec::new(),
        stretches: Vec::new(),
        spots: Vec::new(),
        keys: Vec::new(),
    }
}

pub(super) fn trial<'a>(record: &'a RunRecord, result: &ResultSummary) -> Option<&'a Trial> {
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

pub(super) fn about(series: &TimeSeries, shifts: &[&ResultShift]) -> String {
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
        let chart = of_series(&[series], &Shown { result: "a", trial: 0, label, shifts, disturbed });
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
