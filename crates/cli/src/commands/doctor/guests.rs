//! Whether guests can be booted here: there is a monitor, and a kernel for them. Must not know how one is booted.

use machine::{Kernel, Qemu};

use super::check::{Check, Group, Status};

/// What a path to a guest needs, by the ids of checks: its tap device, and what the two below look for.
pub(super) const NEEDS: [&str; 3] = ["tap", "qemu", "guest-kernel"];

/// What every guest needs.
pub(super) fn checks() -> [Check; 2] {
    let kernel = Kernel::installed();
    [
        check("qemu", "QEMU", Qemu::version().map_err(|error| error.to_string()), "qemu-system-x86"),
        check(
            "guest-kernel",
            "kernel for guests",
            kernel.map(|it| it.image.display().to_string()).map_err(|error| error.to_string()),
            "linux-image-cloud-amd64",
        ),
    ]
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
    fn what_is_missing_names_its_package() {
        let missing = check("qemu", "QEMU", Err("there is none".to_owned()), "qemu-system-x86");
        assert_eq!(missing.remedy.as_deref(), Some("apt-get install qemu-system-x86"));
        assert_eq!((missing.status, missing.detail.as_str()), (Status::Missing, "there is none"));
        assert_eq!(check("qemu", "QEMU", Ok("7.2".to_owned()), "none").remedy, None);
    }
}
