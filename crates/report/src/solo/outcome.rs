//! What was measured, in a few lines. Must not know what to think of it.

use findings::{
    ConnectSummary, EndSocket, LatencySummary, Solo, SoloConnect, SoloOutcome, SoloRate, SoloStream, Spread,
};
use units::{Share, significant};
use workload::Metric;

use crate::{
    page::{Block, Section, section},
    phrases,
    quantity::{self, Scale},
    text::{Text, Tone, glued},
};

type Line = (&'static str, Text);

pub(super) fn build(solo: &Solo) -> Option<Section> {
    let Some(outcome) = &solo.outcome else {
        let nothing = Text::of(Tone::Bad, "Nothing came through.");
        return Some(section("Result", vec![Block::Paragraph(nothing)]));
    };
    let mut lines = match outcome {
        SoloOutcome::Stream(stream) => streamed(stream),
        SoloOutcome::PingPong(latency) => answered(latency),
        SoloOutcome::Connect(connect) => connected(connect),
    };
    lines.extend(buffers(solo));
    lines.extend(cpu(solo));
    let lines = lines.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let mut blocks = vec![Block::KeyValues(lines)];
    blocks.extend(certainty(solo, outcome).map(|said| Block::Paragraph(Text::of(Tone::Faint, said))));
    Some(section("Result", blocks))
}

fn streamed(stream: &SoloStream) -> Vec<Line> {
    let rate = |value| Text::from(phrases::value(Metric::Throughput, value));
    let carried = format!("{} in {}", glued(&stream.bytes.to_string()), glued(&stream.elapsed.to_string()));
    let mut lines =
        vec![("Received", self::rate(Metric::Throughput, &stream.received)), ("Payload", carried.into())];
    lines.extend(stream.forward.map(|value| ("Of this, forward", rate(value))));
    lines.extend(stream.reverse.map(|value| ("Of this, reverse", rate(value))));
    lines.extend(stream.sent.iter().map(|sent| ("Sent", self::rate(Metric::Throughput, sent))));
    if let Some(tcp) = &stream.tcp {
        lines.push(("Retransmissions", phrases::retransmits(tcp).into()));
        lines.extend(tcp.rtt.map(|rtt| ("Round trip under load", rtt.to_string().into())));
        lines.extend(tcp.cwnd.map(|cwnd| ("Congestion window", phrases::window(cwnd).into())));
    }
    if let Some(datagrams) = &stream.datagrams {
        let others = format!("{}, {}", datagrams.reordered, datagrams.duplicates);
        lines.push(("Datagrams received", format!("{}/s", significant(datagrams.rate, 3)).into()));
        lines.push(("Lost", phrases::lost(datagrams).into()));
        lines.push(("Reordered, duplicate", others.into()));
        lines.extend(odd("Stray datagrams", Some(datagrams.strays)));
        lines.push(("Jitter (RFC 3550)", datagrams.jitter.to_string().into()));
    }
    lines.extend(
        stream.lateness.iter().map(|late| ("Sender's lateness", phrases::middle_and_tail(late).into())),
    );
    lines.extend(stream.stability.map(|share| ("Varies by", Share(share).to_string().into())));
    lines
}

fn answered(latency: &LatencySummary) -> Vec<Line> {
    let times = &latency.round_trips;
    let mut lines = vec![("Round trip", Text::of(Tone::Strong, phrases::middle_and_tail(times)))];
    if let Some(open) = &latency.open_loop {
        let intended = Text::of(Tone::Strong, phrases::middle_and_tail(&open.since_intended));
        lines = vec![("Round trip, since intended", intended)];
        lines.push(("Since sent", phrases::middle_and_tail(times).into()));
        lines.push(("Sender's lateness", phrases::middle_and_tail(&open.lateness).into()));
    }
    let count = format!("{}, {}/s", times.count, significant(latency.rate, 3));
    lines.push(("Round trips", count.into()));
    lines.push(("Lost", phrases::lost_messages(latency).into()));
    lines.extend(odd("Stray answers", latency.strays));
    lines.extend(odd("Late or duplicate answers", latency.duplicates));
    let under = latency.under.as_ref().map(|rate| phrases::value(Metric::Throughput, rate.median));
    lines.extend(under.map(|rate| ("Beside it", rate.into())));
    lines
}

/// What should not come at all is told where it did.
fn odd(name: &'static str, count: Option<u64>) -> Option<Line> {
    let count = count.filter(|count| *count > 0)?;
    Some((name, phrases::grouped(count).into()))
}

fn connected(connect: &SoloConnect) -> Vec<Line> {
    let ConnectSummary { connects, exchanges, failed } = &connect.times;
    vec![
        ("Connections", rate(Metric::ConnectionRate, &connect.rate)),
        ("To connect", phrases::middle_and_tail(connects).into()),
        ("Whole exchange", phrases::middle_and_tail(exchanges).into()),
        ("Made", exchanges.count.to_string().into()),
        ("Failed", failed.to_string().into()),
    ]
}

/// `33.1 Gbit/s (32.8 to 33.4, 96 %)`.
fn rate(metric: Metric, rate: &SoloRate) -> Text {
    let scale = Scale::of(metric, rate.rate);
    let text = Text::of(Tone::Strong, glued(&scale.quantity(rate.rate)));
    match &rate.spread {
        Some(Spread { interval, .. }) => {
            let range =
                format!(" ({}, {})", scale.range(interval), quantity::confidence(interval.confidence));
            text.and(Tone::Plain, glued(&range))
        }
        None => text,
    }
}

fn spread(outcome: &SoloOutcome) -> Option<&Spread> {
    match outcome {
        SoloOutcome::Stream(stream) => {
            let sent = stream.sent.as_ref().and_then(|sent| sent.spread.as_ref());
            stream.received.spread.as_ref().or(sent)
        }
        SoloOutcome::Connect(connect) => connect.rate.spread.as_ref(),
        SoloOutcome::PingPong(_) => None,
    }
}

/// Where the interval comes from, or why there is none. Where the rate jumped, the doubts say it.
fn certainty(solo: &Solo, outcome: &SoloOutcome) -> Option<String> {
    let is_rate = !matches!(outcome, SoloOutcome::PingPong(_));
    let too_few = || "There are too few samples for an interval.".to_owned();
    spread(outcome).map(method).or_else(|| (is_rate && solo.shifts.is_empty()).then(too_few))
}

fn method(spread: &Spread) -> String {
    format!(
        "The interval is for the mean of {} samples of {} at the {}, worth {} independent ones; what changes from one \
         trial to the next is not in it.",
        spread.intervals,
        spread.length,
        spread.of,
        significant(spread.worth, 2)
    )
}

/// What the kernel made of the buffers that were asked for, as it counts them: it doubles a size for its own
/// bookkeeping, has a least one, and a greatest (socket(7)).
fn buffers(solo: &Solo) -> Option<Line> {
    let asked = solo.load.socket().window?;
    let of = |end: &EndSocket| {
        let sizes = [("send", end.socket.send_buffer), ("receive", end.socket.receive_buffer)];
        let sizes = sizes.map(|(which, size)| Some(format!("{which} {}", glued(&size?.to_string()))));
        let sizes: Vec<String> = sizes.into_iter().flatten().collect();
        (!sizes.is_empty()).then(|| format!("; the {} has {}", end.end, sizes.join(", ")))
    };
    let given: String = solo.sockets.iter().filter_map(of).collect();
    Some(("Buffers", format!("{} asked for{given}", glued(&asked.to_string())).into()))
}

/// The machine with whatever else runs on it, and of that the threads that send and receive.
fn cpu(solo: &Solo) -> Vec<Line> {
    let cpu = &solo.cpu;
    let per = [
        (cpu.per_gigabyte, "CPU-s/GB"),
        (cpu.per_million_messages, "CPU-s/M round trips"),
        (cpu.per_million_connections, "CPU-s/M connections"),
    ];
    let cost = per.into_iter().find_map(|(cost, unit)| Some(format!(", {} {unit}", significant(cost?, 3))));
    let busy = format!("{:.2} of {} CPUs busy{}", cpu.busy, cpu.cpus, cost.unwrap_or_default());
    let machine = (cpu.cpus > 0).then(|| ("All of this machine", busy.into()));
    let ends = [(cpu.client, "at this end"), (cpu.server, "at the server")];
    let ends = ends.into_iter().filter(|(threads, _)| *threads > 0.0);
    let threads: Vec<String> = ends.map(|(threads, end)| format!("{threads:.2} CPUs {end}")).collect();
    let threads = (!threads.is_empty()).then(|| ("Traffic threads", threads.join(", ").into()));
    machine.into_iter().chain(threads).collect()
}
