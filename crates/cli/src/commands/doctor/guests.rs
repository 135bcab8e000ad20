//! Checks whether guests can boot. This requires a VMM and a guest kernel.

use ::lab::{Stop, introduce};
use machine::{Kernel, Qemu};
use scenario::{HostName, Vm};
use units::Nanos;

use super::{
    check::{Check, Group, Status},
    memory,
};
use crate::{commands::vm, interrupt, program::TOOL};

pub(super) const NEEDS: [&str; 4] = ["tap", "qemu", "guest-kernel", BOOT];
pub(super) const BOOT: &str = "guest-boot";

pub(super) fn checks() -> [Check; 2] {
    let kernel = Kernel::installed();
    [
        check("qemu", "QEMU", Qemu::version().map_err(|error| error.to_string()), "qemu-system-x86"),
        check(
            "guest-kernel",
            "guest kernel",
            kernel
                .map(|kernel| format!("{}; {}", kernel.image.display(), memory::missing_features(&kernel)))
                .map_err(|error| error.to_string()),
            "linux-image-cloud-amd64",
        ),
    ]
}

pub(super) fn boot(checks: &[Check]) -> Option<(Check, Option<Nanos>)> {
    let works = |id: &str| checks.iter().any(|check| check.id == id && check.status == Status::Works);
    ["qemu", "guest-kernel"].into_iter().all(works).then(|| {
        let booted = booted().map_err(|error| format!("{error:#}"));
        let time = booted.as_ref().ok().map(|(time, _)| *time);
        let detail = booted.map(|(time, how)| format!("in {time}{how}"));
        (Check { remedy: None, ..check(BOOT, "guest boot", detail, "") }, time)
    })
}

fn booted() -> anyhow::Result<(Nanos, &'static str)> {
    let stop = Stop::new();
    interrupt::set_on_signal(&stop.flag())?;
    let host = HostName::new("guest");
    let (booting, vm) = (Kernel::installed()?, Vm::default());
    let booting = vm::qemu((host.clone(), &vm), booting, None, None)?;
    let how = if booting.emulated_reason.is_some() { ", emulated" } else { "" };
    let known = introduce((host, booting.machine), None, TOOL, &stop, &[])?;
    Ok((known.ready_within.into(), how))
}

fn check(id: &'static str, title: &'static str, found: Result<String, String>, package: &str) -> Check {
    let status = if found.is_ok() { Status::Works } else { Status::Missing };
    let remedy = found.is_err().then(|| format!("apt-get install {package}"));
    Check {
        group: Group::VirtualMachines,
        id,
        title,
        status,
        detail: found.unwrap_or_else(|reason| reason),
        needed_for: "virtual machines",
        remedy,
        required: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_requirement_names_its_package() {
        let missing = check("qemu", "QEMU", Err("there is none".to_owned()), "qemu-system-x86");
        assert_eq!(missing.remedy.as_deref(), Some("apt-get install qemu-system-x86"));
        assert_eq!((missing.status, missing.detail.as_str()), (Status::Missing, "there is none"));
        assert_eq!(check("qemu", "QEMU", Ok("7.2".to_owned()), "none").remedy, None);
    }
}
