//! The columns of a table of system calls. Columns without data are omitted.

use findings::CallRates;
use samples::SyscallCount;
use units::{Nanos, Share, significant};

use super::shape::shape;
use crate::{page::*, phrases};

#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) count: &'a SyscallCount,
    pub(super) all: &'a [SyscallCount],
    pub(super) rate: Option<f64>,
    pub(super) share: Option<f64>,
    pub(super) threads: u32,
}

#[derive(Clone, Copy)]
pub(super) struct OptionalColumn {
    title: &'static str,
    of: fn(Call<'_>) -> Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CallColumns {
    Composition,
    Times,
}

const fn shown(title: &'static str, of: fn(Call<'_>) -> Option<String>) -> OptionalColumn {
    OptionalColumn { title, of }
}

const WHOLE: &[OptionalColumn] = &[
    shown("Failed", |call| call.count.errors.map(phrases::grouped)),
    shown("Elapsed", |call| time(call.count.total)),
    shown("Share", share_of_time),
    shown("Per call", |call| each(call, call.count.total)),
];

const COMPOSED: &[OptionalColumn] = &[
    shown("Per call", |call| each(call, call.count.total)),
    shown("Running", |call| each(call, call.count.running)),
    shown("Waiting", |call| each(call, call.count.waiting)),
    shown("In guest", |call| each(call, call.count.guest.filter(|guest| guest.0 > 0))),
];

const RUNNING: &[OptionalColumn] = &[
    shown("Failed", |call| call.count.errors.map(phrases::grouped)),
    shown("Running", |call| time(call.count.running)),
    shown("Per call", |call| each(call, call.count.running)),
];

const TIMED: &[OptionalColumn] = &[
    shown("Failed", |call| call.count.errors.filter(|errors| *errors > 0).map(phrases::grouped)),
    shown("Elapsed", |call| time(call.count.total)),
    shown("Share", share_of_end_s_time),
    shown("Per call", |call| each(call, call.count.total)),
    shown("Running", |call| time(call.count.running)),
    shown("Waiting", |call| time(call.count.waiting)),
    shown("In guest", |call| time(call.count.guest.filter(|guest| guest.0 > 0))),
    shown("Single calls", |call| shape(&call.count.times)),
];

pub(super) struct Layout {
    whose: bool,
    alone: bool,
    rate: Option<String>,
    shared: bool,
    shown: Vec<OptionalColumn>,
    unknown: &'static str,
}

impl Layout {
    pub(super) fn of(calls: &[Call<'_>], rates: Option<&CallRates>, available: CallColumns) -> Self {
        let is_split = calls.iter().any(|call| is_split(call.count));
        let is_cpu_time = calls.iter().all(|call| call.count.total.is_none() && call.count.waiting.is_none());
        let (columns, unknown) = match (is_split, available) {
            (true, _) if is_cpu_time => (RUNNING, "unknown"),
            (true, CallColumns::Composition) => (COMPOSED, "-"),
            (true, CallColumns::Times) => (TIMED, "-"),
            (false, _) => (WHOLE, "unknown"),
        };
        let process = |call: &Call<'_>| call.count.process.clone();
        let alone = is_split && calls.windows(2).all(|two| process(&two[0]) == process(&two[1]));
        let known = |shown: &&OptionalColumn| calls.iter().any(|call| (shown.of)(*call).is_some());
        Self {
            whose: calls.iter().any(|call| !whose(*call, alone).is_empty()),
            alone,
            rate: rates.map(|rates| format!("Per {}", rates.work.for_calls().1)),
            shared: calls.iter().any(|call| call.share.is_some()),
            shown: columns.iter().filter(known).copied().collect(),
            unknown,
        }
    }

    pub(super) fn table(&self, calls: &[Call<'_>]) -> Table {
        let mut columns: Vec<Column> = self.whose.then(|| left("Owner")).into_iter().collect();
        columns.extend([left("Call"), right("Calls")]);
        columns.extend(self.shared.then(|| right("Share")));
        columns.extend(self.rate.clone().map(right));
        columns.extend(self.shown.iter().map(|shown| right(shown.title)));
        Table { columns, rows: calls.iter().map(|call| self.row(*call)).collect(), caption: None }
    }

    fn row(&self, call: Call<'_>) -> Vec<Text> {
        let unknown = || Text::faint(self.unknown);
        let mut row: Vec<Text> = self.whose.then(|| whose(call, self.alone).into()).into_iter().collect();
        row.extend([Text::strong(&call.count.call), phrases::grouped(call.count.calls).into()]);
        let share = || call.share.map_or_else(unknown, |share| glued(&Share(share).to_string()).into());
        row.extend(self.shared.then(share));
        let rate = || call.rate.map_or_else(unknown, |rate| rare(rate).into());
        row.extend(self.rate.is_some().then(rate));
        row.extend(self.shown.iter().map(|shown| (shown.of)(call).map_or_else(unknown, Text::from)));
        row
    }
}

pub(super) const fn is_split(call: &SyscallCount) -> bool {
    call.running.is_some() || call.waiting.is_some() || call.guest.is_some()
}

/// Formats a rate such as `2.00` or `0.0071`. A rate below one in ten thousand is shown as a bound.
pub(super) fn rare(rate: f64) -> String {
    if rate > 0.0 && rate < 1e-4 { "<0.0001".to_owned() } else { significant(rate, 3) }
}

/// Names the caller as far as it is known, e.g. `server, qemu-system-x86, CPU 0/KVM`. Omits the process if
/// there is only one process.
fn whose(call: Call<'_>, alone: bool) -> String {
    let count = call.count;
    // Most threads have the same name as their process.
    let thread = count.thread.clone().filter(|thread| count.process.as_ref() != Some(thread));
    let several = (call.threads > 1).then(|| phrases::count(call.threads, "thread"));
    let process = count.process.clone().filter(|_| !alone);
    let mut known = [count.end.clone(), process, thread.or(several)].into_iter().flatten();
    known.join(", ")
}

fn time(time: Option<Nanos>) -> Option<String> {
    time.map(|time| glued(&time.to_string()))
}

fn share_of_time(call: Call<'_>) -> Option<String> {
    of_all(call.all.iter(), call.count, |count| count.total.map(|total| total.0))
}

fn share_of_end_s_time(call: Call<'_>) -> Option<String> {
    let of_end = call.all.iter().filter(|other| other.end == call.count.end);
    of_all(of_end, call.count, |count| count.total.map(|total| total.0))
}

fn of_all<'a>(
    all: impl Iterator<Item = &'a SyscallCount>,
    one: &SyscallCount,
    of: impl Fn(&SyscallCount) -> Option<u64>,
) -> Option<String> {
    let all = all.filter_map(&of).fold(0u64, u64::saturating_add);
    let part = of(one).filter(|_| all > 0)?;
    Some(glued(&Share(part as f64 / all as f64).to_string()))
}

fn each(call: Call<'_>, time: Option<Nanos>) -> Option<String> {
    let time = time.filter(|_| call.count.calls > 0)?;
    Some(glued(&Nanos(time.0 / call.count.calls).to_string()))
}
