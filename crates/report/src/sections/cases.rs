//! Lists the cases: each path with the sender's and the receiver's values.

use findings::{ResultSummary, StreamSummary};
use workload::Metric;

use super::Source;
use crate::{page::*, phrases};

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let streams =
        source.findings.results.iter().filter_map(|result| Some((result, StreamSummary::of(result)?)));
    let rows: Vec<_> =
        streams.enumerate().map(|(index, (result, stream))| row(index + 1, result, stream)).collect();
    if rows.is_empty() {
        return None;
    }
    let columns = ["Case", "Item", "Detail", "Receiver with interval", "Of baseline"].map(left).to_vec();
    let caption = "The receiver's rate is the result; the sender's rate counts data accepted by its socket.";
    Some(section("Cases", vec![Block::Table(Table { columns, rows, caption: Some(caption.into()) })]))
}

fn row(number: usize, result: &ResultSummary, stream: &StreamSummary) -> Vec<Text> {
    let rate = |value| phrases::value(Metric::Throughput, value);
    let sent = stream.sent.map(|sent| format!("{} sender - ", rate(sent.estimate))).unwrap_or_default();
    let unknown = || "unknown".to_owned();
    let got = stream.received.map_or_else(unknown, |received| rate(received.estimate));
    let both = format!("{sent}{got} receiver");
    vec![
        format!("case{number}").into(),
        result.label.as_str().into(),
        Text::code(both),
        stream
            .received
            .map_or_else(unknown, |received| phrases::estimate(Metric::Throughput, &received))
            .into(),
        phrases::of_baseline(result),
    ]
}
