//! Limits the length of an agent's message, depending on the order that it answers. Messages are held in memory,
//! and guests are not trusted.

use protocol::{MAX_LINE, Order};
use scenario::Plan;
use workload::{Metric, WorkloadSettings};

/// Enough for greetings, replies without samples, and the state of a few devices.
pub(crate) const USUAL: usize = 256 << 10;
/// The maximum length of a report without its series. On a large machine, most of a report consists of times per CPU.
const REPORT: usize = 1 << 20;
/// The maximum length of a guest kernel's function list. A Debian kernel's list is 4 MiB long.
const SYMBOLS: usize = 32 << 20;
/// The length of one interval of a stream connection, if all its numbers have the maximum length.
const SAMPLE: usize = 1 << 10;
const HISTOGRAM: usize = 32 << 10;
/// The number of additional intervals. The two ends wait for each other, so they may record more intervals
/// than requested.
const FURTHER: u64 = 16;
/// The length of the queue for messages from all agents. While it is full, agents block.
pub(crate) const WAITING: usize = 2;

pub(crate) fn answer_to(order: &Order, served: Option<&WorkloadSettings>) -> usize {
    match order {
        Order::Run(run) => report_of(&run.load),
        Order::Collect { .. } => served.map_or(MAX_LINE, report_of),
        Order::Observe(_) | Order::Observed { .. } => MAX_LINE,
        _ => USUAL,
    }
}

/// The maximum length of a message from a nested run of this plan. A trial contains both ends' reports.
pub(crate) fn nested_run(plan: &Plan, counts: bool) -> usize {
    let longest = plan.results.iter().map(|result| report_of(&result.load)).max().unwrap_or(0);
    let trial = longest.saturating_mul(3).saturating_add(REPORT).min(MAX_LINE);
    if counts { trial.max(SYMBOLS) } else { trial }
}

fn report_of(load: &WorkloadSettings) -> usize {
    let kind = load.kind();
    let Some(flows) = kind.flows_for() else { return MAX_LINE };
    let intervals = flows.0 / kind.interval().0.max(1) + FURTHER;
    let each = if kind.metric() == Metric::Throughput { SAMPLE } else { HISTOGRAM };
    let series = (kind.threads() as u64).saturating_mul(intervals).saturating_mul(each as u64);
    REPORT.saturating_add(usize::try_from(series).unwrap_or(MAX_LINE)).min(MAX_LINE)
}

#[cfg(test)]
mod tests {
    use units::{Bytes, Nanos};
    use workload::{PingPongSettings, StreamSettings, Until};

    use super::*;

    #[test]
    fn limits_replies_by_order() {
        let second = Until::Elapsed(Nanos::from_secs(1));
        let stream = |streams, until| {
            WorkloadSettings::Stream(StreamSettings { streams, ..StreamSettings::new(until) })
        };
        let ping = WorkloadSettings::PingPong(PingPongSettings::new(Nanos::from_secs(2)));
        assert!(report_of(&stream(1, second)) < 2 << 20 && report_of(&ping) < 4 << 20);
        assert!(report_of(&stream(1024, second)) > 20 << 20);
        assert_eq!(report_of(&stream(1, Until::Sent(Bytes(1)))), MAX_LINE);
        assert_eq!(answer_to(&Order::Describe, None), USUAL);
    }
}
