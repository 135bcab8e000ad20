//! Tests that find processes by namespace or control group instead of by PID.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use libtest_mimic::Failed;
use protocol::Subject;
use sys::netns::NetNs;

use crate::roles::{CALLS, KNOWN, KNOWN_CALLS};
use crate::watched::{calls, command, finish, go, no_process, probe_or_skip, seen, subject, waiting};

pub(crate) fn namespace() -> Result<(), Failed> {
    let Some(mut probe) = probe_or_skip("a network namespace") else { return Ok(()) };
    let Ok(ns) = NetNs::create("the watched") else {
        println!("skipped: a network namespace: cannot create one");
        return Ok(());
    };
    let inside = sys::child::spawn_in(&mut command(KNOWN, &[]), Some(&ns), "the watched").expect("a child");
    let outside = waiting(CALLS, &["5000"]);
    let inode = fs::metadata(format!("/proc/{}/ns/net", inside.id())).expect("it lives").ino();
    let watch = subject(Subject { namespaces: vec![inode], ..no_process() });
    probe.start(&watch).expect("loaded");
    finish(outside);
    finish(inside);
    let [first, thread, child] = KNOWN_CALLS;
    assert_eq!(calls(&seen(&mut *probe), "getppid"), first + 4 * thread + 3 * child);
    Ok(())
}

pub(crate) fn control_group() -> Result<(), Failed> {
    let Some(mut probe) = probe_or_skip("a control group") else { return Ok(()) };
    let Some(group) = Group::make() else {
        println!("skipped: a control group: version 2 is not mounted, or none can be created");
        return Ok(());
    };
    let mut inside = waiting(CALLS, &["400"]);
    fs::write(group.0.join("below/cgroup.procs"), inside.id().to_string()).expect("own group");
    let inode = fs::metadata(&group.0).expect("own group").ino();
    let watch = subject(Subject { cgroups: vec![inode], ..no_process() });
    probe.start(&watch).expect("loaded");
    finish(waiting(CALLS, &["5000"]));
    go(&mut inside);
    inside.wait().expect("own child");
    assert_eq!(calls(&seen(&mut *probe), "getppid"), 400);
    Ok(())
}

struct Group(PathBuf);

impl Group {
    fn make() -> Option<Self> {
        let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
        let root = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        let root = root.into_iter().find(|fields| fields.get(2) == Some(&"cgroup2"))?[1].to_owned();
        let group = Self(PathBuf::from(root).join(format!("plumb-test-{}", std::process::id())));
        fs::create_dir_all(group.0.join("below")).ok().map(|()| group)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(self.0.join("below"));
        let _ = fs::remove_dir(&self.0);
    }
}
