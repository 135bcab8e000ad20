//! Network namespaces by name or path, and their processes.

use std::{fs, os::linux::fs::MetadataExt, path::Path};

use samples::TracedProcess;

use super::{TargetError, all, number, of_process, traced};

/// Directory used by `ip netns` (ip-netns(8)).
const NAMED: &str = "/run/netns";

/// Returns the inode of a network namespace by its `ip netns` name or a path such as `/proc/PID/ns/net`.
pub fn namespace(named: &str) -> Result<u64, TargetError> {
    let refused = |reason: String| TargetError::NoNamespace { named: named.to_owned(), reason };
    let path = if named.contains('/') { Path::new(named).to_owned() } else { Path::new(NAMED).join(named) };
    let found = fs::metadata(&path).map_err(|error| refused(format!("{}: {error}", path.display())))?;
    let own = fs::metadata("/proc/self/ns/net").map_err(|error| refused(error.to_string()))?;
    if found.st_dev() != own.st_dev() {
        return Err(refused(format!("{} is not a namespace", path.display())));
    }
    // All kinds of namespaces share one file system. A process's `ns/net` or a name in this directory identifies a
    // network namespace.
    let of_network = named.ends_with("/net") || path.starts_with(NAMED) || has_process(found.st_ino());
    if of_network {
        Ok(found.st_ino())
    } else {
        Err(refused("it has no processes, or is not a network namespace".into()))
    }
}

#[must_use]
pub fn in_namespace(inode: u64) -> Vec<TracedProcess> {
    let is_in = |pid: u32| namespace_of(pid) == Some(inode);
    all()
        .filter(|process| u32::try_from(process.pid).is_ok_and(is_in))
        .filter_map(|process| traced(&process))
        .collect()
}

/// Returns the inode of a process's network namespace, or `None` if the process has exited or is inaccessible.
#[must_use]
pub fn namespace_of(pid: u32) -> Option<u64> {
    fs::metadata(of_process(pid, "ns/net")).ok().map(|found| found.st_ino())
}

fn has_process(inode: u64) -> bool {
    all().filter_map(|process| number(&process)).any(|pid| namespace_of(pid) == Some(inode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_own_namespace_by_path() {
        let inode = namespace("/proc/self/ns/net").expect("every process has one");
        assert_eq!(namespace_of(std::process::id()), Some(inode));
        assert!(in_namespace(inode).iter().any(|process| process.pid == std::process::id()));
    }

    #[test]
    fn rejects_other_files_with_reason() {
        for (named, reason) in [
            ("no-such-name", "/run/netns/no-such-name"),
            ("/proc/self/status", "is not a namespace"),
            ("/proc/self/ns/mnt", "is not a network namespace"),
        ] {
            let error = namespace(named).expect_err(named).to_string();
            assert!(error.contains(named) && error.contains(reason), "{error}");
        }
    }
}
