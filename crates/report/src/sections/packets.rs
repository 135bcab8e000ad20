//! Packet sizes along the path, and the queues that were used.

use findings::{DataPackets, DevicePackets, PacketSize, PacketSummary, ResultSummary};
use samples::{DeviceCounters, QueueCounters};

use super::Source;
use crate::{page::*, phrases::grouped};

const OPEN: usize = 12;

type PacketRow<'a> = (&'a ResultSummary, &'a PacketSummary);

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let counted: Vec<PacketRow<'_>> =
        findings.results.iter().filter_map(|result| Some((result, result.packets.as_ref()?))).collect();
    if counted.is_empty() {
        return None;
    }
    let mut blocks: Vec<Block> = data(&counted).into_iter().map(Block::Table).collect();
    let all = counted.iter().flat_map(of_result).collect();
    blocks.push(Block::Folded { title: "Packets by device".into(), blocks: all });
    Some(section("Packets on the path".to_owned(), blocks))
}

fn data(counted: &[PacketRow<'_>]) -> Option<Table> {
    let known: Vec<(&ResultSummary, &DataPackets)> =
        counted.iter().filter_map(|(result, packets)| Some((*result, packets.data.as_ref()?))).collect();
    if known.is_empty() {
        return None;
    }
    let columns = vec![left("Result"), right("At sender"), right("At receiver"), left("Segmented at")];
    let row = |(result, data): &(&ResultSummary, &DataPackets)| {
        vec![
            Text::strong(&result.label),
            per_packet(data.first).into(),
            per_packet(data.last).into(),
            cut(data).into(),
        ]
    };
    let shown = if known.len() > OPEN {
        format!(" The first {OPEN} of {} results.", known.len())
    } else {
        String::new()
    };
    let caption = format!(
        "Segments per packet: segments counted by the sender's sockets divided by packets counted by the device. \
         More than one means segmentation or receive offload.{shown}"
    );
    Some(Table {
        columns,
        rows: known.iter().take(OPEN).map(row).collect(),
        caption: Some(Text::faint(caption)),
    })
}

fn cut(data: &DataPackets) -> String {
    let Some(cut) = &data.cut else { return "-".to_owned() };
    let to = per_packet(cut.segments);
    if to == per_packet(data.last) { cut.device.clone() } else { format!("{} (to {to})", cut.device) }
}

/// Uses three digits, so that one segment per packet reads 1.00 despite small counting errors.
fn per_packet(segments: f64) -> String {
    let decimals = if segments < 9.995 { 2 } else { usize::from(segments < 99.95) };
    format!("{segments:.decimals$}")
}

fn of_result((result, packets): &PacketRow<'_>) -> Vec<Block> {
    let heading = Block::Heading(Text::strong(&result.label));
    let devices = result.counters.iter().flat_map(|counters| &counters.devices);
    let rows: Vec<Vec<Text>> = devices.flat_map(queues).collect();
    let mut blocks = vec![heading, Block::Table(sizes(&packets.devices))];
    if !rows.is_empty() {
        let mut columns = vec![left("Device"), left("Queue")];
        columns.extend(["Packets", "Bytes", "Dropped"].map(right));
        blocks.push(Block::Table(Table { columns, rows, caption: None }));
    }
    blocks
}

fn sizes(devices: &[DevicePackets]) -> Table {
    let mut columns = vec![left("Device")];
    columns.extend(
        ["Packets in", "Mean size", "Segments per packet", "Packets out", "Mean size", "Segments per packet"]
            .map(right),
    );
    let row = |device: &DevicePackets| {
        let sizes = [device.received, device.sent].into_iter().flat_map(size);
        [device.device.as_str().into()].into_iter().chain(sizes).collect()
    };
    Table { columns, rows: devices.iter().map(row).collect(), caption: None }
}

fn size(size: Option<PacketSize>) -> [Text; 3] {
    let known = |of: Option<String>| Text::from(of.unwrap_or_else(|| "-".to_owned()));
    [
        known(size.map(|size| grouped(size.packets))),
        known(size.map(|size| format!("{} B", grouped(size.mean.0)))),
        known(size.and_then(|size| size.segments).map(per_packet)),
    ]
}

fn queues(device: &DeviceCounters) -> Vec<Vec<Text>> {
    let row = |way: &str, (number, queue): (usize, &QueueCounters)| -> Vec<Text> {
        vec![
            device.device.as_str().into(),
            format!("{way} {number}").into(),
            grouped(queue.packets).into(),
            queue.bytes.to_string().into(),
            grouped(queue.dropped).into(),
        ]
    };
    let rx = device.rx_queues.iter().enumerate().map(|queue| row("in", queue));
    rx.chain(device.tx_queues.iter().enumerate().map(|queue| row("out", queue))).collect()
}
