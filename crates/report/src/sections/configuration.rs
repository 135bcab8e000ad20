//! Effective socket settings of each result, and the CPUs that its threads ran on, at both ends.

use findings::{EndSocket, Findings};
use workload::SocketFacts;

use super::Source;
use crate::page::*;

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let blocks: Vec<Block> = groups(source.findings)
        .into_iter()
        .map(|(ends, labels)| Block::Folded {
            title: format!("Sockets of {}", labels.join("; ")).into(),
            blocks: vec![Block::Table(table(&ends))],
        })
        .collect();
    let lead = "Settings of the first socket of each end as reported by the kernel, and all CPUs that the end's \
                threads ran on.";
    let lead = Block::Paragraph(lead.into());
    (!blocks.is_empty())
        .then(|| section("Effective configuration", [lead].into_iter().chain(blocks).collect()))
}

fn groups(findings: &Findings) -> Vec<(Vec<EndSocket>, Vec<String>)> {
    let mut groups: Vec<(Vec<EndSocket>, Vec<String>)> = Vec::new();
    for result in findings.results.iter().filter(|result| !result.sockets.is_empty()) {
        let mut ends = result.sockets.clone();
        ends.iter_mut().for_each(|end| end.socket.addresses = None);
        let label = result.label.clone();
        match groups.iter_mut().find(|(known, _)| *known == ends) {
            Some((_, labels)) => labels.push(label),
            None => groups.push((ends, vec![label])),
        }
    }
    groups
}

pub(crate) fn table(ends: &[EndSocket]) -> Table {
    let mut columns = vec![left("Setting")];
    columns.extend(ends.iter().map(|end| left(end.end.as_str())));
    let rows = SETTINGS.iter().filter_map(|(name, of)| {
        let values: Vec<Option<String>> = ends.iter().map(|end| of(&end.socket)).collect();
        let shown = values.iter().map(|value| value.clone().unwrap_or_else(|| "-".to_owned()).into());
        values.iter().any(Option::is_some).then(|| [Text::strong(*name)].into_iter().chain(shown).collect())
    });
    Table { columns, rows: rows.collect(), caption: None }
}

type Setting = (&'static str, fn(&SocketFacts) -> Option<String>);

const SETTINGS: &[Setting] = &[
    ("Congestion control", |socket| socket.congestion.clone()),
    ("Largest segment", |socket| socket.mss.map(|mss| format!("{mss} B"))),
    ("Send buffer", |socket| socket.send_buffer.map(|size| size.to_string())),
    ("Receive buffer", |socket| socket.receive_buffer.map(|size| size.to_string())),
    ("No delay", |socket| socket.nodelay.map(|on| if on { "on" } else { "off" }.to_owned())),
    ("DSCP", |socket| socket.dscp.map(|dscp| dscp.to_string())),
    ("Busy poll", |socket| socket.busy_poll.filter(|time| time.0 > 0).map(|time| time.to_string())),
    ("Datagrams per call", |socket| socket.segments.map(|segments| segments.to_string())),
    ("Zero copy", |socket| socket.zero_copy.then(|| "yes".to_owned())),
    ("Pinned to CPU", |socket| socket.cpus.as_deref().map(list)),
    ("Ran on CPU", |socket| (!socket.ran_on.is_empty()).then(|| list(&socket.ran_on))),
];

fn list(cpus: &[u32]) -> String {
    cpus.iter().map(ToString::to_string).join(", ")
}
