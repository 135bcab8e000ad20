//! Hardware virtualisation, found out by running a guest: a device node proves nothing.
//!
//! It must not know which machine monitor the answer is for. Source: Documentation/virt/kvm/api.rst of Linux.

#[cfg(target_arch = "x86_64")]
mod guest;

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::error::{Error, Result};

/// Far more than the little guests need.
const PATIENCE: Duration = Duration::from_secs(2);
/// The same on a CPU with virtualisation, which may itself be emulated, and by a busy machine.
const PATIENCE_OF_HARDWARE: Duration = Duration::from_secs(10);

const RUN: &str = "run a guest in";
const DEVICE: &str = "/dev/kvm";

/// Runs two little guests to their end: real-mode code that halts, as firmware begins; and what any 64-bit
/// kernel does: privileged code on page tables of its own, with an SSE2 instruction and a loop that has to
/// run at the speed of the CPU. It does not prove that a particular kernel boots.
///
/// The second one is what tells hardware from software. A KVM without VMX or SVM below it (such as one that
/// serves paravirtualised guests only) has every call and halts the first guest, but interprets privileged
/// code instruction by instruction, hundreds of times slower, and gives up at the first that it does not know.
///
/// Returns within about two seconds, or ten where the CPU has virtualisation; a guest that hangs is left to a thread that ends with the process.
pub fn try_run() -> Result<()> {
    let (tell, told) = mpsc::channel();
    let work = move || {
        // Nobody listens any more once the time is up.
        let _ = tell.send(guest::run_all());
    };
    let _detached = thread::Builder::new()
        .name("kvm-probe".into())
        .spawn(work)
        .map_err(|error| Error::from_io("start a thread for", DEVICE, &error))?;
    let patience = patience();
    told.recv_timeout(patience).unwrap_or_else(|error| Err(unheard(error, patience)))
}

fn patience() -> Duration {
    if has_virtualisation() { PATIENCE_OF_HARDWARE } else { PATIENCE }
}

/// Whether the CPU says that it has VMX or SVM. Source: CPUID in Intel's Software Developer's Manual, volume 2, and in
/// AMD's Architecture Programmer's Manual, volume 3.
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
        Err(super::Error::new(super::RUN, super::DEVICE, libc::ENOSYS)
            .with_hint("only x86-64 guests are tried"))
    }
}

fn unheard(error: RecvTimeoutError, patience: Duration) -> Error {
    match error {
        RecvTimeoutError::Timeout => Error::new(RUN, DEVICE, libc::ETIMEDOUT)
            .with_hint(format!("it did not halt within {} s", patience.as_secs())),
        RecvTimeoutError::Disconnected => {
            Error::new(RUN, DEVICE, libc::EIO).with_hint("the thread that ran it ended without an answer")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "what the CPU shows is a file of /proc")]
    fn a_host_without_virtualisation_never_claims_to_run_guests() {
        let flags = std::fs::read_to_string("/proc/cpuinfo").expect("Linux");
        let hardware = flags.split_whitespace().any(|word| word == "vmx" || word == "svm");
        assert_eq!(has_virtualisation(), hardware, "the kernel says the same of the CPU");
        if let Err(error) = try_run() {
            assert!(error.to_string().contains(DEVICE), "{error}");
        } else {
            assert!(hardware, "guests ran at full speed on a CPU without vmx and svm");
        }
    }

    #[test]
    fn the_answer_comes_in_time() {
        let begin = clock::monotonic();
        let _ = try_run();
        let took = Duration::from_nanos(clock::monotonic() - begin);
        assert!(took < patience() + Duration::from_secs(1), "{took:?}");
    }

    #[test]
    fn a_guest_that_hangs_is_said_to_hang() {
        let error = unheard(RecvTimeoutError::Timeout, PATIENCE);
        assert_eq!(error.errno(), libc::ETIMEDOUT);
        assert!(error.to_string().ends_with("did not halt within 2 s"), "{error}");
    }
}
