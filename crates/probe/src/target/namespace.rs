//! Network namespaces by name or path, and who is in one. Must not know control groups or machines.

use std::{fs, os::linux::fs::MetadataExt, path::Path};

use samples::TracedProcess;

use super::{TargetError, all, number, of_process, traced};

/// Where `ip netns` keeps names (ip-netns(8)).
const NAMED: &str = "/run/netns";

/// The inode of a network namespace: a name of `ip netns`, or a path such as `/proc/PID/ns/net`.
///
/// # Errors
/// When there is no such file, or it is no network namespace.
pub fn namespace(named: &str) -> Result<u64, TargetError> {
    let refused = |because: String| TargetError::NoNamespace { named: named.to_owned(), because };
    let path = if named.contains('/') { Path::new(named).to_owned() } else { Path::new(NAMED).join(named) };
    let found = fs::metadata(&path).map_err(|error| refused(format!("{}: {error}", path.display())))?;
    let own = fs::metadata("/proc/self/ns/net").map_err(|error| refused(error.to_string()))?;
    if found.st_dev() != own.st_dev() {
        return Err(refused(format!("{} is no namespace", path.display())));
    }
    // All kinds of namespaces are of one file system; only those of networks have processes' `ns/net` or a name there.
    let of_network = named.ends_with("/net") || path.starts_with(NAMED) || has_process(found.st_ino());
    if of_network {
        Ok(found.st_ino())
    } else {
        Err(refused("no process is in it, or it is of another kind".into()))
    }
}

/// The processes of a network namespace.
#[must_use]
pub fn in_namespace(inode: u64) -> Vec<TracedProcess> {
    let is_in = |pid: u32| of(pid) == Some(inode);
    all()
        .filter(|process| u32::try_from(process.pid).is_ok_and(is_in))
        .filter_map(|process| traced(&process))
        .collect()
}

/// The network namespace that a process is in, by inode; `None` when it has ended or may not be asked.
#[must_use]
pub fn of(pid: u32) -> Option<u64> {
    fs::metadata(of_process(pid, "ns/net")).ok().map(|found| found.st_ino())
}

fn has_process(inode: u64) -> bool {
    all().filter_map(|process| number(&process)).any(|pid| of(pid) == Some(inode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_namespace_is_found_by_its_path_with_this_process_in_it() {
        let inode = namespace("/proc/self/ns/net").expect("every process is in one");
        assert_eq!(of(std::process::id()), Some(inode));
        assert!(in_namespace(inode).iter().any(|process| process.pid == std::process::id()));
    }

    #[test]
    fn what_is_no_network_namespace_is_refused_with_the_reason() {
        for (named, said) in [
            ("no-such-name", "/run/netns/no-such-name"),
            ("/proc/self/status", "is no namespace"),
            ("/proc/self/ns/mnt", "another kind"),
        ] {
            let error = namespace(named).expect_err(named).to_string();
            assert!(error.contains(named) && error.contains(said), "{error}");
        }
    }
}
