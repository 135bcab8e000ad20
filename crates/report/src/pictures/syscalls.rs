//! One bar for each system call of a result, split into running, waiting and guest time. If times are unknown, bars
//! show call counts.

use std::collections::BTreeMap;

use findings::ResultSummary;
use samples::SyscallCount;
use units::Nanos;
use workload::Metric;

use super::columns::number;
use crate::{chart::*, page::*, phrases, quantity, sections::Source, text::GLUE};

pub(super) const KIND: &str = "system-calls";

const MOST: usize = 12;
/// A thread with less than this fraction of the busiest thread's CPU time is idle, e.g. waiting for requests.
const IDLE: f64 = 0.05;

pub(super) fn build(source: &Source<'_>) -> Vec<Chart> {
    source.findings.results.iter().filter_map(chart).collect()
}

pub(crate) fn chart(result: &ResultSummary) -> Option<Chart> {
    if result.syscalls.is_empty() {
        return None;
    }
    let rate = |index: usize| result.probed.as_ref()?.calls.as_ref()?.each.get(index).copied();
    let work = result.probed.as_ref().and_then(|probed| probed.calls.as_ref()).map(|calls| calls.work);
    let unit = work.map(|work| work.for_cpu().1);
    let mut calls: Vec<(usize, &SyscallCount)> = result.syscalls.iter().enumerate().collect();
    let is_timed = calls.iter().any(|(_, call)| call.total.is_some());
    calls.sort_by_key(|(_, call)| {
        std::cmp::Reverse(if is_timed { call.total.map_or(0, |time| time.0) } else { call.calls })
    });
    let threads = BusyThreads::of(&result.syscalls);
    let shown = calls.iter().filter(|(_, call)| threads.contain(call)).take(MOST);
    let rows: Vec<Row> = shown.map(|(_, call)| row(call, is_timed)).collect();
    let largest = rows.iter().flat_map(Row::reach).fold(0.0, f64::max);
    let scale = Scale::from_zero([largest]);
    let axis = if is_timed {
        Axis::of_unit("time in the call, all trials", quantity::Scale::of(Metric::RoundTrip, largest), scale)
    } else {
        Axis { title: "calls, all trials".to_owned(), scale, ticks: Ticks::In(1.0) }
    };
    let mut data = Data::new([
        "result",
        "end",
        "process",
        "thread",
        "call",
        "calls",
        "calls_for_each",
        "each",
        "total_ns",
        "running_ns",
        "waiting_ns",
        "guest_ns",
    ]);
    for (index, call) in &calls {
        let time = |time: Option<Nanos>| time.map(|time| time.0.to_string());
        data.push([
            Some(result.id.clone()),
            call.end.clone(),
            call.process.clone(),
            call.thread.clone(),
            Some(call.call.clone()),
            Some(call.calls.to_string()),
            number(rate(*index)),
            unit.map(str::to_owned),
            time(call.total),
            time(call.running),
            time(call.waiting),
            time(call.guest),
        ]);
    }
    let mut phrase = rows.iter().map(|row| format!("{}: {}", row.label, row.text.characters()));
    Some(Chart {
        kind: KIND,
        title: format!("System calls: {}", result.label),
        about: phrase.join("; "),
        drawing: Drawing::Rows(Rows { axis, keys: keys(&rows, is_timed), rows, reference: None }),
        data,
        plain: None,
    })
}

type Thread<'a> = (Option<&'a str>, Option<u32>, Option<&'a str>, Option<u32>);

/// Maps threads to the CPU time of their system calls, including guest time. Omits threads with unknown times.
struct BusyThreads<'a>(BTreeMap<Thread<'a>, u64>);

impl<'a> BusyThreads<'a> {
    fn of(calls: &'a [SyscallCount]) -> Self {
        let mut times = BTreeMap::new();
        for call in calls.iter().filter(|call| call.thread.is_some()) {
            let Some(running) = call.running else { continue };
            *times.entry(thread(call)).or_default() += running.0 + call.guest.map_or(0, |guest| guest.0);
        }
        Self(times)
    }

    fn contain(&self, call: &SyscallCount) -> bool {
        let most = self.0.values().max().copied().unwrap_or_default();
        self.0.get(&thread(call)).is_none_or(|time| *time as f64 >= most as f64 * IDLE)
    }
}

fn thread(call: &SyscallCount) -> Thread<'_> {
    (call.end.as_deref(), call.pid, call.thread.as_deref(), call.tid)
}

fn row(call: &SyscallCount, is_timed: bool) -> Row {
    let (mut pieces, mut from) = (Vec::new(), 0.0);
    let mut add = |value: f64, paint: Paint| {
        if value > 0.0 {
            pieces.push(Piece { from, to: from + value, paint, is_unclear: false });
            from += value;
        }
    };
    match (is_timed, call.total) {
        (false, _) => add(call.calls as f64, Paint::Value),
        (true, None) => {}
        (true, Some(total)) => {
            let parts =
                [(call.running, Paint::Of(1)), (call.waiting, Paint::Of(5)), (call.guest, Paint::Of(2))];
            let known: u64 = parts.iter().filter_map(|(time, _)| *time).map(|time| time.0).sum();
            for (time, paint) in parts {
                add(time.map_or(0.0, |time| time.0 as f64), paint);
            }
            add(total.0.saturating_sub(known) as f64, Paint::Faint);
        }
    }
    let times = phrases::grouped(call.calls);
    let took = call.total.map(|time| format!("{time}, ").replace(GLUE, " ")).unwrap_or_default();
    let who = call.thread.as_ref().or(call.process.as_ref()).or(call.end.as_ref());
    let who = who.map(|who| format!(", {who}")).unwrap_or_default();
    Row {
        label: format!("{}{who}", call.call),
        pieces,
        text: Text::plain(format!("{took}{times} calls")),
        ..Row::default()
    }
}

fn keys(rows: &[Row], is_timed: bool) -> Vec<Key> {
    let has = |paint: Paint| rows.iter().flat_map(|row| &row.pieces).any(|piece| piece.paint == paint);
    let named = [
        (Paint::Of(1), "running"),
        (Paint::Of(5), "sleeping or waiting for a CPU"),
        (Paint::Of(2), "in a guest"),
        (Paint::Faint, "unknown"),
    ];
    let there = named.into_iter().filter(|(paint, _)| is_timed && has(*paint));
    there.map(|(paint, name)| Key::Surface(paint, name.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_threads_are_not_drawn() {
        let call = |thread: &str, running: u64, waiting: u64| SyscallCount {
            thread: Some(thread.to_owned()),
            call: "futex".to_owned(),
            running: Some(Nanos(running)),
            waiting: Some(Nanos(waiting)),
            ..SyscallCount::default()
        };
        let calls =
            [call("stream 0 fwd", 1_000_000, 5), call("order", 9_000, 9_000_000), call("pong", 60_000, 5)];
        let threads = BusyThreads::of(&calls);
        assert_eq!(calls.each_ref().map(|call| threads.contain(call)), [true, false, true]);
        let unknown = SyscallCount { running: None, ..calls[1].clone() };
        assert!(BusyThreads::of(std::slice::from_ref(&unknown)).contain(&unknown));
    }
}
