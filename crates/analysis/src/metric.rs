//! The rates of a stream's ends and directions. The value by which a trial is judged is `samples`' own.
//! Must not know other trials.

use workload::{Direction, EndSeries, Flow};

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
