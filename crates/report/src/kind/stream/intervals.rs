//! Interval tables for both ends of each connection, with TCP_INFO or datagram counts.

use workload::{DatagramSample, EndSeries, Flow, Interval, StreamData, TcpSample};

use crate::{page::*, sections::intervals::span};

const FLOWS: usize = 4;

struct Extra<T> {
    title: &'static str,
    value: fn(&T) -> String,
    total: Option<fn(&EndSeries) -> String>,
}

const SENDER: &[Extra<TcpSample>] = &[
    Extra {
        title: "Retr",
        value: |tcp| tcp.retransmits.to_string(),
        total: Some(|end| end.retransmits().to_string()),
    },
    of_tcp("Reord", |tcp| whole(tcp, &tcp.reorderings)),
    of_tcp("Cwnd", |tcp| known_or_dash(tcp.cwnd.0 > 0, &tcp.cwnd)),
    of_tcp("RTT", |tcp| known_or_dash(tcp.rtt.0 > 0, &tcp.rtt)),
    of_tcp("Delivery", |tcp| tcp.delivery.map_or_else(|| "-".to_owned(), |rate| rate.to_string())),
    of_tcp("Window-limited", |tcp| whole(tcp, &tcp.receive_window_limited)),
    of_tcp("Buffer-limited", |tcp| whole(tcp, &tcp.send_buffer_limited)),
];

const RECEIVER: &[Extra<TcpSample>] = &[
    of_tcp("Out of order", |tcp| whole(tcp, &tcp.out_of_order)),
    of_tcp("Window", |tcp| whole(tcp, &tcp.offered_window)),
    of_tcp("RTT", |tcp| known_or_dash(tcp.rtt.0 > 0, &tcp.rtt)),
];

const fn of_tcp(title: &'static str, value: fn(&TcpSample) -> String) -> Extra<TcpSample> {
    Extra { title, value, total: None }
}

fn known_or_dash(is_known: bool, value: &impl ToString) -> String {
    if is_known { value.to_string() } else { "-".to_owned() }
}

/// In TCP_INFO from other tools, a zero usually means that the field is missing.
fn whole(tcp: &TcpSample, value: &impl ToString) -> String {
    known_or_dash(tcp.is_whole(), value)
}

const SENT: &[Extra<DatagramSample>] = &[Extra {
    title: "Datagrams",
    value: |sample| sample.count.to_string(),
    total: Some(|end| total_of(end, |all| all.count.to_string())),
}];

const RECEIVED: &[Extra<DatagramSample>] = &[
    Extra {
        title: "Datagrams",
        value: |sample| sample.count.to_string(),
        total: Some(|end| total_of(end, |all| all.count.to_string())),
    },
    Extra {
        title: "Lost",
        value: |sample| sample.lost.to_string(),
        total: Some(|end| total_of(end, |all| all.lost.to_string())),
    },
    Extra {
        title: "Reordered",
        value: |sample| sample.reordered.to_string(),
        total: Some(|end| total_of(end, |all| all.reordered.to_string())),
    },
    Extra {
        title: "Duplicate",
        value: |sample| sample.duplicates.to_string(),
        total: Some(|end| total_of(end, |all| all.duplicates.to_string())),
    },
    Extra {
        title: "Jitter",
        value: |sample| sample.jitter.to_string(),
        total: Some(|end| total_of(end, |all| all.jitter.to_string())),
    },
];

pub(crate) fn tables(stream: &StreamData) -> Vec<Block> {
    stream.flows.iter().take(FLOWS).flat_map(flow).chain(left_out(stream)).collect()
}

fn flow(flow: &Flow) -> Vec<Block> {
    let direction = match flow.direction {
        workload::Direction::Reverse => "reverse",
        workload::Direction::Forward | workload::Direction::Both => "forward",
    };
    let title = |end: &str| Text::from(format!("{end}, connection {} {direction}", flow.id));
    vec![
        Block::Heading(title("Sender")),
        Block::Table(end(&flow.sender, SENDER, SENT)),
        Block::Heading(title("Receiver")),
        Block::Table(end(&flow.receiver, RECEIVER, RECEIVED)),
    ]
}

fn end(end: &EndSeries, tcp: &[Extra<TcpSample>], datagrams: &[Extra<DatagramSample>]) -> Table {
    let is_tcp = end.intervals.iter().any(|interval| interval.tcp.is_some());
    let is_udp = end.intervals.iter().any(|interval| interval.datagrams.is_some());
    let (tcp, datagrams) = (if is_tcp { tcp } else { &[] }, if is_udp { datagrams } else { &[] });
    let mut columns = vec![left("Interval"), right("Transfer"), right("Bitrate")];
    columns.extend(titles(tcp).chain(titles(datagrams)));
    let row = |interval: &Interval| -> Vec<Text> {
        let mut row = vec![
            span(interval.start, interval.end, interval.warmup),
            interval.bytes.to_string().into(),
            interval.rate().to_string().into(),
        ];
        row.extend(tcp.iter().map(|extra| value(interval.tcp.as_ref(), extra)));
        row.extend(datagrams.iter().map(|extra| value(interval.datagrams.as_ref(), extra)));
        row
    };
    let mut rows: Vec<Vec<Text>> = end.intervals.iter().map(row).collect();
    rows.push(total(end, tcp, datagrams));
    Table { columns, rows, caption: None }
}

fn titles<T>(extras: &[Extra<T>]) -> impl Iterator<Item = Column> {
    extras.iter().map(|extra| right(extra.title))
}

fn value<T>(sample: Option<&T>, extra: &Extra<T>) -> Text {
    sample.map_or_else(|| "-".into(), |sample| (extra.value)(sample).into())
}

fn total(end: &EndSeries, tcp: &[Extra<TcpSample>], datagrams: &[Extra<DatagramSample>]) -> Vec<Text> {
    let mut row = vec![
        Text::strong(format!("total, {:.2} s", end.elapsed().seconds())),
        end.bytes().to_string().into(),
        Text::strong(end.rate().to_string()),
    ];
    let totals = tcp.iter().map(|extra| extra.total).chain(datagrams.iter().map(|extra| extra.total));
    row.extend(totals.map(|total| total.map_or_else(Text::default, |total| total(end).into())));
    row
}

fn total_of(end: &EndSeries, of: fn(&DatagramSample) -> String) -> String {
    end.datagrams().map_or_else(|| "-".to_owned(), |all| of(&all))
}

fn left_out(stream: &StreamData) -> Option<Block> {
    let left_out = stream.flows.len().checked_sub(FLOWS).filter(|more| *more > 0)?;
    Some(Block::Paragraph(format!("{left_out} more connections are not shown.").into()))
}
