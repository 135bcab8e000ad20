//! First-touch settings.

use std::ops::RangeInclusive;

use units::{Bytes, Nanos};
use workload::FirstTouchSettings;

use super::{Keys, limits, or};
use crate::{diagnosis::Problem, document::WorkloadTable};

const DURATION: Nanos = Nanos::from_secs(2);
const WARMUP: Nanos = Nanos::from_millis(300);
const MEMORY: RangeInclusive<u64> = 2 << 20..=1 << 40;
const LEAST_SHARE: u64 = 2 << 20;

pub(super) const KEYS: Keys = Keys {
    owner: "a first touch of memory",
    this: "this is a first touch of memory",
    own: &["memory", "threads", "huge-pages", "hosts"],
    reason: |_| None,
};

pub(super) fn load(table: &WorkloadTable, problems: &mut Vec<Problem>) -> FirstTouchSettings {
    let usual = FirstTouchSettings::new(table.duration.as_ref().map_or(DURATION, |time| time.0));
    let memory = limits::size_or(&table.memory, usual.memory);
    let threads = limits::count(&table.threads, "threads", problems);
    let least = LEAST_SHARE.saturating_mul(u64::from(threads)).max(*MEMORY.start());
    if let Some(written) = table.memory.as_ref().filter(|_| !(least..=*MEMORY.end()).contains(&memory.0)) {
        let message = format!("{memory} of memory is out of range");
        let help =
            format!("use {} to {}; each thread needs at least 2 MiB", Bytes(least), Bytes(*MEMORY.end()));
        problems.push(Problem::new(written.span(), message, "out of range").help(help));
    }
    FirstTouchSettings {
        memory,
        threads,
        huge_pages: or(&table.huge_pages, usual.huge_pages),
        warmup: table.warmup.as_ref().map_or(WARMUP, |time| time.0),
        interval: table.interval.as_ref().map_or(usual.interval, |time| time.0),
        ..usual
    }
}
