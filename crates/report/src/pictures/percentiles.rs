//! Latency percentiles and the cumulative distribution. Each additional nine has the same width, so that the tail is
//! visible. Several results or runs, or a closed and an open loop, share a chart.

use findings::{ConnectSummary, Distribution, LatencySummary, ResultSummary};
use workload::Metric;

use super::columns::number;
use crate::{
    chart::*,
    labels, phrases,
    sections::{Source, latency::distributions, percentiles::TitledDistribution},
    text::GLUE,
};

pub(super) const KIND: &str = "percentiles";
pub(super) const CDF: &str = "cdf";

const MOST: usize = 7;

pub(super) type Timed<'a> = (&'a ResultSummary, TitledDistribution<'a>);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Times on the vertical axis.
    Percentiles,
    /// Shares on the vertical axis.
    Cdf,
}

pub(super) fn build(source: &Source<'_>) -> Vec<Chart> {
    charts(source, |_| true)
}

pub(super) fn build_cdf(source: &Source<'_>) -> Vec<Chart> {
    of_form(source, |_| true, Form::Cdf)
}

pub(crate) fn charts(source: &Source<'_>, wanted: impl Fn(&ResultSummary) -> bool) -> Vec<Chart> {
    of_form(source, wanted, Form::Percentiles)
}

fn of_form(source: &Source<'_>, wanted: impl Fn(&ResultSummary) -> bool, form: Form) -> Vec<Chart> {
    let findings = source.findings;
    let of_workload = |workload: &&str| -> Vec<Chart> {
        let results =
            findings.results.iter().filter(|result| result.workload == **workload && wanted(result));
        let timed: Vec<Timed<'_>> = results.flat_map(timed).collect();
        timed.chunks(MOST).map(|timed| chart(workload, timed, form)).collect()
    };
    labels::workloads(findings).iter().flat_map(of_workload).collect()
}

pub(super) fn timed(result: &ResultSummary) -> Vec<Timed<'_>> {
    let label = labels::result_in_workload(result);
    let named = match (LatencySummary::of(result), ConnectSummary::of(result)) {
        (Some(latency), _) => distributions(label, latency),
        (_, Some(connect)) => vec![
            (format!("{label}, connecting"), &connect.connects),
            (format!("{label}, whole exchange"), &connect.exchanges),
        ],
        _ => Vec::new(),
    };
    named.into_iter().filter(|(_, times)| times.count > 1).map(|named| (result, named)).collect()
}

pub(super) fn chart(title: &str, timed: &[Timed<'_>], form: Form) -> Chart {
    let curves: Vec<Vec<(f64, f64)>> = timed.iter().map(|(_, (_, times))| curve(times)).collect();
    let along = |points: Vec<(f64, f64)>| match form {
        Form::Percentiles => points,
        Form::Cdf => points.into_iter().map(|(share, time)| (time, share)).collect(),
    };
    let line = |number, kind, points| Line { number, kind, points: along(points), intervals: Vec::new() };
    let bare = curves.iter().enumerate().map(|(number, points)| line(number, LineKind::Bare, points.clone()));
    let dots = timed.iter().enumerate();
    let dots = dots.map(|(number, (_, (_, times)))| line(number, LineKind::Dots, percentiles(times)));
    let lines = bare.chain(dots).collect();
    let (shares, times) = axes(&curves, form);
    let (x, y) = if form == Form::Percentiles { (shares, times) } else { (times, shares) };
    let keys = timed.iter().enumerate().map(|(number, (_, (name, _)))| Key::Line(number, name.clone()));
    let (kind, what) = match form {
        Form::Percentiles => (KIND, "latency percentiles"),
        Form::Cdf => (CDF, "cumulative distribution of the latency"),
    };
    Chart {
        kind,
        title: format!("{title}: {what}"),
        about: timed.iter().map(|(_, named)| phrase(named)).collect::<Vec<_>>().join("; "),
        drawing: Drawing::Plots(vec![Plot {
            x,
            y,
            lines,
            marks: Vec::new(),
            stretches: Vec::new(),
            spots: Vec::new(),
            keys: keys.collect(),
        }]),
        data: data(&curves, timed),
        plain: None,
    }
}

fn axes(curves: &[Vec<(f64, f64)>], form: Form) -> (Axis, Axis) {
    let all = || curves.iter().flatten();
    let deepest = all().map(|(share, _)| *share).fold(0.0, f64::max);
    let scale = Scale::Tail { nines: -(1.0 - deepest).max(1e-9).log10() + 0.1 };
    let shares = match form {
        Form::Percentiles => Axis { title: "percentile".to_owned(), scale, ticks: Ticks::Percentiles },
        Form::Cdf => Axis { title: "share of all".to_owned(), scale, ticks: Ticks::Percent },
    };
    let values = || all().map(|(_, time)| *time);
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let times = if least > 0.0 && most / least > 8.0 {
        Axis::log(Metric::RoundTrip, "latency", values())
    } else {
        Axis::of_metric(Metric::Latency, Scale::from_zero(values()), most)
    };
    (shares, times)
}

fn data(curves: &[Vec<(f64, f64)>], timed: &[Timed<'_>]) -> Data {
    let mut data = Data::new(["result", "distribution", "share", "time_ns"]);
    for (curve, (result, (name, _))) in curves.iter().zip(timed) {
        for (share, time) in curve {
            data.push([
                Some(result.id.clone()),
                Some(name.clone()),
                number(Some(*share)),
                number(Some(*time)),
            ]);
        }
    }
    data
}

fn phrase((name, times): &TitledDistribution<'_>) -> String {
    let within = times.at(0.99).map(|time| format!("99 % within {time}, ")).unwrap_or_default();
    format!("{name}: {within}longest {}", times.max).replace(GLUE, " ")
}

fn percentiles(times: &Distribution) -> Vec<(f64, f64)> {
    let longest = (1.0 - 1.0 / times.count.max(2) as f64, times.max.0 as f64);
    let known = times.percentiles.iter().map(|it| (it.share, it.time.0 as f64));
    known.filter(|(share, _)| *share < longest.0).chain([longest]).collect()
}

fn curve(times: &Distribution) -> Vec<(f64, f64)> {
    let percentiles = percentiles(times);
    let deepest = percentiles.last().map_or(0.0, |(share, _)| *share);
    let mut points = percentiles;
    let mut below = 0;
    // Skip the last bucket: it contains all remaining samples.
    let (_, shape) = times.buckets.split_last().map_or((None, &[][..]), |(last, shape)| (Some(last), shape));
    for bucket in shape {
        below += bucket.count;
        let share = below as f64 / times.count.max(1) as f64;
        let is_known = points.iter().any(|(known, _)| (known - share).abs() < 1e-9);
        if share < deepest && !is_known {
            points.push((share, bucket.to.0 as f64));
        }
    }
    points.push((0.0, times.min.0 as f64));
    points.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
    // Buckets are coarser than percentiles, so remove points at which the curve would fall.
    let mut longest: f64 = 0.0;
    points.retain(|(_, time)| {
        let rises = *time >= longest;
        longest = longest.max(*time);
        rises
    });
    points
}

pub(super) fn marked(times: &Distribution, share: f64) -> Option<(f64, String)> {
    let time = times.at(share)?;
    let percent = share * 100.0;
    Some((
        time.0 as f64,
        format!("p{percent} {}", phrases::value(Metric::RoundTrip, time.0 as f64).replace(GLUE, " ")),
    ))
}
