//! Lists the connections of a stream if it has several.

use findings::{SingleFlow, SingleMeasurement, SingleStream};
use workload::{Direction, Metric};

use crate::{page::*, phrases};

const MOST: usize = 16;

pub(super) fn build(single: &SingleMeasurement) -> Option<Section> {
    let stream = SingleStream::of(single)?;
    if stream.flows.len() < 2 {
        return None;
    }
    let tcp = stream.flows.iter().any(|flow| flow.retransmits.is_some());
    let mut columns = vec![left("Connection"), left("Direction"), right("Received"), right("Sent")];
    columns.extend(tcp.then(|| right("Retr")));
    let rows = stream.flows.iter().take(MOST).map(|flow| row(flow, tcp)).collect();
    let more = stream.flows.len().checked_sub(MOST).filter(|more| *more > 0);
    let caption = more.map(|more| format!("{more} more connections are not shown.").into());
    Some(section("Connections", vec![Block::Table(Table { columns, rows, caption })]))
}

fn row(flow: &SingleFlow, tcp: bool) -> Vec<Text> {
    let rate = |rate: Option<f64>| {
        rate.map_or_else(|| "-".to_owned(), |rate| phrases::value(Metric::Throughput, rate))
    };
    let direction = if flow.direction == Direction::Reverse { "reverse" } else { "forward" };
    let mut row: Vec<Text> = vec![
        flow.id.to_string().into(),
        direction.into(),
        rate(flow.received).into(),
        rate(flow.sent).into(),
    ];
    row.extend(
        tcp.then(|| flow.retransmits.map_or("-".into(), |retransmits| retransmits.to_string().into())),
    );
    row
}
