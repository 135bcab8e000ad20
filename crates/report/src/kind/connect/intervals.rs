//! Tables of successful and failed connections per interval.

use workload::{ConnectData, ConnectInterval};

use crate::{page::*, sections::intervals::span};

pub(crate) fn tables(connect: &ConnectData) -> Vec<Block> {
    if connect.intervals.is_empty() {
        return Vec::new();
    }
    let columns = vec![left("Interval"), right("Connections"), right("Failed")];
    let row = |interval: &ConnectInterval| -> Vec<Text> {
        vec![
            span(interval.start, interval.end, interval.warmup),
            interval.done.to_string().into(),
            interval.failed.to_string().into(),
        ]
    };
    vec![Block::Table(Table { columns, rows: connect.intervals.iter().map(row).collect(), caption: None })]
}
