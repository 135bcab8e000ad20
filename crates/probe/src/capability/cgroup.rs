//! Whether control groups of version 2 can bind and account a process. See cgroups(7).

use std::fs;
use std::path::{Path, PathBuf};

use procfs::process::Process;

use super::{Area, Capability, Subject};
use crate::file::line;

const CGROUP: Subject = Subject {
    id: "cgroup-v2",
    title: "cgroup v2",
    needed_for: "CPU time and limits of whole endpoints (later)",
    area: Area::Machine,
    required: false,
};

const CONTROLLERS: [&str; 2] = ["cpu", "cpuset"];

/// What was found of this process's group.
struct Group {
    at: PathBuf,
    controllers: String,
    /// Why no group could be made in it.
    refusal: Option<String>,
}

pub(super) fn probe() -> Capability {
    judge(own_group().map(|at| Group {
        controllers: line(at.join("cgroup.controllers")).unwrap_or_default(),
        refusal: try_make_in(&at).err().map(|error| error.to_string()),
        at,
    }))
}

fn own_group() -> Option<PathBuf> {
    let process = Process::myself().ok()?;
    let mounts = process.mountinfo().ok()?;
    let root = mounts.into_iter().find(|mount| mount.fs_type == "cgroup2")?.mount_point;
    let groups = process.cgroups().ok()?;
    let own = groups.into_iter().find(|group| group.hierarchy == 0)?.pathname;
    // Joining an empty path would leave a slash at the end.
    let at: PathBuf = root.join(own.trim_start_matches('/')).components().collect();
    // In a container the path may be one of the world outside, of which only the part below is mounted.
    Some(if at.is_dir() { at } else { root })
}

fn try_make_in(group: &Path) -> std::io::Result<()> {
    let scratch = group.join(format!("plumb-doctor-{}", std::process::id()));
    fs::create_dir(&scratch)?;
    fs::remove_dir(&scratch)
}

fn judge(group: Option<Group>) -> Capability {
    let Some(Group { at, controllers, refusal }) = group else {
        return CGROUP.missing(
            "not mounted",
            "boot with systemd.unified_cgroup_hierarchy=1, or mount -t cgroup2 none /mnt (CONFIG_CGROUPS)",
        );
    };
    let at = at.display();
    let has = |name: &&str| controllers.split_whitespace().any(|one| one == *name);
    let lacking: Vec<_> = CONTROLLERS.into_iter().filter(|name| !has(name)).collect();
    if !lacking.is_empty() {
        return CGROUP.limited(
            format!("{at} has no controller {} (version 1 may hold it)", lacking.join(" and ")),
            "boot with cgroup_no_v1=all systemd.unified_cgroup_hierarchy=1",
        );
    }
    match refusal {
        None => CGROUP.works(format!("a group can be made in {at}, with {}", CONTROLLERS.join(" and "))),
        Some(reason) => CGROUP.limited(
            format!("no group can be made in {at}: {reason}"),
            "sudo plumb …; or systemd-run --user --scope -p Delegate=yes plumb …",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn a_group_needs_its_controllers_and_the_right_to_write() {
        let group = |controllers: &str, refusal: Option<&str>| {
            let (controllers, refusal) = (controllers.to_owned(), refusal.map(str::to_owned));
            judge(Some(Group { at: "/cg".into(), controllers, refusal })).state
        };
        assert_eq!(group("cpuset cpu io", None), State::Works);
        assert_eq!(group("cpu io", None), State::Limited);
        assert_eq!(group("", None), State::Limited);
        assert_eq!(group("cpuset cpu io", Some("denied")), State::Limited);
        assert_eq!(judge(None).state, State::Missing);
    }
}
