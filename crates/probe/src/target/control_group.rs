//! Control groups (version 2) by path, and who is in one. Must not know namespaces or machines.

use std::{
    fs,
    os::linux::fs::MetadataExt,
    path::{Path, PathBuf},
};

use samples::TracedProcess;

use super::{TargetError, open, traced};

/// What every group of version 2 has below the root (cgroups(7)).
const PROCESSES: &str = "cgroup.procs";

/// A control group's inode and its folder: a path, or one below where the groups are mounted, as /proc/PID/cgroup
/// shows it.
///
/// # Errors
/// When there is none.
pub fn control_group(named: &str) -> Result<(u64, PathBuf), TargetError> {
    let refused =
        |because: &str| TargetError::NoControlGroup { named: named.to_owned(), because: because.to_owned() };
    let root = mounted().ok_or_else(|| refused("no control groups of version 2 are mounted"))?;
    let below = root.join(named.trim_start_matches('/'));
    let folder = [PathBuf::from(named), below].into_iter().find(|folder| is_below(folder, &root));
    let folder =
        folder.ok_or_else(|| refused(&format!("there is no such folder below {}", root.display())))?;
    let inode = fs::metadata(&folder).map_err(|error| refused(&error.to_string()))?.st_ino();
    Ok((inode, folder))
}

/// The processes of a control group and of those below it.
#[must_use]
pub fn in_control_group(folder: &Path) -> Vec<TracedProcess> {
    let listed = fs::read_to_string(folder.join(PROCESSES)).unwrap_or_default();
    let pids = listed.lines().filter_map(|line| line.parse().ok());
    let mut found: Vec<TracedProcess> =
        pids.filter_map(open).filter_map(|process| traced(&process)).collect();
    let below = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    for entry in below.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        found.extend(in_control_group(&entry.path()));
    }
    found
}

fn is_below(folder: &Path, root: &Path) -> bool {
    folder.starts_with(root) && folder.join(PROCESSES).is_file()
}

/// Where the groups of version 2 are mounted.
pub(crate) fn mounted() -> Option<PathBuf> {
    let mounts = procfs::process::Process::myself().ok()?.mountinfo().ok()?;
    mounts.into_iter().find(|mount| mount.fs_type == "cgroup2").map(|mount| mount.mount_point)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_that_is_not_there_is_refused_with_where_it_was_looked_for() {
        let error = control_group("no/such.slice").expect_err("none is called so").to_string();
        assert!(error.contains("no/such.slice") && error.contains("control group"), "{error}");
        assert!(control_group("/etc").is_err(), "a folder elsewhere is no group");
    }
}
