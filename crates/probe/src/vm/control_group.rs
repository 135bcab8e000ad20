//! A process's control group and its CPU limit (cgroup-v2.rst in the kernel's documentation).

use procfs::process::Process;

use crate::{file::line, target};

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ControlGroup {
    pub(super) path: String,
    pub(super) limit: Option<f64>,
    /// The throttled time since the group was created, in microseconds.
    pub(super) throttled: Option<u64>,
}

pub(super) fn read(process: &Process) -> Option<ControlGroup> {
    let groups = process.cgroups().ok()?;
    let path = groups.into_iter().find(|group| group.hierarchy == 0)?.pathname;
    let folder = target::control_group(&path).ok().map(|(_, folder)| folder);
    let read = |name: &str| line(folder.as_ref()?.join(name));
    Some(ControlGroup {
        limit: read("cpu.max").and_then(|text| limit(&text)),
        throttled: read("cpu.stat").and_then(|text| throttled(&text)),
        path,
    })
}

/// Parses `200000 100000`, a quota and a period in microseconds. If the quota is `max`, the CPU time is unlimited.
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
    fn limit_is_in_cpus() {
        for (text, expected) in
            [("200000 100000", Some(2.0)), ("max 100000", None), ("50000 100000", Some(0.5)), ("", None)]
        {
            assert_eq!(limit(text), expected, "{text}");
        }
        assert_eq!(throttled("usage_usec 1\nnr_throttled 2\nthrottled_usec 345\n"), Some(345));
        assert_eq!(throttled("usage_usec 1"), None);
    }
}
