//! What each end saw from interval to interval, in the first trial of each cell.
//! Must not know statistics: these are the samples themselves.

use findings::CellSummary;
use samples::{Arm, EndSeries, Flow, Interval, Measurement, RunRecord, StreamData};
use units::Bytes;

use super::Source;
use crate::{
    labels,
    page::{Block, Section, Table, detail, left, right},
    text::{Text, Tone},
};

/// So many connections of a trial are shown.
const FLOWS: usize = 4;

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let record = source.record?;
    let folded: Vec<Block> = source
        .findings
        .cells
        .iter()
        .filter_map(|cell| Some((cell, first_stream(record, cell)?)))
        .map(|(cell, stream)| Block::Folded {
            title: labels::cell(source.findings, cell).into(),
            blocks: stream.flows.iter().take(FLOWS).flat_map(flow).chain(left_out(stream)).collect(),
        })
        .collect();
    if folded.is_empty() {
        return None;
    }
    let lead = "The first trial of each cell, as its two ends recorded it; the totals leave the warm-up out.";
    Some(detail("Interval data", [Block::Paragraph(lead.into())].into_iter().chain(folded).collect()))
}

fn first_stream<'a>(record: &'a RunRecord, cell: &CellSummary) -> Option<&'a StreamData> {
    let mut trials: Vec<_> =
        record.trials.iter().filter(|trial| trial.cell == cell.id && trial.arm == Arm::Measure).collect();
    trials.sort_by_key(|trial| trial.block);
    trials.into_iter().find_map(|trial| match &trial.measurement {
        Measurement::Stream(stream) => Some(stream),
        Measurement::PingPong(_) | Measurement::Connect(_) => None,
    })
}

fn flow(flow: &Flow) -> Vec<Block> {
    let direction = match flow.direction {
        load::Direction::Reverse => "reverse",
        load::Direction::Forward | load::Direction::Both => "forward",
    };
    let title = |end: &str| Text::from(format!("{end}, connection {} {direction}", flow.id));
    vec![
        Block::Heading(title("Sender")),
        Block::Table(sender(&flow.sender)),
        Block::Heading(title("Receiver")),
        Block::Table(receiver(&flow.receiver)),
    ]
}

fn sender(end: &EndSeries) -> Table {
    let mut columns = vec![left("Interval")];
    columns.extend(["Transfer", "Bitrate", "Retr", "Cwnd", "RTT"].map(right));
    let row = |interval: &Interval| {
        let mut row = sample(interval);
        let dash = || Text::from("-");
        row.push(interval.tcp.map_or_else(dash, |tcp| tcp.retransmits.to_string().into()));
        row.push(interval.tcp.map_or_else(dash, |tcp| tcp.cwnd.to_string().into()));
        row.push(interval.tcp.map_or_else(dash, |tcp| tcp.rtt.to_string().into()));
        row
    };
    let total = [total(end), vec![end.retransmits().to_string().into(), Text::default(), Text::default()]];
    Table { columns, rows: end.intervals.iter().map(row).chain([total.concat()]).collect(), caption: None }
}

fn receiver(end: &EndSeries) -> Table {
    let columns = vec![left("Interval"), right("Transfer"), right("Bitrate")];
    let rows = end.intervals.iter().map(sample).chain([total(end)]).collect();
    Table { columns, rows, caption: None }
}

fn sample(interval: &Interval) -> Vec<Text> {
    let (start, end) = (interval.start.seconds(), interval.end.seconds());
    let mark = if interval.warmup { " warm-up" } else { "" };
    let span = Text::from(format!("{start:.2}-{end:.2} s")).and(Tone::Faint, mark);
    vec![span, transfer(interval.bytes), interval.rate().to_string().into()]
}

fn total(end: &EndSeries) -> Vec<Text> {
    let total = Text::of(Tone::Strong, format!("total, {:.2} s", end.elapsed().seconds()));
    vec![total, transfer(end.bytes()), Text::of(Tone::Strong, end.rate().to_string())]
}

fn transfer(bytes: Bytes) -> Text {
    bytes.to_string().into()
}

fn left_out(stream: &StreamData) -> Option<Block> {
    let left_out = stream.flows.len().checked_sub(FLOWS).filter(|more| *more > 0)?;
    Some(Block::Paragraph(format!("{left_out} more connections are not shown.").into()))
}
