//! How long a message of an agent may be, by what it was asked: a guest may be anybody's, and what it sends is held in memory.
//! Must not know what a message says.

use protocol::{MAX_LINE, Order};
use scenario::Plan;
use workload::{Metric, WorkloadSettings};

/// Greetings, answers without numbers, the state of some devices.
pub(crate) const USUAL: usize = 256 << 10;
/// A report without its series: what each CPU of a large machine did.
const REPORT: usize = 1 << 20;
/// One interval of a stream's connection, every number as long as it can be.
const SAMPLE: usize = 1 << 10;
/// One interval's histogram, of times spread as wide as they are told apart.
const HISTOGRAM: usize = 32 << 10;
/// Intervals that may come beyond those of the time that was asked: ends wait for each other.
const FURTHER: u64 = 16;
/// So many messages wait to be heard, of all agents together. Each agent waits until its last one was heard.
pub(crate) const WAITING: usize = 2;

/// What the answer to an order may take.
pub(crate) fn answer_to(order: &Order, served: Option<&WorkloadSettings>) -> usize {
    match order {
        Order::Run(run) => report_of(&run.load),
        Order::Collect { .. } => served.map_or(MAX_LINE, report_of),
        Order::Observe(_) | Order::Observed { .. } => MAX_LINE,
        _ => USUAL,
    }
}

/// What one message of whoever conducts this plan elsewhere may take: a trial is what both ends report.
pub(crate) fn conducted(plan: &Plan) -> usize {
    let longest = plan.cells.iter().map(|cell| report_of(&cell.load)).max().unwrap_or(0);
    longest.saturating_mul(3).saturating_add(REPORT).min(MAX_LINE)
}

fn report_of(load: &WorkloadSettings) -> usize {
    let kind = load.kind();
    // How long a number of bytes takes nobody knows.
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
    fn an_answer_may_be_as_long_as_what_was_asked_and_no_longer() {
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
