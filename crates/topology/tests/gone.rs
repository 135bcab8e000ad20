//! Tests that dropping a lab removes it. This is a separate binary, because it counts the resources of its process.

#[expect(dead_code, reason = "uses two of the labs")]
mod support;

use std::{collections::BTreeSet, fs, path::Path};

use support::{bridge_with_guests, can_create_namespaces, egress_gateway};
use topology::Topology;

#[test]
fn dropping_a_lab_releases_all_namespaces() {
    if !can_create_namespaces("dropping_a_lab_releases_all_namespaces") {
        return;
    }
    let (descriptors, devices) = (own_descriptors(), visible_devices());
    for lab in [bridge_with_guests(100), egress_gateway()] {
        let topology = Topology::create(&lab).unwrap();
        let inodes: BTreeSet<u64> = topology.namespaces().map(|(_, namespace)| namespace.inode()).collect();
        assert_eq!(inodes.len(), lab.hosts.len());
        assert_eq!(visible_devices(), devices, "a lab device is visible outside the lab");
        assert_eq!(in_use(&inodes).len(), inodes.len(), "the test detects open namespaces");
        drop(topology);
        assert_eq!(in_use(&inodes), BTreeSet::new());
        assert_eq!(own_descriptors(), descriptors);
    }
}

fn visible_devices() -> BTreeSet<String> {
    names(Path::new("/sys/class/net"))
}

fn own_descriptors() -> usize {
    names(Path::new("/proc/self/fd")).len()
}

fn in_use(inodes: &BTreeSet<u64>) -> BTreeSet<u64> {
    let links: BTreeSet<String> = inodes.iter().map(|inode| format!("net:[{inode}]")).collect();
    let processes = names(Path::new("/proc")).into_iter().filter(|name| name.parse::<u32>().is_ok());
    let ends = processes.flat_map(|process| {
        let process = Path::new("/proc").join(process);
        let open = names(&process.join("fd")).into_iter().map(|fd| format!("fd/{fd}"));
        open.chain(["ns/net".to_owned()]).map(move |link| process.join(link)).collect::<Vec<_>>()
    });
    let targets = ends.filter_map(|link| fs::read_link(link).ok()).map(|target| target.display().to_string());
    let inode = |link: String| link.trim_matches(|c: char| !c.is_ascii_digit()).parse().ok();
    targets.filter(|target| links.contains(target)).filter_map(inode).collect()
}

fn names(directory: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}
