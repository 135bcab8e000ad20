//! Tables of a ping-pong's round trips per interval.

use workload::{LatencyHistogram, PingPongData, PingPongInterval};

use crate::{page::*, sections::intervals::span};

pub(crate) fn tables(ping_pong: &PingPongData) -> Vec<Block> {
    if ping_pong.intervals.is_empty() {
        return Vec::new();
    }
    let mut columns = vec![left("Interval")];
    columns.extend(["Round trips", "Median", "99 %", "Max", "Lost"].map(right));
    let caption =
        ping_pong.open_loop.is_some().then(|| "Measured from each message's intended send time.".into());
    let known = ping_pong.lost.is_some();
    let rows = ping_pong.intervals.iter().map(|interval| row(interval, known)).collect();
    vec![Block::Table(Table { columns, rows, caption })]
}

fn row(interval: &PingPongInterval, losses_known: bool) -> Vec<Text> {
    let times = &interval.round_trips;
    let time = |time: Option<units::Nanos>| time.map_or("-".into(), |time| Text::from(time.to_string()));
    let at = |share: f64| time(LatencyHistogram::quantile(times, share));
    vec![
        span(interval.start, interval.end, interval.warmup),
        times.count().to_string().into(),
        at(0.5),
        at(0.99),
        time(times.max()),
        if losses_known { interval.lost.to_string().into() } else { "-".into() },
    ]
}
