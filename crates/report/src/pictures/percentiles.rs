//! Latency percentiles on an axis where each additional nine takes equal width, which makes the tail visible.
//! Overlays several results, or a closed and an open loop.

use findings::{ConnectSummary, Distribution, LatencySummary, ResultSummary};
use workload::Metric;

use super::columns::number;
use crate::{
    chart::{Axis, Chart, Data, Drawing, Key, Line, LineKind, Plot, Scale, Ticks},
    labels, phrases,
    sections::{Source, latency::distributions, percentiles::TitledDistribution},
    text::GLUE,
};

pub(super) const KIND: &str = "percentiles";

const MOST: usize = 7;

type Timed<'a> = (&'a ResultSummary, TitledDistribution<'a>);

pub(super) fn build(source: &Source<'_>) -> Vec<Chart> {
    charts(source, |_| true)
}

pub(crate) fn charts(source: &Source<'_>, wanted: impl Fn(&ResultSummary) -> bool) -> Vec<Chart> {
    let findings = source.findings;
    let of_workload = |workload: &&str| -> Vec<Chart> {
        let results =
            findings.results.iter().filter(|result| result.workload == **workload && wanted(result));
        let timed: Vec<Timed<'_>> = results.flat_map(timed).collect();
        timed.chunks(MOST).map(|timed| chart(workload, timed)).collect()
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

fn chart(workload: &str, timed: &[Timed<'_>]) -> Chart {
    let curves: Vec<Vec<(f64, f64)>> = timed.iter().map(|(_, (_, times))| curve(times)).collect();
    let all = || curves.iter().flatten();
    let deepest = all().map(|(share, _)| *share).fold(0.0, f64::max);
    let nines = -(1.0 - deepest).max(1e-9).log10() + 0.1;
    let line = |(number, points): (usize, &Vec<(f64, f64)>)| Line {
        number,
        kind: LineKind::Bare,
        points: points.clone(),
        intervals: Vec::new(),
    };
    let dots = |(number, (_, (_, times))): (usize, &Timed<'_>)| Line {
        number,
        kind: LineKind::Dots,
        points: percentiles(times),
        intervals: Vec::new(),
    };
    let lines = curves.iter().enumerate().map(line).chain(timed.iter().enumerate().map(dots)).collect();
    let values = || all().map(|(_, time)| *time);
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let y = if least > 0.0 && most / least > 8.0 {
        Axis::log(Metric::RoundTrip, "latency", values())
    } else {
        Axis::of_metric(Metric::Latency, Scale::from_zero(values()), most)
    };
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
    let keys = timed.iter().enumerate().map(|(number, (_, (name, _)))| Key::Line(number, name.clone()));
    Chart {
        kind: KIND,
        title: format!("{workload}: latency percentiles"),
        about: timed.iter().map(|(_, named)| phrase(named)).collect::<Vec<_>>().join("; "),
        drawing: Drawing::Plots(vec![Plot {
            x: Axis {
                title: "percentile".to_owned(),
                scale: Scale::Tail { nines },
                ticks: Ticks::Percentiles,
            },
            y,
            lines,
            marks: Vec::new(),
            stretches: Vec::new(),
            spots: Vec::new(),
            keys: keys.collect(),
        }]),
        data,
        plain: None,
    }
}

fn phrase((name, times): &TitledDistribution<'_>) -> String {
    let at = |share: f64| times.at(share).map_or_else(|| "unknown".to_owned(), |time| time.to_string());
    format!("{name}: median {}, 99 % {}, longest {}", at(0.5), at(0.99), times.max).replace(GLUE, " ")
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
    // The last bucket holds all remaining samples.
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
    // Buckets are coarser than percentiles, so the curve has to be made monotonic.
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
