//! The control group of a process: its limit of CPU time. Source: cgroup-v2.rst of the kernel's documentation. Must not know
//! whose process it is.

use std::path::Path;

use procfs::process::Process;

use crate::{file::line, target};

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ControlGroup {
    /// As /proc/PID/cgroup has it.
    pub(super) path: String,
    /// CPUs that it may use.
    pub(super) limit: Option<f64>,
    /// Microseconds that it stood still since it was made.
    pub(super) throttled: Option<u64>,
}

/// That of a process; `None` where it is in none of version 2 but the root.
pub(super) fn of(process: &Process) -> Option<ControlGroup> {
    let groups = process.cgroups().ok()?;
    let path = groups.into_iter().find(|group| group.hierarchy == 0)?.pathname;
    let folder = target::control_group(&path).ok().map(|(_, folder)| folder);
    let read = |name: &str| folder.as_deref().and_then(|folder: &Path| text(&folder.join(name)));
    Some(ControlGroup {
        limit: read("cpu.max").and_then(|text| limit(&text)),
        throttled: read("cpu.stat").and_then(|text| throttled(&text)),
        path,
    })
}

fn text(path: &Path) -> Option<String> {
    line(path)
}

/// Of `200000 100000`: quota and period in microseconds; `max` is no limit.
fn limit(text: &str) -> Option<f64> {
    let (quota, period) = text.split_once(' ')?;
    let (quota, period): (f64, f64) = (quota.parse().ok()?, period.parse().ok()?);
    (period > 0.0).then(|| quota / period)
}

fn throttled(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("throttled_usec "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_number_of_cpus() {
        for (text, expected) in
            [("200000 100000", Some(2.0)), ("max 100000", None), ("50000 100000", Some(0.5)), ("", None)]
        {
            assert_eq!(limit(text), expected, "{text}");
        }
        assert_eq!(throttled("usage_usec 1\nnr_throttled 2\nthrottled_usec 345\n"), Some(345));
        assert_eq!(throttled("usage_usec 1"), None);
    }
}
