//! Finds results that cannot be measured because this machine lacks a capability.

use std::path::Path as FilePath;

use machine::{Firecracker, FirecrackerError};
use samples::SkippedResult;
use scenario::{HostName, Lab, Monitor, Path, PlannedResult, Vm};
use topology::Missing;

pub(crate) struct MissingCapabilities<'a> {
    lab: &'a Lab,
    missing: &'a [Missing],
    vhost: Option<String>,
    firecracker: Option<FirecrackerError>,
}

impl<'a> MissingCapabilities<'a> {
    pub(crate) fn of(lab: &'a Lab, missing: &'a [Missing], firecracker: Option<&FilePath>) -> Self {
        let any = |wants: fn(&Vm) -> bool| lab.hosts.iter().filter_map(|host| host.vm.as_ref()).any(wants);
        let vhost = any(wants_vhost).then(machine::Nic::lacks_vhost).flatten();
        let firecracker = any(wants_firecracker).then(|| Firecracker::unusable(firecracker)).flatten();
        Self { lab, missing, vhost, firecracker }
    }

    pub(crate) fn of_path(&self, path: &Path) -> Option<String> {
        let hit = self
            .missing
            .iter()
            .find(|missing| missing.devices.iter().any(|device| path.devices.contains(device)));
        hit.map(ToString::to_string).or_else(|| self.of_ends(path))
    }

    pub(crate) fn of_result(&self, result: &PlannedResult, path: &Path) -> Option<SkippedResult> {
        Some(SkippedResult { result: result.id.to_string(), reason: self.of_path(path)? })
    }

    pub(crate) fn of_machine(&self, path: &Path) -> Option<String> {
        let installed = matches!(self.firecracker, None | Some(FirecrackerError::NoKvm(_)));
        installed.then(|| self.of_ends(path)).flatten()
    }

    fn of_ends(&self, path: &Path) -> Option<String> {
        let guest = |wants: fn(&Vm) -> bool| {
            let ends = [&path.from.host, &path.to.host].into_iter();
            ends.clone().find(|host: &&HostName| self.lab.vm(host).is_some_and(wants))
        };
        let vhost = self.vhost.as_ref().and_then(|reason| {
            let guest = guest(wants_vhost)?;
            Some(format!(
                "virtual machine `{guest}` has `vhost = \"on\"`, but vhost-net is unavailable: {reason}"
            ))
        });
        vhost.or_else(|| {
            let (reason, guest) = (self.firecracker.as_ref()?, guest(wants_firecracker)?);
            Some(format!("virtual machine `{guest}` needs Firecracker: {reason}"))
        })
    }
}

fn wants_vhost(vm: &Vm) -> bool {
    vm.vhost
}

fn wants_firecracker(vm: &Vm) -> bool {
    vm.monitor == Monitor::Firecracker
}

#[cfg(test)]
mod tests {
    use scenario::{Scenario, builtin};

    use super::*;

    const ONE_GUEST: &str = r#"
schema = 1
name = "one-guest"
title = "One guest"
[hosts.pve]
[bridges.vmbr0]
host = "pve"
address = "198.18.64.1/24"
[vms.kind]
[guests.vm0]
bridge = "vmbr0"
address = "198.18.64.83/24"
vm = "kind"
[paths.to-vm]
from = "pve"
to = "vm0"
layers = ["virtio", "bridge"]
baseline = true
[workloads.throughput]
kind = "stream"
duration = "1s"
"#;

    #[test]
    fn requires_vhost_only_for_paths_to_guests_with_vhost() {
        let text = builtin::find("bridge-multiqueue").expect("shipped").text;
        let of = |text: &str| {
            let scenario = Scenario::parse("test", text).expect("parses");
            let vhost = Some("it is not there".to_owned());
            let missing = MissingCapabilities { lab: &scenario.lab, missing: &[], vhost, firecracker: None };
            missing.of_path(&scenario.paths[0])
        };
        assert_eq!(of(text), None);
        let reason =
            of(&text.replace("vcpus = 2", "vcpus = 2\nvhost = \"on\"")).expect("its ends need vhost");
        assert!(reason.contains("`client`") && reason.ends_with("it is not there"), "{reason}");
    }

    #[test]
    fn requires_firecracker_only_for_paths_to_its_guests() {
        let of = |text: &str, program: &str| {
            let scenario = Scenario::parse("test", text).expect("parses");
            let missing = MissingCapabilities::of(&scenario.lab, &[], Some(FilePath::new(program)));
            (missing.of_path(&scenario.paths[0]), missing.of_machine(&scenario.paths[0]))
        };
        let absent = "/nonexistent/firecracker";
        assert_eq!(of(ONE_GUEST, absent), (None, None));
        let firecracker = ONE_GUEST.replace("[vms.kind]", "[vms.kind]\nmonitor = \"firecracker\"");
        let (reason, in_hypervisor) = of(&firecracker, absent);
        let reason = reason.expect("its end needs Firecracker");
        assert!(reason.contains("`vm0` needs Firecracker") && reason.contains(absent), "{reason}");
        assert_eq!(in_hypervisor, None, "a virtual hypervisor would lack it too");
    }
}
