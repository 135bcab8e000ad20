//! Reads accesses from the accessed bits of the QEMU process. This requires emulation (TCG) and file-backed memory,
//! because a KVM guest's accesses use other page tables. Sources: proc_pid_clear_refs(5), proc_pid_smaps(5).

use protocol::{AccessClass, AccessSourceKind};
use sys::anonymous_memory::PAGE;
use units::Bytes;

use super::{AccessSource, FIRST_LOOK, Look, read, write};
use crate::error::MemoryError;

/// Only clears the bits of file-backed pages.
const OF_FILES: &str = "3";
const MEMORY: &str = "/memfd:memory-backend-memfd";

#[derive(Debug)]
pub struct ReferencedBits {
    pid: u32,
    looked: bool,
}

impl ReferencedBits {
    pub fn of(pid: u32, kvm: bool) -> Result<Self, MemoryError> {
        let lacking = |reason: String| MemoryError::NoSource { reason };
        if kvm {
            return Err(lacking(
                "QEMU's accessed bits do not cover memory accesses by a KVM guest; run an agent in the guest"
                    .to_owned(),
            ));
        }
        if of_machine(&read(&format!("/proc/{pid}/smaps"))?).1 == 0 {
            return Err(lacking(format!(
                "process {pid} has no memory in a memfd; start the machine with `-object memory-backend-memfd,...`"
            )));
        }
        Ok(Self { pid, looked: false })
    }
}

impl AccessSource for ReferencedBits {
    fn kind(&self) -> AccessSourceKind {
        AccessSourceKind::Referenced
    }

    /// A mapping does not show which of the guest's nodes a page belongs to.
    fn look(&mut self) -> Result<Look, MemoryError> {
        let (referenced, resident) = of_machine(&read(&format!("/proc/{}/smaps", self.pid))?);
        write(&format!("/proc/{}/clear_refs", self.pid), OF_FILES)?;
        if !std::mem::replace(&mut self.looked, true) {
            return Ok(Look::Pending(FIRST_LOOK));
        }
        let class = |bytes: u64, accesses: u64| AccessClass { bytes: Bytes(bytes), accesses };
        let rest = resident.saturating_sub(referenced);
        let classes = vec![class(referenced, referenced / PAGE as u64), class(rest, 0)];
        Ok(Look::Accesses([(0, classes)].into()))
    }
}

fn of_machine(smaps: &str) -> (u64, u64) {
    let (mut is_memory, mut referenced, mut resident) = (false, 0, 0);
    for line in smaps.lines() {
        let Some((name, rest)) = line.split_once(':') else { continue };
        let kilobytes = || rest.split_ascii_whitespace().next().and_then(|number| number.parse::<u64>().ok());
        match name {
            "Referenced" if is_memory => referenced += kilobytes().unwrap_or(0) << 10,
            "Rss" if is_memory => resident += kilobytes().unwrap_or(0) << 10,
            // A mapping's first line starts with addresses and contains a device number with a colon.
            _ if name.contains('-') => is_memory = line.contains(MEMORY),
            _ => {}
        }
    }
    (referenced, resident)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &str = "\
7f0000000000-7f0010000000 rw-s 00000000 00:01 1056 /memfd:memory-backend-memfd (deleted)
Size:             262144 kB
Rss:              204800 kB
Referenced:       102400 kB
7f0020000000-7f0020100000 rw-p 00000000 00:00 0
Rss:                1024 kB
Referenced:         1024 kB
";

    #[test]
    fn counts_only_guest_memory() {
        assert_eq!(of_machine(SMAPS), (102_400 << 10, 204_800 << 10));
    }

    #[test]
    fn refuses_kvm_guest() {
        let refused = ReferencedBits::of(std::process::id(), true).expect_err("KVM").to_string();
        assert!(refused.contains("KVM"), "{refused}");
        let refused = ReferencedBits::of(std::process::id(), false).expect_err("no memfd").to_string();
        assert!(refused.contains("memory-backend-memfd"), "{refused}");
    }
}
