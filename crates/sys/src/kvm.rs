//! Tests hardware virtualisation by running a guest, because a device node proves nothing. See
//! Documentation/virt/kvm/api.rst in the kernel sources.

#[cfg(target_arch = "x86_64")]
mod guest;

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::error::{Error, Result};

const PATIENCE: Duration = Duration::from_secs(2);
/// The time limit on machines with virtualisation extensions. The extensions may be emulated, and the machine
/// may be busy.
const PATIENCE_OF_HARDWARE: Duration = Duration::from_secs(10);

const RUN: &str = "run a guest in";
const DEVICE: &str = "/dev/kvm";

/// Runs two small guests to completion. One halts in real mode. The other runs privileged 64-bit code with
/// its own page tables, an SSE2 instruction and a loop that must run at native speed. Without VMX or SVM, KVM
/// completes the first guest, but interprets the second, which is hundreds of times slower and fails at the
/// first unknown instruction.
///
/// Returns within about two seconds, or ten if the CPU has virtualisation extensions. If a guest hangs, its
/// thread keeps running.
pub fn try_run() -> Result<()> {
    let (sender, result) = mpsc::channel();
    let work = move || {
        let _ = sender.send(guest::run_all());
    };
    let _detached = thread::Builder::new()
        .name("kvm-probe".into())
        .spawn(work)
        .map_err(|error| Error::from_io("start a thread for", DEVICE, &error))?;
    let patience = patience();
    result.recv_timeout(patience).unwrap_or_else(|error| Err(no_result(error, patience)))
}

fn patience() -> Duration {
    if has_virtualisation() { PATIENCE_OF_HARDWARE } else { PATIENCE }
}

/// Checks for VMX or SVM. See CPUID in Intel's Software Developer's Manual, volume 2, and in AMD's
/// Architecture Programmer's Manual, volume 3.
#[cfg(target_arch = "x86_64")]
fn has_virtualisation() -> bool {
    use std::arch::x86_64::__cpuid;
    const EXTENDED: u32 = 0x8000_0000;
    let vmx = __cpuid(1).ecx & 1 << 5 != 0;
    vmx || __cpuid(EXTENDED).eax > EXTENDED && __cpuid(EXTENDED + 1).ecx & 1 << 2 != 0
}

#[cfg(not(target_arch = "x86_64"))]
fn has_virtualisation() -> bool {
    false
}

#[cfg(not(target_arch = "x86_64"))]
mod guest {
    pub(super) fn run_all() -> super::Result<()> {
        Err(super::Error::new(super::RUN, super::DEVICE, libc::ENOSYS).with_hint("only supported on x86-64"))
    }
}

fn no_result(error: RecvTimeoutError, patience: Duration) -> Error {
    match error {
        RecvTimeoutError::Timeout => Error::new(RUN, DEVICE, libc::ETIMEDOUT)
            .with_hint(format!("the guest did not halt within {} s", patience.as_secs())),
        RecvTimeoutError::Disconnected => Error::new(RUN, DEVICE, libc::EIO)
            .with_hint("the thread running the guest ended without a result"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "reads /proc/cpuinfo")]
    fn host_without_virtualisation_cannot_run_guests() {
        let flags = std::fs::read_to_string("/proc/cpuinfo").expect("Linux");
        let hardware = flags.split_whitespace().any(|word| word == "vmx" || word == "svm");
        assert_eq!(has_virtualisation(), hardware, "agrees with /proc/cpuinfo");
        if let Err(error) = try_run() {
            assert!(error.to_string().contains(DEVICE), "{error}");
        } else {
            assert!(hardware, "guests ran at full speed on a CPU without vmx and svm");
        }
    }

    #[test]
    fn returns_in_time() {
        let begin = clock::monotonic();
        let _ = try_run();
        let took = Duration::from_nanos(clock::monotonic() - begin);
        assert!(took < patience() + Duration::from_secs(1), "{took:?}");
    }

    #[test]
    fn reports_hanging_guest() {
        let error = no_result(RecvTimeoutError::Timeout, PATIENCE);
        assert_eq!(error.errno(), libc::ETIMEDOUT);
        assert!(error.to_string().ends_with("did not halt within 2 s"), "{error}");
    }
}
