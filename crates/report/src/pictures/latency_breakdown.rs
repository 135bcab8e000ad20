//! A waterfall chart of a round trip's latency by hop, grouped by host.

use findings::{LatencyBreakdown, Leg, ResultSummary, StepSummary};
use units::Share;
use workload::Metric;

use super::columns::number;
use crate::{chart::*, page::*, phrases, sections::Source, text::GLUE};

pub(super) const KIND: &str = "latency-breakdown";

pub(super) fn build(source: &Source<'_>) -> Vec<Chart> {
    let latency_breakdown = |result| Some((result, ResultSummary::latency_breakdown(result)?));
    let mut ways: Vec<(&ResultSummary, &LatencyBreakdown)> =
        source.findings.results.iter().filter_map(latency_breakdown).collect();
    ways.sort_by_key(|(_, latency_breakdown)| std::cmp::Reverse(latency_breakdown.steps.len()));
    ways.into_iter().filter_map(|(result, latency_breakdown)| chart(result, latency_breakdown)).collect()
}

pub(crate) fn chart(result: &ResultSummary, latency_breakdown: &LatencyBreakdown) -> Option<Chart> {
    let last = latency_breakdown.steps.last()?;
    let whole = whole(latency_breakdown);
    let mut rows: Vec<Row> = Vec::new();
    let mut host = String::new();
    for step in &latency_breakdown.steps {
        let next = host_of(step);
        if let Some(next) = next.filter(|next| **next != *host) {
            next.clone_into(&mut host);
            rows.push(Row { label: next.to_owned(), ..Row::default() });
        }
        rows.push(row(step, whole));
    }
    let end = (last.start + last.share).max(1.0) * whole;
    let mut data = Data::new(["result", "leg", "step", "up_to", "begins_share", "share", "p50_ns", "p99_ns"]);
    for step in &latency_breakdown.steps {
        data.push([
            Some(result.id.clone()),
            Some(leg(step.leg).to_owned()),
            Some(step.label.clone()),
            step.to.device.clone(),
            number(Some(step.start)),
            number(Some(step.share)),
            Some(step.p50.0.to_string()),
            Some(step.p99.0.to_string()),
        ]);
    }
    let mut phrase =
        latency_breakdown.steps.iter().map(|step| format!("{}: {}", step.label, step.p50).replace(GLUE, " "));
    let legs = [Leg::There, Leg::Server, Leg::Back];
    let is_there = |it: &Leg| latency_breakdown.steps.iter().any(|step| step.leg == *it);
    let key = |it: Leg| Key::Surface(paint(it), leg(it).replace('-', " "));
    Some(Chart {
        kind: KIND,
        title: format!("Latency breakdown: {}", result.label),
        about: format!(
            "Median time of each step of a round trip of {}. {}",
            phrases::value(Metric::RoundTrip, whole),
            phrase.join("; ")
        ),
        drawing: Drawing::Rows(Rows {
            axis: Axis::of_metric(Metric::RoundTrip, Scale::from_zero([end]), end),
            rows,
            keys: legs.into_iter().filter(is_there).map(key).collect(),
            reference: None,
        }),
        data,
        plain: None,
    })
}

fn whole(latency_breakdown: &LatencyBreakdown) -> f64 {
    let of_step = |step: &&StepSummary| step.share > 0.0;
    let step =
        latency_breakdown.steps.iter().filter(of_step).max_by(|one, other| one.share.total_cmp(&other.share));
    step.map_or(latency_breakdown.sum.0 as f64, |step| step.p50.0 as f64 / step.share)
}

fn host_of(step: &StepSummary) -> Option<&str> {
    let device = step.to.device.as_ref().or(step.from.device.as_ref())?;
    device.rsplit_once(':').map(|(host, _)| host).filter(|host| *host != "?")
}

fn row(step: &StepSummary, whole: f64) -> Row {
    let (from, to) = (step.start * whole, (step.start + step.share) * whole);
    let device = step.to.device.as_ref().and_then(|device| device.rsplit_once(':')).map(|(_, device)| device);
    let place = device.map(|device| format!(" → {device}")).unwrap_or_default();
    let text = Text::plain(step.p50.to_string()).and_faint(format!("  {}", Share(step.share)));
    Row {
        label: format!("{}{place}", step.label),
        pieces: vec![Piece { from, to, paint: paint(step.leg), is_unclear: false }],
        text,
        ..Row::default()
    }
}

const fn paint(leg: Leg) -> Paint {
    match leg {
        Leg::There => Paint::Of(0),
        Leg::Server => Paint::Of(6),
        Leg::Back => Paint::Of(4),
    }
}

const fn leg(leg: Leg) -> &'static str {
    match leg {
        Leg::There => "to-the-server",
        Leg::Server => "in-the-server",
        Leg::Back => "back",
    }
}
