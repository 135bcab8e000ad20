//! Each stream's rates, retransmissions, windows and stability.

use findings::{DatagramSummary, Estimate, ResultSummary, StreamSummary, TcpSummary};
use units::{Bytes, Share, significant};
use workload::{Metric, SocketFacts};

use super::Source;
use crate::{page::*, phrases};

/// If there are more summaries than this, all summaries are folded.
const OPEN: usize = 3;
const WORTH_SAYING: f64 = 0.01;

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let streams: Vec<_> =
        findings.results.iter().filter_map(|result| Some((result, StreamSummary::of(result)?))).collect();
    let summary = |(result, stream): &(&ResultSummary, &StreamSummary)| {
        let title = Text::from(result.label.as_str());
        let table = Block::Table(table(result, stream));
        if streams.len() > OPEN {
            vec![Block::Folded { title, blocks: vec![table] }]
        } else {
            vec![Block::Heading(title), table]
        }
    };
    let blocks: Vec<Block> = streams.iter().flat_map(summary).collect();
    section_of("Performance summary", blocks)
}

fn table(result: &ResultSummary, stream: &StreamSummary) -> Table {
    let rate = |estimate: &Estimate| phrases::estimate(Metric::Throughput, estimate);
    let mut rows: Vec<_> = stream.sent.iter().map(|sent| ("Avg throughput (TX)", rate(sent))).collect();
    let received = stream.received.as_ref().map_or_else(|| "unknown".to_owned(), rate);
    rows.push(("Avg throughput (RX)", received));
    if let (Some(forward), Some(reverse)) = (&stream.forward, &stream.reverse) {
        rows.extend([("Of this, forward", rate(forward)), ("Of this, reverse", rate(reverse))]);
    }
    rows.extend(stream.tcp.iter().flat_map(tcp));
    rows.extend(stream.datagrams.iter().flat_map(datagrams));
    rows.extend(stream.lateness.iter().map(|late| ("Sender's lateness", phrases::middle_and_tail(late))));
    rows.extend([
        ("Transport layer", transport(result)),
        ("Overlay network, layers", layers(result)),
        (
            "Path MTU",
            result
                .path_mtu
                .map_or_else(|| "not probed".to_owned(), |mtu| format!("{mtu} (probed end to end)")),
        ),
        ("Buffers", buffers(result)),
        ("Stability", stability(result, stream)),
    ]);
    let row = |(metric, value): (&str, String)| vec![Text::strong(metric), value.into()];
    Table {
        columns: vec![left("Metric"), left("Value")],
        rows: rows.into_iter().map(row).collect(),
        caption: None,
    }
}

fn tcp(tcp: &TcpSummary) -> Vec<(&'static str, String)> {
    let unknown = || "unknown".to_owned();
    let held =
        [("the receive window", tcp.receive_window_limited), ("the send buffer", tcp.send_buffer_limited)];
    let held: Vec<String> = held
        .into_iter()
        .filter_map(|(by, share)| Some((by, share.filter(|share| *share >= WORTH_SAYING)?)))
        .map(|(by, share)| format!("{by}, {} of the time", Share(share)))
        .collect();
    let mut rows = vec![
        ("Retransmissions", phrases::retransmits(tcp)),
        ("Congestion window", tcp.cwnd.map_or_else(unknown, phrases::window)),
        ("Round trip under load", tcp.rtt.map_or_else(unknown, |rtt| rtt.to_string())),
    ];
    rows.extend((!held.is_empty()).then(|| ("Limited by", held.join("; "))));
    rows
}

fn datagrams(datagrams: &DatagramSummary) -> Vec<(&'static str, String)> {
    let mut rows = vec![
        ("Datagrams received", format!("{}/s", significant(datagrams.rate, 3))),
        ("Datagrams lost", phrases::lost(datagrams)),
        ("Reordered, duplicate", format!("{}, {}", datagrams.reordered, datagrams.duplicates)),
        ("Jitter (RFC 3550)", datagrams.jitter.to_string()),
    ];
    rows.extend((datagrams.strays > 0).then(|| ("Stray datagrams", phrases::grouped(datagrams.strays))));
    rows
}

fn transport(result: &ResultSummary) -> String {
    let Some(socket) = socket(result, "sender") else { return "unknown".to_owned() };
    let mss = socket.mss.map(|mss| format!("MSS {mss}"));
    let facts: Vec<String> = socket.congestion.clone().into_iter().chain(mss).collect();
    let udp = StreamSummary::of(result).is_some_and(|stream| stream.datagrams.is_some());
    let name = if udp { "UDP" } else { "TCP" };
    if facts.is_empty() { name.to_owned() } else { format!("{name} ({})", facts.join(", ")) }
}

fn layers(result: &ResultSummary) -> String {
    if result.layers.is_empty() { "unknown".to_owned() } else { result.layers.join(" → ") }
}

fn buffers(result: &ResultSummary) -> String {
    let size = |size: Option<Bytes>| size.map_or_else(|| "unknown".to_owned(), |size| size.to_string());
    let send = socket(result, "sender").and_then(|socket| socket.send_buffer);
    let receive = socket(result, "receiver").and_then(|socket| socket.receive_buffer);
    format!("{} to send, {} to receive", size(send), size(receive))
}

fn socket<'a>(result: &'a ResultSummary, end: &str) -> Option<&'a SocketFacts> {
    result.sockets.iter().find(|known| known.end == end).map(|known| &known.socket)
}

fn stability(result: &ResultSummary, stream: &StreamSummary) -> String {
    let within = stream.stability.map(|share| format!("varies by {} within a trial", Share(share)));
    let between = result.value.variation().map(|share| format!("by {} between trials", Share(share)));
    let phrase: Vec<String> = within.into_iter().chain(between).collect();
    if phrase.is_empty() { "unknown".to_owned() } else { phrase.join(", ") }
}
