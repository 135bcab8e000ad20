//! All network namespaces that this process can find.

use std::{collections::BTreeSet, fs};

use sys::netns::NetNs;

/// More namespaces than a large Kubernetes node has pods.
const MAX: usize = 256;

/// Returns the namespaces other than `known` that this process may enter, named after their file or a
/// process.
#[must_use]
pub fn visible_namespaces(known: &[&NetNs]) -> Vec<(String, NetNs)> {
    let mut seen: BTreeSet<u64> = known.iter().map(|namespace| namespace.inode()).collect();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let pids: Vec<String> = pids.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())).collect();
    let of_processes = pids.iter().map(|pid| (format!("pid-{pid}"), format!("/proc/{pid}/ns/net")));
    let found = mounted(&pids).into_iter().chain(of_processes);
    let opened = found.filter_map(|(name, path)| Some((name, NetNs::open(path).ok()?)));
    let new = opened.filter(|(_, namespace)| seen.insert(namespace.inode()));
    new.filter(|(_, namespace)| namespace.run_in(|| ()).is_ok()).take(MAX).collect()
}

/// Finds namespaces mounted on a file, which may have no processes: the named namespaces of ip-netns(8) and, in
/// another mount namespace, the network of rootless Podman.
fn mounted(pids: &[String]) -> Vec<(String, String)> {
    let own = "self".to_owned();
    let mut seen = BTreeSet::new();
    let of_process = |process: &String| {
        let mounts = fs::read_link(format!("/proc/{process}/ns/mnt")).ok()?;
        let file = || fs::read_to_string(format!("/proc/{process}/mountinfo")).ok();
        let files = seen.insert(mounts).then(file).flatten()?;
        Some(
            namespace_files(&files)
                .map(|(name, path)| (name, format!("/proc/{process}/root{path}")))
                .collect(),
        )
    };
    let found = std::iter::once(&own).chain(pids).filter_map(of_process);
    found.flat_map(|files: Vec<(String, String)>| files).collect()
}

/// Returns names and paths from the text of proc_pid_mountinfo(5).
fn namespace_files(mountinfo: &str) -> impl Iterator<Item = (String, &str)> {
    mountinfo.lines().filter_map(|line| {
        let (mount, filesystem) = line.split_once(" - ")?;
        let mut mount = mount.split(' ').skip(3);
        let (root, path) = (mount.next()?, mount.next()?);
        let is_network = filesystem.starts_with("nsfs ") && root.starts_with("net:");
        is_network.then(|| (path.rsplit('/').next().unwrap_or(path).to_owned(), path))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_files_of_network_namespaces() {
        let mounts = "\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
56 42 0:4 net:[4026532461] /run/netns/blue rw shared:23 - nsfs nsfs rw
57 42 0:4 mnt:[4026532462] /run/snapd/ns/x.mnt rw - nsfs nsfs rw
";
        let found: Vec<_> = namespace_files(mounts).collect();
        assert_eq!(found, [("blue".to_owned(), "/run/netns/blue")]);
    }
}
