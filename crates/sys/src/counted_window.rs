//! Marks the window in which QEMU counts instructions. Each mark is an 8-byte NOP that compilers do not emit.
#![expect(unsafe_code, reason = "no intrinsic emits these NOPs, and musl has no sched_setscheduler")]
#![expect(clippy::disallowed_methods, reason = "reads the kernel's command line")]

use std::{fs, mem, sync::OnceLock};

use crate::clock::{monotonic, sleep_until};

/// The kernel parameter of guests with counted instructions. The kernel ignores it, because it contains a dot.
pub const COUNTED: &str = "plumb.counted";
/// Windows begin and end at multiples of this time, so that equally long windows include the same number of
/// timer interrupts. Waits must stay below 200 ms, after which TCP resets an idle connection's congestion
/// window.
const PHASE: u64 = 100_000_000;
/// The minimum time for sent data to arrive and other tasks to finish.
const SETTLING: u64 = 20_000_000;

macro_rules! mark {
    ($number:literal) => {{
        #[cfg(target_arch = "x86_64")]
        // SAFETY: all x86-64 CPUs execute it as a NOP.
        unsafe {
            std::arch::asm!(
                ".byte 0x0f, 0x1f, 0x84, 0x00",
                concat!(".ascii \"PLB", $number, "\""),
                options(nostack, preserves_flags)
            );
        }
    }};
}

pub fn is_counted() -> bool {
    static COUNTS: OnceLock<bool> = OnceLock::new();
    *COUNTS.get_or_init(|| {
        fs::read_to_string("/proc/cmdline")
            .is_ok_and(|words| words.split_whitespace().any(|it| it == COUNTED))
    })
}

/// Lets the calling thread run until it blocks. Otherwise, threads are switched at varying points of a stream,
/// and counts vary by up to 10 %. Does nothing outside counted guests.
pub fn run_until_blocked() {
    if is_counted() {
        // SAFETY: all fields are integers.
        let mut parameters: libc::sched_param = unsafe { mem::zeroed() };
        parameters.sched_priority = 1;
        // SAFETY: the parameters live until the call returns. musl's own function always fails.
        unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, libc::SCHED_FIFO, &raw const parameters) };
    }
}

/// If `settles` is true, waits for other work to finish first. Returns the time spent waiting in nanoseconds.
pub fn begin(settles: bool) -> u64 {
    let waited = if settles { settle() } else { 0 };
    mark!("1");
    waited
}

/// Waits for all data to arrive before the window ends.
pub fn end() {
    settle();
    mark!("2");
}

/// Makes QEMU write the counts of the last window.
pub fn report() {
    mark!("3");
}

/// Waits until the guest is idle. The wait is short, because QEMU skips idle time.
fn settle() -> u64 {
    if !is_counted() {
        return 0;
    }
    let now = monotonic();
    sleep_until((now + SETTLING).next_multiple_of(PHASE));
    monotonic() - now
}
