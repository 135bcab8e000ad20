//! Control groups (version 2) by path, and their processes.

use std::{
    fs,
    os::linux::fs::MetadataExt,
    path::{Path, PathBuf},
};

use samples::TracedProcess;

use super::{TargetError, open, traced};

/// Present in every version 2 group below the root (cgroups(7)).
const PROCESSES: &str = "cgroup.procs";

/// Returns the inode and directory of a control group. Its path is absolute or relative to the mount point, as in
/// /proc/PID/cgroup.
pub fn control_group(named: &str) -> Result<(u64, PathBuf), TargetError> {
    let refused =
        |reason: &str| TargetError::NoControlGroup { named: named.to_owned(), reason: reason.to_owned() };
    let root = mounted().ok_or_else(|| refused("cgroup version 2 is not mounted"))?;
    let below = root.join(named.trim_start_matches('/'));
    let folder = [PathBuf::from(named), below].into_iter().find(|folder| is_below(folder, &root));
    let folder =
        folder.ok_or_else(|| refused(&format!("there is no such directory below {}", root.display())))?;
    let inode = fs::metadata(&folder).map_err(|error| refused(&error.to_string()))?.st_ino();
    Ok((inode, folder))
}

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

pub(crate) fn mounted() -> Option<PathBuf> {
    let mounts = procfs::process::Process::myself().ok()?.mountinfo().ok()?;
    mounts.into_iter().find(|mount| mount.fs_type == "cgroup2").map(|mount| mount.mount_point)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_group_error_names_the_searched_directory() {
        let error = control_group("no/such.slice").expect_err("missing group").to_string();
        assert!(error.contains("no/such.slice") && error.contains("control group"), "{error}");
        assert!(control_group("/etc").is_err(), "not a control group");
    }
}
