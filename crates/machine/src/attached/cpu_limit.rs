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

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuotaCounters(Vec<(PathBuf, Counts)>);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    periods: u64,
    throttled: u64,
    time: Duration,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Throttling {
    pub group: PathBuf,
    /// The quota in CPUs, or `None` if the cgroup no longer has a quota.
    pub limit: Option<f64>,
    /// Periods in which the processes ran, usually 100 ms long.
    pub periods: u64,
    pub throttled: u64,
    /// Summed over all CPUs.
    pub time: Duration,
}

/// A cgroup hierarchy. Its directory `root` is mounted at `mount`.
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
        // Count all online CPUs, including those that this process may not use.
        let all =
            fs::read_to_string(ONLINE).ok().and_then(|list| number_of_cpus(&list)).unwrap_or(usize::MAX);
        let pinned = allowed
            .filter(|count| *count < all)
            .map(|count| Self { cpus: count as f64, source: "its CPU affinity or cpuset".to_owned() });
        [smallest, pinned].into_iter().flatten().min_by(|one, other| one.cpus.total_cmp(&other.cpus))
    }
}

impl QuotaCounters {
    #[must_use]
    pub fn now(process: &Process) -> Self {
        let read = |level: PathBuf| {
            let stat = fs::read_to_string(level.join("cpu.stat")).ok()?;
            Some((level, counts(&stat)?))
        };
        Self(levels(process).into_iter().filter_map(read).collect())
    }

    #[must_use]
    pub fn here() -> Option<Self> {
        Process::running(std::process::id()).ok().flatten().as_ref().map(Self::now)
    }

    #[must_use]
    pub fn since(&self, before: &Self) -> Option<Throttling> {
        let growth = self.0.iter().map(|(level, now)| {
            let earlier = before.0.iter().find(|(other, _)| other == level);
            let then = earlier.map_or_else(Counts::default, |(_, earlier)| *earlier);
            Throttling {
                group: level.clone(),
                limit: quota(level).map(|limit| limit.cpus),
                periods: now.periods.saturating_sub(then.periods),
                throttled: now.throttled.saturating_sub(then.throttled),
                time: now.time.saturating_sub(then.time),
            }
        });
        growth.filter(|growth| !growth.time.is_zero()).max_by_key(|growth| growth.time)
    }
}

pub(super) fn cgroups(process: &Process) -> Vec<PathBuf> {
    mounted(process).into_iter().map(|(_, directory)| directory).collect()
}

/// Returns a parent directory for a new cgroup with a CPU quota, and whether it uses cgroup version 2. In
/// version 2 this is the root, because other cgroups cannot have both processes and children with
/// controllers.
pub(crate) fn cpu_hierarchy(process: &Process) -> Option<(PathBuf, bool)> {
    mounted(process).into_iter().find_map(|(mount, directory)| {
        let controllers = fs::read_to_string(mount.join("cgroup.controllers"));
        match controllers {
            Ok(all) => all.split_whitespace().any(|one| one == "cpu").then_some((mount, true)),
            Err(_) => directory.join("cpu.cfs_quota_us").exists().then_some((directory, false)),
        }
    })
}

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
fn counts(stat: &str) -> Option<Counts> {
    let value = |key: &str| -> Option<u64> {
        stat.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok())
    };
    let nanos = || value("throttled_time").map(Duration::from_nanos);
    Some(Counts {
        periods: value("nr_periods").unwrap_or_default(),
        throttled: value("nr_throttled").unwrap_or_default(),
        time: nanos().or_else(|| value("throttled_usec").map(Duration::from_micros))?,
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
        let of = |throttled, seconds| {
            let time = Duration::from_secs(seconds);
            let idle = Counts { time: Duration::from_secs(1), ..Counts::default() };
            QuotaCounters(vec![
                ("/a".into(), idle),
                ("/b".into(), Counts { periods: 2 * throttled, throttled, time }),
            ])
        };
        let (before, after) = (of(20, 2), of(60, 5));
        let time = Duration::from_secs(3);
        let expected = Throttling { group: "/b".into(), limit: None, periods: 80, throttled: 40, time };
        assert_eq!(after.since(&before), Some(expected));
        assert_eq!(before.since(&before), None);
        let nanos = Counts { periods: 4, throttled: 3, time: Duration::from_nanos(5) };
        assert_eq!(counts("nr_periods 4\nnr_throttled 3\nthrottled_time 5\n"), Some(nanos));
        let micros = Counts { time: Duration::from_micros(5), ..Counts::default() };
        assert_eq!(counts("usage_usec 9\nthrottled_usec 5\n"), Some(micros));
    }

    #[test]
    fn counts_allowed_cpus() {
        for (list, count) in [("0", Some(1)), ("0-3,8", Some(5)), ("3-0", None), ("", None)] {
            assert_eq!(allowed_cpus(&format!("Cpus_allowed_list:\t{list}\n")), count, "{list}");
        }
    }
}
