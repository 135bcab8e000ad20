//! What QEMU may do less than whoever starts it: it sees no network but the descriptors that it inherits, and is nobody
//! where root starts it and what it opens by itself can be opened by others. A guest that takes it over has little more.

use std::path::Path;

use sys::{
    Result,
    child::{Confines, Identity},
    confine::{self, User},
    netns::NetNs,
};

use super::{Qemu, accelerator::Accelerator};

const KVM: &str = "/dev/kvm";
const VHOST_NET: &str = "/dev/vhost-net";

/// For this machine.
pub(super) fn of(machine: &Qemu) -> Result<Confines> {
    let network = NetNs::create(&format!("the monitor of {}", machine.host))?;
    Ok(Confines { network, identity: identity(machine)? })
}

/// Without KVM or vhost-net it opens nothing but its own files; those are root's on some systems, the kernel too.
fn identity(machine: &Qemu) -> Result<Identity> {
    let nobody = User::nobody();
    if !confine::is_root() || !confine::is_mapped(&nobody)? || !is_readable_by_all(&machine.kernel.image) {
        return Ok(Identity::Same);
    }
    let kvm = (machine.accelerator == Accelerator::Kvm).then_some(Path::new(KVM));
    let vhost = (machine.nic.is_some() && machine.vm.vhost).then_some(Path::new(VHOST_NET));
    let opened: Vec<_> = kvm.into_iter().chain(vhost).collect();
    Ok(confine::groups_that_open(&opened)?.map_or(Identity::Same, |groups| Identity::Other(nobody, groups)))
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
