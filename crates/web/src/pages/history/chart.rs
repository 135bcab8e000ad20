//! An SVG chart of a result across runs (<https://www.w3.org/TR/SVG2/>), with a mark at each level shift.

use std::sync::Arc;

use findings::{Estimate, ResultHistory, RunResults};
use maud::{Markup, html};
use report::Scale;

use super::changes;
use crate::{links, shell::short, time};

/// One drawing for large screens and one for phones: class, width (scaled to the page) and number of dates. The style
/// sheet shows only one of them.
const DRAWINGS: [(&str, f64, usize); 2] = [("page", 760.0, 6), ("phone", 360.0, 2)];
const HEIGHT: f64 = 190.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 28.0;
const TICKS: f64 = 4.0;
/// Margin above and below the values, as a fraction of their range.
const ROOM: f64 = 0.08;
/// Minimum range of the axis, as a fraction of the largest value. Otherwise, noise could fill the whole chart.
const LEAST_SPAN: f64 = 0.1;

struct Axes {
    width: f64,
    low: f64,
    high: f64,
    runs: usize,
}

pub(super) fn drawn(history: &ResultHistory, runs: &[Arc<RunResults>], scale: Scale) -> Markup {
    html! {
        @for (class, width, dates) in DRAWINGS {
            (drawing(history, runs, scale, class, &Axes::of(&history.points, runs.len(), width), dates))
        }
    }
}

fn drawing(
    history: &ResultHistory,
    runs: &[Arc<RunResults>],
    scale: Scale,
    class: &str,
    axes: &Axes,
    dates: usize,
) -> Markup {
    let days = [runs.first(), runs.last()].map(|run| run.map(|run| time::day(run.started)));
    let begun = if days[0] == days[1] { time::second_of_day } else { time::day };
    let right = axes.width - RIGHT;
    html! {
        svg.chart.(class) viewBox={ "0 0 " (axes.width) " " (HEIGHT) } role="group" aria-label=(spoken(history, scale)) {
            @for tick in axes.ticks() {
                line.grid x1=(LEFT) x2=(right) y1=(at(axes.y(tick))) y2=(at(axes.y(tick))) {}
                text.tick x=(LEFT - 8.0) y=(at(axes.y(tick) + 4.0)) text-anchor="end" { (scale.quantity(tick)) }
            }
            @for (place, run) in runs.iter().enumerate().step_by(runs.len().div_ceil(dates).max(1)) {
                text.tick x=(at(axes.x(place))) y=(HEIGHT - 8.0) text-anchor="middle" { (begun(run.started)) }
            }
            @for pair in history.levels.windows(2) {
                @let between = f64::midpoint(axes.x(pair[0].last), axes.x(pair[1].first));
                line.shift x1=(at(between)) x2=(at(between)) y1=(TOP) y2=(HEIGHT - BOTTOM) {}
            }
            @for level in &history.levels {
                line.level x1=(at(axes.x(level.first) - axes.half_step())) x2=(at(axes.x(level.last) + axes.half_step()))
                    y1=(at(axes.y(level.value))) y2=(at(axes.y(level.value))) {}
            }
            @for (place, value) in &history.points { (point(axes, *place, value, runs, scale)) }
        }
    }
}

fn point(axes: &Axes, place: usize, value: &Estimate, runs: &[Arc<RunResults>], scale: Scale) -> Markup {
    let (x, y, run) = (axes.x(place), axes.y(value.estimate), &runs[place]);
    let changed = changes(runs, place);
    let range = value.interval.map(|interval| format!(" ({})", scale.range(&interval))).unwrap_or_default();
    let new = if changed.is_empty() { String::new() } else { format!("; new: {}", changed.join(", ")) };
    let title = format!("{}: {}{range}{new}", short(&run.run.0), scale.quantity(value.estimate));
    html! {
        // The Tab key skips these links, because the table below repeats them.
        a href=(links::run(&run.run)) tabindex="-1" aria-label=(title) {
            title { (title) }
            @if let Some(interval) = value.interval {
                @let (low, high) = (axes.y(interval.low), axes.y(interval.high));
                path.interval d={ "M" (at(x - 4.0)) " " (at(high)) "h8M" (at(x)) " " (at(high)) "V" (at(low)) "M" (at(x - 4.0)) " " (at(low)) "h8" } {}
            }
            circle class=(if changed.is_empty() { "run" } else { "run changed" }) cx=(at(x)) cy=(at(y)) r="3.5" {}
        }
    }
}

fn spoken(history: &ResultHistory, scale: Scale) -> String {
    let levels: Vec<String> = history.levels.iter().map(|level| scale.quantity(level.value)).collect();
    format!("{} runs; levels: {}", history.points.len(), levels.join(", then "))
}

fn at(place: f64) -> String {
    format!("{place:.1}")
}

impl Axes {
    fn of(points: &[(usize, Estimate)], runs: usize, width: f64) -> Self {
        let ends = |value: &Estimate| {
            let range = value.interval.map_or((value.estimate, value.estimate), |it| (it.low, it.high));
            [range.0.min(value.estimate), range.1.max(value.estimate)]
        };
        let all = || points.iter().flat_map(|(_, value)| ends(value)).filter(|end| end.is_finite());
        let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
        if low > high {
            return Self { width, low: 0.0, high: 1.0, runs };
        }
        let span = (high - low).max(high.abs() * LEAST_SPAN).max(f64::MIN_POSITIVE);
        let middle = f64::midpoint(low, high);
        let reach = span * (0.5 + ROOM);
        // Values are never negative.
        Self { width, low: (middle - reach).max(0.0), high: middle + reach, runs }
    }

    fn ticks(&self) -> Vec<f64> {
        (0..=TICKS as usize).map(|tick| self.low + (self.high - self.low) * tick as f64 / TICKS).collect()
    }

    fn step(&self) -> f64 {
        (self.width - LEFT - RIGHT) / self.runs.max(1) as f64
    }

    fn half_step(&self) -> f64 {
        self.step() / 2.0
    }

    fn x(&self, place: usize) -> f64 {
        LEFT + self.step() * (place as f64 + 0.5)
    }

    fn y(&self, value: f64) -> f64 {
        let share = ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        let share = if share.is_nan() { 0.0 } else { share };
        HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)
    }
}

#[cfg(test)]
mod tests {
    use findings::{Basis, Interval, RunLevel, RunResult};
    use samples::{RunId, UnixMillis};

    use super::*;

    fn value(median: f64) -> Estimate {
        let interval = Some(Interval { low: median * 0.95, high: median * 1.05, confidence: 0.95 });
        Estimate {
            estimate: median,
            mean: median,
            deviation: None,
            interval,
            trials: 7,
            outages: 0,
            basis: Basis::Trials,
        }
    }

    fn picture(medians: &[f64], levels: Vec<RunLevel>) -> String {
        let metric = findings::Metric::Throughput;
        let newest = RunResult {
            result: "wire/bulk".into(),
            path: "wire".into(),
            workload: "bulk".into(),
            levels: std::collections::BTreeMap::new(),
            metric,
            value: value(medians[medians.len() - 1]),
            disturbed: false,
        };
        let run = |at: usize| RunResults {
            run: RunId(format!("quick-{at}<script>")),
            started: UnixMillis(1_795_260_615_000 + at as i64 * 86_400_000),
            tool: "0.1.0".into(),
            kernel: Some(if at < 2 { "6.1" } else { "6.12" }.into()),
            results: vec![newest.clone()],
        };
        let runs: Vec<_> = (0..medians.len()).map(|at| Arc::new(run(at))).collect();
        let points = medians.iter().copied().map(value).enumerate().collect();
        let history = ResultHistory { newest, points, levels, drift: None, expected: None };
        let drawings = drawn(&history, &runs, Scale::of(metric, 1e10)).into_string();
        let [page, phone] = drawings.split_inclusive("</svg>").collect::<Vec<_>>()[..] else {
            panic!("{drawings}")
        };
        assert_eq!(page.matches("<circle").count(), phone.matches("<circle").count());
        page.to_owned()
    }

    fn numbers(picture: &str, element: &str, attribute: &str) -> Vec<f64> {
        let elements = picture.split('<').filter(|part| part.starts_with(element));
        let value =
            |part: &str| part.split(&format!(" {attribute}=\"")).nth(1)?.split('"').next()?.parse().ok();
        elements.filter_map(value).collect()
    }

    #[test]
    fn points_follow_values_and_stay_within_chart() {
        let levels =
            vec![RunLevel { first: 0, last: 1, value: 1e10 }, RunLevel { first: 2, last: 3, value: 2e10 }];
        let picture = picture(&[1e10, 1.1e10, 2e10, 1.9e10], levels);
        let (x, y) = (numbers(&picture, "circle", "cx"), numbers(&picture, "circle", "cy"));
        assert!(y[0] > y[1] && y[1] > y[3] && y[3] > y[2], "{y:?}");
        assert!(
            x.iter().all(|x| (LEFT..DRAWINGS[0].1 - RIGHT).contains(x))
                && y.iter().all(|y| (TOP..HEIGHT).contains(y))
        );
        let shift = numbers(&picture, "line class=\"shift\"", "x1");
        assert!(shift.len() == 1 && x[1] < shift[0] && shift[0] < x[2], "{shift:?}");
        assert_eq!(picture.matches("class=\"level\"").count(), 2);
    }

    #[test]
    fn marks_new_kernel_and_escapes_names() {
        let picture = picture(&[1e10; 4], vec![RunLevel { first: 0, last: 3, value: 1e10 }]);
        assert_eq!(picture.matches("run changed").count(), 1);
        assert!(picture.contains("new: kernel 6.12") && !picture.contains("<script>"), "{picture}");
    }

    #[test]
    fn handles_one_run_no_runs_and_non_finite_values() {
        for medians in [vec![0.0], vec![f64::NAN], vec![f64::INFINITY, 1.0]] {
            let picture = picture(&medians, Vec::new());
            assert!(!picture.contains("NaN\"") && !picture.contains("inf\""), "{picture}");
        }
    }
}
