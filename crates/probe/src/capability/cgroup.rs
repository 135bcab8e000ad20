//! Checks whether processes can be identified by their control group.

use super::{Area, Capability, Subject};
use crate::target;

const CGROUP: Subject = Subject {
    id: "cgroup-v2",
    title: "cgroup v2",
    needed_for: "`plumb trace --cgroup`",
    area: Area::Machine,
    required: false,
};

pub(super) fn probe() -> Capability {
    match target::control_groups() {
        Some(root) => CGROUP.works(format!("at {}", root.display())),
        None => CGROUP.missing("not mounted", "mount -t cgroup2 none /mnt (CONFIG_CGROUPS)"),
    }
}
