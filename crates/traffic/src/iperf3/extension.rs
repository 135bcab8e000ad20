//! What one plumb tells another in iperf3's results: every connection interval by interval, and its threads.
//!
//! iperf3 does not look at it. What is too long for the other end is left out. Pure.

use load::Direction;
use samples::{EndSeries, ThreadCpu};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ends::{FlowOutcome, Outcome};

/// The longest that a server tells, in bytes of JSON.
pub(super) const FROM_SERVER: usize = 4 << 20;

const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Told {
    version: u32,
    flows: Vec<Flow>,
    threads: Vec<ThreadCpu>,
}

#[derive(Serialize, Deserialize)]
struct Flow {
    id: u32,
    direction: Direction,
    series: EndSeries,
}

/// `None` where it would be longer than `limit`.
pub(super) fn to_value(outcome: &Outcome, limit: usize) -> Option<Value> {
    let flow =
        |flow: &FlowOutcome| Flow { id: flow.id, direction: flow.direction, series: flow.series.clone() };
    let flows = outcome.flows.iter().map(flow).collect();
    let told = Told { version: VERSION, flows, threads: outcome.threads.clone() };
    let value = serde_json::to_value(told).ok()?;
    (value.to_string().len() <= limit).then_some(value)
}

/// `None` for anything that this version would not have told.
pub(super) fn from_value(value: Value) -> Option<Outcome> {
    let told: Told = serde_json::from_value(value).ok()?;
    let flow = |flow: Flow| FlowOutcome { id: flow.id, direction: flow.direction, series: flow.series };
    let flows = told.flows.into_iter().map(flow).collect();
    (told.version == VERSION).then_some(Outcome { flows, threads: told.threads, ..Outcome::default() })
}

#[cfg(test)]
mod tests {
    use samples::Interval;
    use units::{Bytes, Nanos};

    use super::*;

    fn outcome() -> Outcome {
        let interval = Interval {
            start: Nanos(0),
            end: Nanos(5),
            bytes: Bytes(7),
            warmup: false,
            tcp: None,
            datagrams: None,
        };
        let series = EndSeries { intervals: vec![interval], ..EndSeries::default() };
        let flows = vec![FlowOutcome { id: 2, direction: Direction::Reverse, series }];
        Outcome { flows, ..Outcome::default() }
    }

    #[test]
    fn what_was_told_is_understood() {
        let value = to_value(&outcome(), FROM_SERVER).expect("short");
        assert_eq!(from_value(value), Some(outcome()));
    }

    #[test]
    fn what_is_too_long_or_of_another_version_is_left_out() {
        assert_eq!(to_value(&outcome(), 100), None);
        let mut value = to_value(&outcome(), FROM_SERVER).expect("short");
        value["version"] = 2.into();
        assert_eq!(from_value(value), None);
        assert_eq!(from_value(Value::Null), None);
    }
}
