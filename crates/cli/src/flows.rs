//! Both ends' records of each connection, put together.

use ::workload::{Flow, StreamData};
use traffic::FlowOutcome;

/// The connections, from what this end and the server recorded.
pub(crate) fn both_ends(here: &[FlowOutcome], there: &[FlowOutcome]) -> StreamData {
    let mut flows: Vec<Flow> = here.iter().map(|flow| pair(flow, there)).collect();
    flows.sort_by_key(|flow| (flow.direction, flow.id));
    StreamData { flows }
}

/// An end that told nothing has no intervals.
fn pair(flow: &FlowOutcome, there: &[FlowOutcome]) -> Flow {
    let (id, direction) = (flow.id, flow.direction);
    let other = there.iter().find(|other| (other.id, other.direction) == (id, direction));
    let other = other.map(|other| other.series.clone()).unwrap_or_default();
    Flow::of_ends(id, direction, flow.series.clone(), other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::workload::{Direction, EndSeries, Interval};
    use units::{Bytes, Nanos};

    fn end(id: u32, direction: Direction, bytes: u64) -> FlowOutcome {
        let interval = Interval {
            start: Nanos(0),
            end: Nanos::from_secs(1),
            bytes: Bytes(bytes),
            warmup: false,
            tcp: None,
            datagrams: None,
        };
        FlowOutcome { id, direction, series: EndSeries { intervals: vec![interval], ..EndSeries::default() } }
    }

    #[test]
    fn the_client_sends_forward_and_receives_in_reverse() {
        let here =
            [end(0, Direction::Reverse, 1), end(0, Direction::Forward, 2), end(1, Direction::Forward, 3)];
        let there = [end(0, Direction::Forward, 4), end(0, Direction::Reverse, 5)];
        let data = both_ends(&here, &there);
        let seen: Vec<_> =
            data.flows.iter().map(|flow| (flow.id, flow.sender.bytes().0, flow.receiver.bytes().0)).collect();
        assert_eq!(
            seen,
            [(0, 2, 4), (1, 3, 0), (0, 5, 1)],
            "of the second forward one the server told nothing"
        );
    }
}
