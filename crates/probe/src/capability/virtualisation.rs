//! Checks whether virtual machines can run, and whether the kernel can process their packets.

use procfs::{CpuInfo, Current};
use sys::netns::NetNs;

use super::{Area, Capability, Subject};

const VHOST_NET: Subject = Subject {
    id: "vhost-net",
    title: "vhost-net",
    needed_for: "guests with packet processing in the kernel",
    area: Area::VirtualMachines,
    required: false,
};

const TAP: Subject = Subject {
    id: "tap",
    title: "tap devices",
    needed_for: "paths that end in virtual machines",
    area: Area::VirtualMachines,
    required: false,
};

const KVM: Subject = Subject {
    id: "kvm",
    title: "hardware KVM",
    needed_for: "running guests at native speed",
    area: Area::VirtualMachines,
    required: false,
};

pub(super) fn vhost_net() -> Capability {
    match sys::vhost::try_own() {
        Ok(()) => VHOST_NET.works("/dev/vhost-net was opened, claimed and released"),
        Err(error) if error.is_permission() => {
            VHOST_NET.missing(error.to_string(), "sudo plumb …; or chgrp kvm /dev/vhost-net and chmod g+rw")
        }
        Err(error) => VHOST_NET.missing(error.to_string(), "modprobe vhost_net (CONFIG_VHOST_NET)"),
    }
}

pub(super) fn tap() -> Capability {
    const INDEX: u32 = 7;
    let made =
        NetNs::create("tap").and_then(|inside| inside.run_in(|| sys::tap::create("tap0", INDEX, 1))?);
    match made {
        Ok(_) => TAP.works("created and removed one"),
        Err(error) if error.is_permission() => TAP.missing(error.to_string(), "sudo plumb …"),
        Err(error) => TAP.missing(error.to_string(), "modprobe tun (CONFIG_TUN)"),
    }
}

pub(super) fn kvm() -> Capability {
    judge_kvm(sys::kvm::try_run(), has_hardware())
}

/// Returns whether the CPU has VT-x or AMD-V, or `None` on other architectures.
fn has_hardware() -> Option<bool> {
    let flags = CpuInfo::current().ok()?.flags(0)?.into_iter().map(str::to_owned).collect::<Vec<_>>();
    cfg!(target_arch = "x86_64").then(|| flags.iter().any(|flag| flag == "vmx" || flag == "svm"))
}

fn judge_kvm(ran: sys::Result<()>, hardware: Option<bool>) -> Capability {
    const HARDWARE: &str = "use a machine with VT-x or AMD-V; in a virtual machine, enable nested virtualisation on \
                 its host (modprobe kvm_intel nested=1, or kvm_amd)";
    let Err(error) = ran else {
        return KVM.works(
            "ran a real-mode guest and a 64-bit one (page tables, SSE2, a million iterations at native speed) \
                 until they halted; this does not prove that a guest kernel boots",
        );
    };
    if error.is_permission() {
        return KVM.limited(error.to_string(), "sudo plumb …; or usermod -aG kvm $USER, then log in again");
    }
    let cause = match hardware {
        Some(false) => "; the CPU shows neither vmx nor svm",
        _ => "",
    };
    let detail = match error.hint() {
        Some(hint) => format!("/dev/kvm cannot run an ordinary guest: {hint}{cause}"),
        None => format!("{error}{cause}"),
    };
    if error.is_unsupported() && hardware == Some(true) {
        return KVM.limited(detail, "modprobe kvm_intel or kvm_amd (CONFIG_KVM_INTEL, CONFIG_KVM_AMD)");
    }
    KVM.limited(detail, HARDWARE)
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn does_not_claim_that_guest_kernels_boot() {
        let found = judge_kvm(Ok(()), Some(true));
        assert_eq!(found.state, State::Works);
        assert!(found.detail.contains("does not prove"), "{}", found.detail);
    }

    #[test]
    fn remedy_depends_on_cpu_flags() {
        let absent = sys::netns::NetNs::open("/proc/self/ns/missing").expect_err("no such file");
        let remedy = |hardware| judge_kvm(Err(absent.clone()), hardware).remedy.expect("one");
        assert!(remedy(Some(true)).starts_with("modprobe"));
        assert!(remedy(Some(false)).contains("VT-x"));
        assert!(judge_kvm(Err(absent.clone()), Some(false)).detail.ends_with("neither vmx nor svm"));
    }
}
