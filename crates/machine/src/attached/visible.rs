//! All network namespaces that this process can find.

use std::{collections::BTreeSet, fs};

use sys::netns::NetNs;

/// Named namespaces of ip-netns(8).
const NAMED: &str = "/run/netns";
/// More namespaces than a large Kubernetes node has pods.
const MAX: usize = 256;

/// Returns the namespaces other than `known` that this process may enter. Each has the name of its file or of a process.
#[must_use]
pub fn visible_namespaces(known: &[&NetNs]) -> Vec<(String, NetNs)> {
    let mut seen: BTreeSet<u64> = known.iter().map(|namespace| namespace.inode()).collect();
    let names = |folder| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok())
    };
    let named = names(NAMED).map(|name| (name.clone(), format!("{NAMED}/{name}")));
    let pids = names("/proc").filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    let of_processes = pids.map(|pid| (format!("pid-{pid}"), format!("/proc/{pid}/ns/net")));
    let opened = named.chain(of_processes).filter_map(|(name, path)| Some((name, NetNs::open(path).ok()?)));
    let new = opened.filter(|(_, namespace)| seen.insert(namespace.inode()));
    new.filter(|(_, namespace)| namespace.run_in(|| ()).is_ok()).take(MAX).collect()
}
