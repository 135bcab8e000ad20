//! Drops and other counters of devices and of the host.

use findings::ResultSummary;
use samples::{DeviceCounters, HostCounters, PathCounters};

use super::Source;
use crate::{
    page::*,
    phrases::{self, grouped},
};

const OPEN: usize = 12;

type CountedPath<'a> = (&'a ResultSummary, &'a PathCounters);

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let counted: Vec<CountedPath<'_>> =
        findings.results.iter().filter_map(|result| Some((result, result.counters.as_ref()?))).collect();
    if counted.is_empty() {
        return None;
    }
    let mut blocks = vec![devices(&counted)];
    blocks.extend(backlog(&counted));
    blocks.push(Block::Folded { title: "All counters".into(), blocks: all(&counted) });
    Some(section("Drops on the path", blocks))
}

fn devices(counted: &[CountedPath<'_>]) -> Block {
    let lossy: Vec<(&ResultSummary, &DeviceCounters)> = counted
        .iter()
        .flat_map(|(result, counters)| counters.devices.iter().map(move |device| (*result, device)))
        .filter(|(_, device)| is_lossy(device))
        .collect();
    if lossy.is_empty() {
        let phrase = "No device or queueing discipline on any path dropped packets or counted errors.";
        return Block::Paragraph(Text::good(phrase));
    }
    let columns = vec![
        left("Result"),
        left("Device"),
        right("Dropped in"),
        right("Dropped out"),
        right("By qdisc"),
        right("Errors"),
    ];
    let row = |(result, device): &(&ResultSummary, &DeviceCounters)| {
        let qdisc = device.qdisc.as_ref();
        vec![
            Text::strong(&result.label),
            device.device.as_str().into(),
            grouped(device.rx_dropped).into(),
            grouped(device.tx_dropped).into(),
            qdisc.map_or_else(|| "-".to_owned(), |it| format!("{} ({})", grouped(it.drops), it.kind)).into(),
            grouped(device.rx_errors.saturating_add(device.tx_errors)).into(),
        ]
    };
    let caption = (lossy.len() > OPEN)
        .then(|| Text::faint(format!("The first {OPEN} of {} devices with drops or errors.", lossy.len())));
    Block::Table(Table { columns, rows: lossy.iter().take(OPEN).map(row).collect(), caption })
}

fn is_lossy(device: &DeviceCounters) -> bool {
    let drops = device.qdisc.as_ref().map_or(0, |qdisc| qdisc.drops);
    [device.rx_dropped, device.tx_dropped, device.rx_errors, device.tx_errors, drops].iter().any(|it| *it > 0)
}

fn backlog(counted: &[CountedPath<'_>]) -> Option<Block> {
    let known = || counted.iter().filter_map(|(result, counters)| Some((*result, counters.softnet?)));
    known().next()?;
    let full: Vec<Text> = known()
        .filter(|(_, softnet)| softnet.dropped > 0)
        .map(|(result, softnet)| {
            Text::bad(&result.label).and_plain(format!(
                ": the machine's backlog queues dropped {} of {} packets",
                grouped(softnet.dropped),
                grouped(softnet.processed.saturating_add(softnet.dropped))
            ))
        })
        .collect();
    Some(if full.is_empty() {
        Block::Paragraph("The machine's backlog queues dropped no packets.".into())
    } else {
        Block::List(full)
    })
}

fn all(counted: &[CountedPath<'_>]) -> Vec<Block> {
    let of_result = |(result, counters): &CountedPath<'_>| {
        let heading = Block::Heading(Text::strong(&result.label));
        let mut blocks = vec![heading, Block::Table(device_table(&counters.devices))];
        let mut items: Vec<Text> = counters.hosts.iter().filter_map(host).collect();
        items.extend(counters.softnet.map(|softnet| {
            format!(
                "backlog queues: {} packets, {} dropped; softirq budget exhausted {}",
                grouped(softnet.processed),
                grouped(softnet.dropped),
                phrases::count(softnet.squeezed, "time")
            )
            .into()
        }));
        blocks.extend((!items.is_empty()).then_some(Block::List(items)));
        blocks
    };
    counted.iter().flat_map(of_result).collect()
}

fn device_table(devices: &[DeviceCounters]) -> Table {
    let mut columns = vec![left("Device")];
    columns.extend(
        ["Packets in", "Bytes in", "Dropped", "Errors", "Packets out", "Bytes out", "Dropped", "Errors"]
            .map(right),
    );
    columns.extend([left("Qdisc"), right("Dropped"), right("Over limit"), right("Requeued")]);
    let row = |device: &DeviceCounters| {
        let mut row: Vec<Text> = vec![device.device.as_str().into()];
        row.extend([
            grouped(device.rx_packets).into(),
            device.rx_bytes.to_string().into(),
            grouped(device.rx_dropped).into(),
            grouped(device.rx_errors).into(),
            grouped(device.tx_packets).into(),
            device.tx_bytes.to_string().into(),
            grouped(device.tx_dropped).into(),
            grouped(device.tx_errors).into(),
        ]);
        let qdisc = device.qdisc.as_ref();
        let of = |count: Option<u64>| count.map_or_else(|| "-".into(), |count| Text::from(grouped(count)));
        row.push(qdisc.map_or("-", |qdisc| qdisc.kind.as_str()).into());
        row.extend([
            of(qdisc.map(|it| it.drops)),
            of(qdisc.map(|it| it.overlimits)),
            of(qdisc.map(|it| it.requeues)),
        ]);
        row
    };
    Table { columns, rows: devices.iter().map(row).collect(), caption: None }
}

fn host(host: &HostCounters) -> Option<Text> {
    let tracked = host.tracked.filter(|tracked| *tracked > 0 || host.translated.is_some());
    let tracked = tracked.map(|tracked| format!("{} connections tracked", grouped(tracked)));
    let translated = host.translated.map(|it| format!("{} packets with address translation", grouped(it)));
    let refused = [
        (host.insert_failed, "packets dropped because their connection could not be tracked"),
        (host.table_full, "packets dropped because the connection tracking table was full"),
        (host.checksum_errors, "packets with a wrong checksum"),
    ];
    let refused = refused.into_iter().filter(|(packets, _)| *packets > 0);
    let refused = refused.map(|(packets, what)| format!("{} {what}", grouped(packets)));
    let phrase: Vec<String> = tracked.into_iter().chain(translated).chain(refused).collect();
    (!phrase.is_empty()).then(|| format!("{}: {}", host.host, phrase.join(", ")).into())
}
