//! Accessed bits of the process that emulates a machine, from the host: they are cleared at each look, and which pages have them again
//! at the next is what was touched. Right only where the host's own page tables are used for each access: emulation by QEMU's TCG, of
//! memory in files. Under KVM the guest's accesses go by tables of its own. Source: proc_pid_clear_refs(5), proc_pid_smaps(5).

use protocol::{AccessClass, AccessSourceKind};
use sys::anonymous_memory::PAGE;
use units::Bytes;

use super::{AccessSource, FIRST_LOOK, Look, read, write};
use crate::error::MemoryError;

/// Clears those of pages of files alone.
const OF_FILES: &str = "3";
const MEMORY: &str = "/memfd:memory-backend-memfd";

/// Those of a process.
#[derive(Debug)]
pub struct ReferencedBits {
    pid: u32,
    looked: bool,
}

impl ReferencedBits {
    /// Those of the machine that this process emulates.
    ///
    /// # Errors
    /// When it runs by KVM, its memory is in no memfd, or this process may not see them.
    pub fn of(pid: u32, kvm: bool) -> Result<Self, MemoryError> {
        let lacking = |because: String| MemoryError::NoSource { because };
        if kvm {
            return Err(lacking(
                "accessed bits of QEMU say nothing of a guest that runs by KVM: have an agent in it"
                    .to_owned(),
            ));
        }
        if of_machine(&read(&format!("/proc/{pid}/smaps"))?).1 == 0 {
            return Err(lacking(format!(
                "process {pid} has no memory in a memfd: start the machine with `-object memory-backend-memfd,...`"
            )));
        }
        Ok(Self { pid, looked: false })
    }
}

impl AccessSource for ReferencedBits {
    fn kind(&self) -> AccessSourceKind {
        AccessSourceKind::Referenced
    }

    /// All by one node: a mapping does not say which of the guest's it is.
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

/// Referenced and resident bytes of the machine's memory.
fn of_machine(smaps: &str) -> (u64, u64) {
    let (mut is_memory, mut referenced, mut resident) = (false, 0, 0);
    for line in smaps.lines() {
        let Some((name, rest)) = line.split_once(':') else { continue };
        let kilobytes = || rest.split_ascii_whitespace().next().and_then(|number| number.parse::<u64>().ok());
        match name {
            "Referenced" if is_memory => referenced += kilobytes().unwrap_or(0) << 10,
            "Rss" if is_memory => resident += kilobytes().unwrap_or(0) << 10,
            // The line of a mapping begins with its addresses, and has a colon in its device's number.
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
    fn only_the_machines_memory_counts() {
        assert_eq!(of_machine(SMAPS), (102_400 << 10, 204_800 << 10));
    }

    #[test]
    fn a_guest_by_kvm_is_refused() {
        let refused = ReferencedBits::of(std::process::id(), true).expect_err("KVM").to_string();
        assert!(refused.contains("KVM"), "{refused}");
        let refused = ReferencedBits::of(std::process::id(), false).expect_err("no memfd").to_string();
        assert!(refused.contains("memory-backend-memfd"), "{refused}");
    }
}
