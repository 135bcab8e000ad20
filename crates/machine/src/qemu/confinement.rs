//! Confines QEMU, so that a guest that takes it over cannot reach `plumb server` or another guest's QEMU.
//! QEMU has no network except inherited descriptors. If root starts QEMU, it runs as a separate user,
//! provided that this user can open the kernel and device files.

use std::{
    path::Path,
    sync::atomic::{AtomicU32, Ordering},
};

use sys::{
    Result,
    child::{Confines, Identity},
    confine::{self, User},
    netns::NetNs,
};

use super::{Qemu, accelerator::Accelerator};

const KVM: &str = "/dev/kvm";
const VHOST_NET: &str = "/dev/vhost-net";

pub(super) fn prepare(machine: &Qemu) -> Result<Confines> {
    let network = NetNs::create(&format!("the monitor of {}", machine.host))?;
    Ok(Confines { network, identity: identity(machine)? })
}

/// On some systems, only root can read the kernel image. QEMU then runs as root.
fn identity(machine: &Qemu) -> Result<Identity> {
    static STARTED: AtomicU32 = AtomicU32::new(0);
    let number = std::process::id().wrapping_add(STARTED.fetch_add(1, Ordering::Relaxed));
    let user = User::unassigned(number);
    if !confine::is_root() || !confine::is_mapped(&user)? || !is_readable_by_all(&machine.kernel.image) {
        return Ok(Identity::Same);
    }
    let kvm = (machine.accelerator == Accelerator::Kvm).then_some(Path::new(KVM));
    let vhost = (machine.nic.is_some() && machine.vm.vhost).then_some(Path::new(VHOST_NET));
    let opened: Vec<_> = kvm.into_iter().chain(vhost).collect();
    Ok(confine::groups_that_open(&opened)?.map_or(Identity::Same, |groups| Identity::Other(user, groups)))
}

fn is_readable_by_all(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let allows =
        |path: &Path, bits: u32| path.metadata().is_ok_and(|about| about.permissions().mode() & bits == bits);
    allows(file, 0o4)
        && file
            .ancestors()
            .skip(1)
            .filter(|folder| folder != &Path::new(""))
            .all(|folder| allows(folder, 0o1))
}
