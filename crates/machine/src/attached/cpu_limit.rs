//! The CPU time that a workload may use: quotas of its cgroup and all ancestors, and its allowed CPUs.
//!
//! Files: cgroup-v2.rst and cgroup-v1 (sched-bwc.rst) in the kernel's documentation; proc_pid_mountinfo(5), cgroups(7).

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use sys::process::Process;

const V1: &str = "cgroup";
const V2: &str = "cgroup2";
const ONLINE: &str = "/sys/devices/system/cpu/online";

#[derive(Debug, Clone, PartialEq)]
pub struct CpuLimit {
    /// In CPUs, e.g. 0.5.
    pub cpus: f64,
    pub source: String,
}

/// The time for which the kernel has throttled a cgroup and its ancestors because of their quotas, summed over all CPUs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Throttled {
    time: Vec<(PathBuf, Duration)>,
}

/// A mounted cgroup hierarchy. `root` is the directory of the hierarchy that is mounted at `mount`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hierarchy {
    mount: PathBuf,
    root: PathBuf,
    kind: String,
    options: String,
}

impl CpuLimit {
    #[must_use]
    pub fn of(process: &Process) -> Option<Self> {
        let quotas = levels(process).into_iter().filter_map(|level| quota(&level));
        let smallest = quotas.min_by(|one, other| one.cpus.total_cmp(&other.cpus));
        let allowed = allowed_cpus(&process.read("status").ok()?);
        // Limits of this process do not count.
        let all =
            fs::read_to_string(ONLINE).ok().and_then(|list| number_of_cpus(&list)).unwrap_or(usize::MAX);
        let pinned = allowed
            .filter(|count| *count < all)
            .map(|count| Self { cpus: count as f64, source: "its CPU affinity or cpuset".to_owned() });
        [smallest, pinned].into_iter().flatten().min_by(|one, other| one.cpus.total_cmp(&other.cpus))
    }
}

impl Throttled {
    #[must_use]
    pub fn now(process: &Process) -> Self {
        let read = |level: PathBuf| {
            let stat = fs::read_to_string(level.join("cpu.stat")).ok()?;
            Some((level, throttled_time(&stat)?))
        };
        Self { time: levels(process).into_iter().filter_map(read).collect() }
    }

    /// Returns `None` if no cgroup was throttled.
    #[must_use]
    pub fn since(&self, before: &Self) -> Option<(PathBuf, Duration)> {
        let growth = self.time.iter().map(|(level, time)| {
            let earlier = before.time.iter().find(|(other, _)| other == level);
            (level.clone(), time.saturating_sub(earlier.map_or(Duration::ZERO, |(_, earlier)| *earlier)))
        });
        growth.filter(|(_, time)| !time.is_zero()).max_by_key(|(_, time)| *time)
    }
}

pub(super) fn cgroups(process: &Process) -> Vec<PathBuf> {
    mounted(process).into_iter().map(|(_, directory)| directory).collect()
}

/// Returns the directories of the cgroups and of all their ancestors, including the roots.
fn levels(process: &Process) -> Vec<PathBuf> {
    let of_hierarchy = |(mount, directory): (PathBuf, PathBuf)| {
        let levels = directory.ancestors().take_while(|level| level.starts_with(&mount));
        levels.map(Path::to_owned).collect::<Vec<_>>()
    };
    mounted(process).into_iter().flat_map(of_hierarchy).collect()
}

fn mounted(process: &Process) -> Vec<(PathBuf, PathBuf)> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    directories(&hierarchies(&mounts), &process.read("cgroup").unwrap_or_default())
}

/// `groups` is the text of `/proc/PID/cgroup`.
fn directories(hierarchies: &[Hierarchy], groups: &str) -> Vec<(PathBuf, PathBuf)> {
    let of_line = |line: &str| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, group) = (fields.next()?, Path::new(fields.next()?));
        let is_mounted = |it: &&Hierarchy| match controllers {
            "" => it.kind == V2,
            all => {
                it.kind == V1 && all.split(',').all(|one| it.options.split(',').any(|option| option == one))
            }
        };
        let hierarchy = hierarchies.iter().find(is_mounted)?;
        let inside = group.strip_prefix(&hierarchy.root).ok()?;
        Some((hierarchy.mount.clone(), hierarchy.mount.join(inside)))
    };
    groups.lines().filter_map(of_line).collect()
}

fn hierarchies(mountinfo: &str) -> Vec<Hierarchy> {
    let of_line = |line: &str| {
        let (mount, filesystem) = line.split_once(" - ")?;
        let mut filesystem = filesystem.split(' ');
        let (kind, options) = (filesystem.next()?, filesystem.nth(1)?);
        let mut mount = mount.split(' ').skip(3);
        let (root, mount) = (mount.next()?, mount.next()?);
        (kind == V1 || kind == V2).then(|| Hierarchy {
            mount: mount.into(),
            root: root.into(),
            kind: kind.to_owned(),
            options: options.to_owned(),
        })
    };
    mountinfo.lines().filter_map(of_line).collect()
}

fn quota(level: &Path) -> Option<CpuLimit> {
    let read = |file: &str| fs::read_to_string(level.join(file)).ok();
    let (file, cpus) = match read("cpu.max") {
        Some(text) => ("cpu.max", ratio(&text)?),
        None => {
            let (quota, period) = (read("cpu.cfs_quota_us")?, read("cpu.cfs_period_us")?);
            ("cpu.cfs_quota_us", ratio(&format!("{} {}", quota.trim(), period.trim()))?)
        }
    };
    Some(CpuLimit { cpus, source: level.join(file).display().to_string() })
}

fn ratio(text: &str) -> Option<f64> {
    let mut numbers = text.split_whitespace();
    let quota: f64 = numbers.next()?.parse().ok().filter(|quota| *quota > 0.0)?;
    let period: f64 = numbers.next()?.parse().ok().filter(|period| *period > 0.0)?;
    Some(quota / period)
}

/// Version 1 counts nanoseconds, version 2 microseconds.
fn throttled_time(stat: &str) -> Option<Duration> {
    stat.lines().find_map(|line| match line.split_once(' ')? {
        ("throttled_time", time) => time.parse().ok().map(Duration::from_nanos),
        ("throttled_usec", time) => time.parse().ok().map(Duration::from_micros),
        _ => None,
    })
}

fn allowed_cpus(status: &str) -> Option<usize> {
    number_of_cpus(status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?)
}

fn number_of_cpus(list: &str) -> Option<usize> {
    list.trim()
        .split(',')
        .map(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            Some(last.parse::<usize>().ok()?.checked_sub(first.parse().ok()?)? + 1)
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
34 31 0:31 /node /sys/fs/cgroup/cpuset rw,relatime shared:9 - cgroup cgroup rw,cpuset
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
";

    #[test]
    fn finds_cgroups_of_both_versions() {
        let groups = "4:cpuset:/node/web\n3:cpu,cpuacct:/docker/web\n0::/docker/web\n2:pids:/x\n";
        let found = directories(&hierarchies(MOUNTS), groups);
        let found: Vec<_> = found.iter().filter_map(|(_, directory)| directory.to_str()).collect();
        assert_eq!(
            found,
            [
                "/sys/fs/cgroup/cpuset/web",
                "/sys/fs/cgroup/cpu,cpuacct/docker/web",
                "/sys/fs/cgroup/unified/docker/web",
            ]
        );
    }

    #[test]
    fn reads_quotas_of_both_versions() {
        for (text, cpus) in [
            ("max 100000\n", None),
            ("50000 100000\n", Some(0.5)),
            ("-1 100000", None),
            ("150000 100000", Some(1.5)),
            ("", None),
        ] {
            assert_eq!(ratio(text), cpus, "{text:?}");
        }
    }

    #[test]
    fn smallest_quota_among_ancestors_counts() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let leaf = folder.path().join("pod").join("web");
        fs::create_dir_all(&leaf).expect("own directory");
        fs::write(leaf.join("cpu.max"), "200000 100000\n").expect("own file");
        fs::write(folder.path().join("pod/cpu.max"), "75000 100000\n").expect("own file");
        let quotas: Vec<f64> = leaf.ancestors().filter_map(quota).map(|limit| limit.cpus).collect();
        assert_eq!(quotas, [2.0, 0.75]);
    }

    #[test]
    fn reports_growth_of_throttled_time() {
        let of = |time| Throttled { time: vec![("/a".into(), Duration::from_secs(1)), ("/b".into(), time)] };
        let (before, after) = (of(Duration::from_secs(2)), of(Duration::from_secs(5)));
        assert_eq!(after.since(&before), Some(("/b".into(), Duration::from_secs(3))));
        assert_eq!(before.since(&before), None);
        assert_eq!(throttled_time("nr_throttled 3\nthrottled_time 5\n"), Some(Duration::from_nanos(5)));
        assert_eq!(throttled_time("throttled_usec 5\n"), Some(Duration::from_micros(5)));
    }

    #[test]
    fn counts_allowed_cpus() {
        for (list, count) in [("0", Some(1)), ("0-3,8", Some(5)), ("3-0", None), ("", None)] {
            assert_eq!(allowed_cpus(&format!("Cpus_allowed_list:\t{list}\n")), count, "{list}");
        }
    }
}
