//! How often system calls were made for each message, megabyte or connection. Must not know how long they took.

use findings::{CallRates, EndCalls};
use samples::SyscallCount;

use super::{Watched, carried};

/// Calls for what the trials carried; `None` where no probe counted calls, or nothing was carried.
pub(super) fn rates(watched: &[Watched<'_>], syscalls: &[SyscallCount]) -> Option<CallRates> {
    let counted = watched.iter().filter(|(_, seen)| !seen.syscalls.is_empty());
    let (work, carried) = carried::together(counted.map(|(trial, _)| *trial))?;
    let carried = carried / carried::call_unit(work);
    let mut ends: Vec<EndCalls> = Vec::new();
    for count in syscalls {
        match ends.iter_mut().find(|known| known.end == count.end) {
            Some(known) => known.calls = known.calls.saturating_add(count.calls),
            None => ends.push(EndCalls { end: count.end.clone(), calls: count.calls, rate: 0.0 }),
        }
    }
    ends.sort_by(|one, other| one.end.cmp(&other.end));
    ends.iter_mut().for_each(|end| end.rate = end.calls as f64 / carried);
    let each = syscalls.iter().map(|count| count.calls as f64 / carried).collect();
    Some(CallRates { work, carried, each, ends })
}
