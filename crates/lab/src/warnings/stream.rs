//! Warnings for streams.

use samples::{CpuUsage, ThreadCpu, ThreadRole, ValidityWarning};
use units::Bytes;
use workload::{EndSeries, Flow, StreamData, StreamSettings};

use super::rate_not_reached;

/// A thread that is busy for at least this fraction of the time is the bottleneck.
const AT_ITS_LIMIT: f64 = 0.97;

pub(super) fn warnings(
    requested: &StreamSettings,
    data: &StreamData,
    cpu: &CpuUsage,
) -> Vec<ValidityWarning> {
    let slow = requested.rate.and_then(|rate| rate_not_reached(rate, &data.flows));
    let mut warnings = Vec::new();
    // A sender that reached its rate was not the bottleneck.
    if requested.rate.is_none() || slow.is_some() {
        warnings.extend(
            busiest(cpu, ThreadRole::Send).map(|(end, busy)| ValidityWarning::GeneratorLimited { end, busy }),
        );
        warnings.extend(
            busiest(cpu, ThreadRole::Receive)
                .map(|(end, busy)| ValidityWarning::ReceiverLimited { end, busy }),
        );
    }
    warnings.extend(slow);
    if requested.transport == workload::Transport::Tcp {
        warnings.extend(ends_disagree(&data.flows));
    }
    warnings.extend(stray_datagrams(&data.flows));
    warnings
}

fn stray_datagrams(flows: &[Flow]) -> Option<ValidityWarning> {
    let received = flows.iter().filter_map(|flow| flow.receiver.datagrams());
    let all = received.reduce(|one, other| one.and(&other)).filter(|all| all.strays > 0)?;
    let total = all.count.saturating_add(all.duplicates).saturating_add(all.strays);
    Some(ValidityWarning::Strays { strays: all.strays, total })
}

fn busiest(cpu: &CpuUsage, role: ThreadRole) -> Option<(String, f64)> {
    let share = |thread: &ThreadCpu| thread.busy.0 as f64 / thread.elapsed.0.max(1) as f64;
    cpu.threads
        .iter()
        .filter(|thread| thread.role == role)
        .map(|thread| (thread.end.clone(), share(thread)))
        .filter(|(_, busy)| *busy >= AT_ITS_LIMIT)
        .max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Compares sent and received bytes. TCP receivers read until the end of the stream, so all bytes must
/// arrive.
fn ends_disagree(flows: &[Flow]) -> Option<ValidityWarning> {
    let all = |series: &EndSeries| series.intervals.iter().map(|interval| interval.bytes).sum::<Bytes>();
    let has_data = |flow: &&Flow| !flow.sender.intervals.is_empty() && !flow.receiver.intervals.is_empty();
    let sent: Bytes = flows.iter().filter(has_data).map(|flow| all(&flow.sender)).sum();
    let received: Bytes = flows.iter().filter(has_data).map(|flow| all(&flow.receiver)).sum();
    (sent != received).then_some(ValidityWarning::EndsDisagree { sent, received })
}
