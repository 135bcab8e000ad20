//! Hardware virtualisation, found out by running a guest: a device node proves nothing.
//!
//! It must not know which machine monitor the answer is for. Source: Documentation/virt/kvm/api.rst of Linux.

#[cfg(target_arch = "x86_64")]
mod guest;

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::error::{Error, Result};

/// Far more than the little guests need, even where the machine below is emulated.
const PATIENCE: Duration = Duration::from_secs(2);

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
/// Returns within about two seconds; a guest that hangs is left to a thread that ends with the process.
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
    told.recv_timeout(PATIENCE).unwrap_or_else(|error| Err(unheard(error)))
}

#[cfg(not(target_arch = "x86_64"))]
mod guest {
    pub(super) fn run_all() -> super::Result<()> {
        Err(super::Error::new(super::RUN, super::DEVICE, libc::ENOSYS)
            .with_hint("only x86-64 guests are tried"))
    }
}

fn unheard(error: RecvTimeoutError) -> Error {
    match error {
        RecvTimeoutError::Timeout => Error::new(RUN, DEVICE, libc::ETIMEDOUT)
            .with_hint(format!("it did not halt within {} s", PATIENCE.as_secs())),
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
        assert!(took < PATIENCE + Duration::from_secs(1), "{took:?}");
    }

    #[test]
    fn a_guest_that_hangs_is_said_to_hang() {
        let error = unheard(RecvTimeoutError::Timeout);
        assert_eq!(error.errno(), libc::ETIMEDOUT);
        assert!(error.to_string().ends_with("did not halt within 2 s"), "{error}");
    }
}
