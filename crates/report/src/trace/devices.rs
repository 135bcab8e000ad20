//! Device counters of the traced network namespace.

use samples::DeviceCounters;
use units::{BitRate, Bytes, Nanos};

use super::{Source, words};
use crate::{page::*, phrases};

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let trace = source.trace;
    let mut blocks = Vec::new();
    if !trace.devices.is_empty() {
        let elapsed = (!source.is_short()).then_some(trace.elapsed);
        let [packets_in, packets_out] = match elapsed {
            Some(_) => ["Packets/s in", "Packets/s out"],
            None => ["Packets in", "Packets out"],
        };
        let columns = [packets_in, "In", "Dropped", packets_out, "Out", "Dropped"].map(right);
        let rows = trace.devices.iter().take(source.top).map(|device| row(device, elapsed)).collect();
        let columns = [left("Device")].into_iter().chain(columns).collect();
        let mut caption =
            "Packets as seen by the stack: with offloads, each may be several on the wire.".to_owned();
        if source.is_short() {
            caption += &format!(" {} is too short for rates.", trace.elapsed);
        }
        blocks.push(Block::Table(Table { columns, rows, caption: Some(Text::faint(caption)) }));
    }
    let lost = trace.softnet.filter(|counted| counted.dropped > 0);
    blocks.extend(lost.map(|counted| {
        let packets = phrases::count(counted.dropped, "packet");
        let phrase = format!(
            "The machine's backlog queues overflowed and dropped {packets} (net.core.netdev_max_backlog)."
        );
        Block::Paragraph(Text::bad(phrase))
    }));
    section_of("Devices", blocks)
}

fn row(device: &DeviceCounters, elapsed: Option<Nanos>) -> Vec<Text> {
    let packets = |count: u64| {
        let rate = elapsed.map(|elapsed| words::per_second(count as f64 / elapsed.seconds()));
        Text::from(glued(&rate.unwrap_or_else(|| phrases::grouped(count))))
    };
    let rate = |bytes: Bytes| {
        let rate = elapsed.map(|elapsed| BitRate(bytes.0 as f64 * 8.0 / elapsed.seconds()).to_string());
        Text::from(glued(&rate.unwrap_or_else(|| bytes.to_string())))
    };
    let dropped = |count: u64| {
        let tone = if count > 0 { Tone::Bad } else { Tone::Plain };
        Text::of(tone, phrases::grouped(count))
    };
    vec![
        Text::strong(&device.device),
        packets(device.rx_packets),
        rate(device.rx_bytes),
        dropped(device.rx_dropped + device.rx_errors),
        packets(device.tx_packets),
        rate(device.tx_bytes),
        dropped(device.tx_dropped + device.tx_errors),
    ]
}
