//! Tests with messages through real devices.

mod delay;
mod lab;
mod labs;
mod line;
mod odd;
mod order;
mod play;
mod shell;

use samples::{HopEvent, HopPoint, MessagePath, ProbeResults};
use workload::LatencyHistogram;

use super::*;
use crate::bpf::load_or_panic;
use lab::{Lab, skip};
use play::Play;

fn probe_here() -> Option<LatencyBreakdownProbe> {
    let Some(loaded) = load_or_panic(OBJECT, &HOOKS) else {
        skip(&"eBPF programs cannot be loaded here");
        return None;
    };
    Some(LatencyBreakdownProbe { loaded, following: None })
}

fn follow(probe: &mut LatencyBreakdownProbe, lab: &Lab, ends: [&str; 2], play: &Play) -> MessagePath {
    let results = follow_all(probe, lab, ends, play);
    assert_eq!(results.overflowed, []);
    results.latency_breakdown.expect("latency breakdown")
}

fn follow_all(probe: &mut LatencyBreakdownProbe, lab: &Lab, ends: [&str; 2], play: &Play) -> ProbeResults {
    probe.start(&lab.watch(ends, play)).expect("loaded");
    let measured = play.run(lab, ends);
    probe.stop();
    let results = read(probe);
    show(results.latency_breakdown.as_ref().expect("latency breakdown"), measured);
    results
}

fn read(probe: &mut LatencyBreakdownProbe) -> ProbeResults {
    let mut results = ProbeResults::default();
    probe.read(&mut results).expect("readable maps");
    results
}

fn points(latency_breakdown: &MessagePath) -> Vec<String> {
    let first = latency_breakdown.steps.first().map(|step| &step.from);
    first.into_iter().chain(latency_breakdown.steps.iter().map(|step| &step.to)).map(point_name).collect()
}

fn point_name(point: &HopPoint) -> String {
    let word = match point.event {
        HopEvent::ClientSends => "client-sends",
        HopEvent::Queued => "queued",
        HopEvent::Transmitted => "transmitted",
        HopEvent::Received => "received",
        HopEvent::ServerReceives => "server-receives",
        HopEvent::ServerSends => "server-sends",
        HopEvent::ClientReceives => "client-receives",
    };
    point.device.as_ref().map_or_else(|| word.to_owned(), |device| format!("{word} {device}"))
}

#[expect(clippy::disallowed_macros, reason = "explains a failed test")]
fn show(latency_breakdown: &MessagePath, measured: u64) {
    let at = |times: &LatencyHistogram, share| times.quantile(share).map_or(0, |time| time.0);
    let line = |times, what: &str| println!("{:>8} {:>8} ns  {what}", at(times, 0.5), at(times, 0.99));
    latency_breakdown.steps.iter().for_each(|step| line(&step.times, &point_name(&step.to)));
    let sum = latency_breakdown.sum_of_medians().map_or(0, |sum| sum.0);
    let followed =
        format!("{} followed, {} strayed", latency_breakdown.followed, latency_breakdown.not_followed);
    line(
        &latency_breakdown.round_trip,
        &format!("whole; sum of medians {sum}; measured {measured}; {followed}"),
    );
}
