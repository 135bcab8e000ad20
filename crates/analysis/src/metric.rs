//! The one value by which a trial is judged. Must not know other trials.

use findings::Metric;
use load::Direction;
use samples::{EndSeries, Flow, Measurement, Quantity, ReportedData};

/// What a trial is judged by.
pub(crate) fn of(measurement: &Measurement) -> Metric {
    match measurement {
        Measurement::Stream(_) => Metric::Throughput,
        Measurement::PingPong(_) => Metric::RoundTrip,
        Measurement::Connect(_) => Metric::ConnectionRate,
        Measurement::Reported(data) => reported(data).map_or(Metric::Count, |(metric, _)| metric),
    }
}

/// What a row of reported numbers is judged by: its first rate, else its first time, else its first number.
fn reported(data: &ReportedData) -> Option<(Metric, f64)> {
    let by = [
        (Quantity::BitRate, Metric::Throughput),
        (Quantity::Time, Metric::Latency),
        (Quantity::PerSecond, Metric::MessageRate),
        (Quantity::Count, Metric::Count),
        (Quantity::Plain, Metric::Count),
        (Quantity::Share, Metric::Count),
        (Quantity::Size, Metric::Count),
    ];
    by.into_iter().find_map(|(quantity, metric)| Some((metric, data.first(quantity)?.value)))
}

/// The trial's value in the metric's unit; `None` when nothing was measured or something else was.
pub(crate) fn value(measurement: &Measurement, metric: Metric) -> Option<f64> {
    let value = match (measurement, metric) {
        (Measurement::Stream(data), Metric::Throughput) => received(&data.flows, None)?,
        (Measurement::PingPong(data), Metric::RoundTrip) => data.round_trips.quantile(0.5)?.0 as f64,
        (Measurement::Connect(data), Metric::ConnectionRate) => data.rate()?,
        (Measurement::Reported(data), _) => reported(data).filter(|(own, _)| *own == metric)?.1,
        _ => return None,
    };
    value.is_finite().then_some(value)
}

/// What the receivers of a direction (or of all) got after the warm-up, in bits per second; `None` when
/// nothing flowed that way for any time.
pub(crate) fn received(flows: &[Flow], direction: Option<Direction>) -> Option<f64> {
    total(flows, direction, |flow| &flow.receiver)
}

/// What the senders' sockets took after the warm-up, in bits per second.
pub(crate) fn sent(flows: &[Flow]) -> Option<f64> {
    total(flows, None, |flow| &flow.sender)
}

fn total(flows: &[Flow], direction: Option<Direction>, end: fn(&Flow) -> &EndSeries) -> Option<f64> {
    let ends = || {
        flows
            .iter()
            .filter(move |flow| direction.is_none_or(|direction| flow.direction == direction))
            .map(end)
    };
    ends().any(|series| series.elapsed().0 > 0).then(|| EndSeries::rate_together(ends()).0)
}
