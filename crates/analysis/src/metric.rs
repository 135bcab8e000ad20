//! The one value by which a trial is judged. Must not know other trials.

use findings::Metric;
use load::{Direction, Load};
use samples::{EndSeries, Flow, Measurement};

/// What a load is judged by.
pub(crate) fn of(load: &Load) -> Metric {
    match load {
        Load::Stream(_) => Metric::Throughput,
        Load::PingPong(_) => Metric::RoundTrip,
        Load::Connect(_) => Metric::ConnectionRate,
    }
}

/// The trial's value in the metric's unit; `None` when nothing was measured or something else was.
pub(crate) fn value(measurement: &Measurement, metric: Metric) -> Option<f64> {
    let value = match (measurement, metric) {
        (Measurement::Stream(data), Metric::Throughput) => received(&data.flows, None)?,
        (Measurement::PingPong(data), Metric::RoundTrip) => data.round_trips.quantile(0.5)?.0 as f64,
        (Measurement::Connect(data), Metric::ConnectionRate) => data.rate()?,
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
