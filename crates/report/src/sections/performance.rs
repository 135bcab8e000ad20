//! The performance summary of each stream: rates, retransmissions, windows, stability, as people write them up.
//! Must not know other cells.

use findings::{CellSummary, Estimate, Metric, StreamSummary};
use samples::SocketFacts;
use units::{Bytes, Share};

use super::Source;
use crate::{
    labels,
    page::{Block, Section, Table, detail, left},
    phrases,
    text::{Text, Tone},
};

/// So many summaries are shown open; where there are more, all are folded.
const OPEN: usize = 3;

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let streams: Vec<_> =
        findings.cells.iter().filter_map(|cell| Some((cell, cell.stream.as_ref()?))).collect();
    let summary = |(cell, stream): &(&CellSummary, &StreamSummary)| {
        let title = Text::from(labels::cell(findings, cell));
        let table = Block::Table(table(cell, stream));
        if streams.len() > OPEN {
            vec![Block::Folded { title, blocks: vec![table] }]
        } else {
            vec![Block::Heading(title), table]
        }
    };
    let blocks: Vec<Block> = streams.iter().flat_map(summary).collect();
    (!blocks.is_empty()).then(|| detail("Performance summary", blocks))
}

fn table(cell: &CellSummary, stream: &StreamSummary) -> Table {
    let rate = |estimate: &Estimate| phrases::estimate(Metric::Throughput, estimate);
    let unknown = || "unknown".to_owned();
    let mut rows =
        vec![("Avg throughput (TX)", rate(&stream.sent)), ("Avg throughput (RX)", rate(&stream.received))];
    if let (Some(forward), Some(reverse)) = (&stream.forward, &stream.reverse) {
        rows.extend([("Of this, forward", rate(forward)), ("Of this, reverse", rate(reverse))]);
    }
    rows.extend([
        ("Retransmissions", stream.retransmits.to_string()),
        ("Congestion window", stream.cwnd.map_or_else(unknown, phrases::window)),
        ("Round trip under load", stream.rtt.map_or_else(unknown, |rtt| rtt.to_string())),
        ("Transport layer", transport(&stream.sender_socket)),
        ("Overlay network, layers", cell.layers.join(" → ")),
        (
            "Path MTU",
            cell.path_mtu.map_or_else(|| "not probed".to_owned(), |mtu| format!("{mtu} (probed end to end)")),
        ),
        ("Buffers", buffers(stream)),
        ("Stability", stability(cell, stream)),
    ]);
    let row = |(metric, value): (&str, String)| vec![Text::of(Tone::Strong, metric), value.into()];
    Table {
        columns: vec![left("Metric"), left("Value")],
        rows: rows.into_iter().map(row).collect(),
        caption: None,
    }
}

/// `TCP (cubic, MSS 1448)`.
fn transport(socket: &SocketFacts) -> String {
    let mss = socket.mss.map(|mss| format!("MSS {mss}"));
    let facts: Vec<String> = socket.congestion.clone().into_iter().chain(mss).collect();
    if facts.is_empty() { "TCP".to_owned() } else { format!("TCP ({})", facts.join(", ")) }
}

fn buffers(stream: &StreamSummary) -> String {
    let size = |size: Option<Bytes>| size.map_or_else(|| "unknown".to_owned(), |size| size.to_string());
    let (sender, receiver) = (stream.sender_socket.send_buffer, stream.receiver_socket.receive_buffer);
    format!("{} to send, {} to receive", size(sender), size(receiver))
}

fn stability(cell: &CellSummary, stream: &StreamSummary) -> String {
    let within = stream.stability.map(|share| format!("varies by {} within a trial", Share(share)));
    let between = cell.value.variation().map(|share| format!("by {} between trials", Share(share)));
    let said: Vec<String> = within.into_iter().chain(between).collect();
    if said.is_empty() { "unknown".to_owned() } else { said.join(", ") }
}
