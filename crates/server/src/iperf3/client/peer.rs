//! Converts the server's results to plumb's format.

use codecs::iperf3::{PlannedStream, Results, StreamResults};
use traffic::StreamOutcome;
use units::{Bytes, Nanos};
use workload::{
    DatagramSample, Direction, EndSeries, FlowEnd, Interval, SocketFacts, StreamEnd, StreamSettings,
    TcpSample, Transport,
};

use super::{super::extension, ServerOutput};

/// The returned flag is true for a plumb server. A stock server reports one interval per flow, and no CPU times per
/// thread.
pub(super) fn outcome(
    there: &Results,
    plan: &[PlannedStream],
    load: &StreamSettings,
    here: &StreamOutcome,
) -> (StreamOutcome, bool) {
    if let Some(outcome) = there.plumb.as_ref().and_then(|record| extension::decode(record, plan)) {
        return (outcome, true);
    }
    let flows = plan.iter().zip(&here.measured.flows).filter_map(|(planned, ours)| {
        let theirs = there.streams.iter().find(|stream| stream.id == i64::from(planned.id))?;
        let interval = interval(theirs, planned.direction, load.transport, &ours.series);
        let congestion = there.congestion_used.as_ref().filter(|name| is_name(name));
        let socket = SocketFacts { congestion: congestion.cloned(), ..SocketFacts::default() };
        let series = EndSeries { intervals: vec![interval], socket, ..EndSeries::default() };
        Some(FlowEnd { id: ours.id, direction: ours.direction, series })
    });
    (StreamOutcome { measured: StreamEnd { flows: flows.collect() }, ..StreamOutcome::default() }, false)
}

pub(super) fn output(there: &Results) -> Option<ServerOutput> {
    let json = there.server_output_json.as_ref().and_then(|json| serde_json::from_str(json.text()).ok());
    json.map(ServerOutput::Json).or_else(|| there.server_output_text.clone().map(ServerOutput::Text))
}

/// Congestion control names are at most 16 bytes long, including the terminating null byte (TCP_CA_NAME_MAX).
fn is_name(name: &str) -> bool {
    name.len() < 16 && name.chars().all(|sign| sign.is_ascii_graphic())
}

fn interval(
    theirs: &StreamResults,
    direction: Direction,
    transport: Transport,
    ours: &EndSeries,
) -> Interval {
    let sends = direction == Direction::Reverse;
    let seconds = theirs.seconds().unwrap_or(0.0).max(0.0);
    let retransmits = u32::try_from(theirs.retransmits).unwrap_or(0);
    let tcp =
        (transport == Transport::Tcp && sends).then(|| TcpSample { retransmits, ..TcpSample::default() });
    Interval {
        start: Nanos(0),
        end: Nanos((seconds * 1e9) as u64),
        bytes: Bytes(u64::try_from(theirs.bytes).unwrap_or(0)),
        warmup: false,
        tcp,
        datagrams: (transport == Transport::Udp).then(|| datagrams(theirs, sends, ours)),
    }
}

fn datagrams(theirs: &StreamResults, sends: bool, ours: &EndSeries) -> DatagramSample {
    let lost = theirs.errors.saturating_sub(theirs.omitted_errors.unwrap_or(0));
    let numbered = u64::try_from(theirs.packets.saturating_sub(left_out(theirs, ours))).unwrap_or(0);
    if sends {
        return DatagramSample { count: numbered, ..DatagramSample::default() };
    }
    DatagramSample {
        count: numbered.saturating_add_signed(lost.saturating_neg()),
        lost,
        jitter: Nanos((theirs.jitter.max(0.0) * 1e9) as u64),
        ..DatagramSample::default()
    }
}

/// The number of omitted datagrams. Servers before 3.14 do not report it, so the local warm-up is used.
pub(in crate::iperf3) fn left_out(theirs: &StreamResults, ours: &EndSeries) -> i64 {
    let warmup = ours.intervals.iter().filter(|interval| interval.warmup);
    let datagrams = warmup.filter_map(|interval| interval.datagrams);
    let numbered = datagrams
        .map(|datagrams| i64::try_from(datagrams.count).unwrap_or(i64::MAX).saturating_add(datagrams.lost));
    theirs.omitted_packets.unwrap_or_else(|| numbered.sum())
}
