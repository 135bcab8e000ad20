//! Anonymous memory mappings and page fault counts.
#![expect(unsafe_code, reason = "mmap, madvise, getrusage, and writes to mapped memory")]
#![expect(clippy::disallowed_methods, reason = "reads /proc/meminfo")]

use std::{fs, ptr};

use rustix::mm::{Advice, MapFlags, ProtFlags};

use crate::error::{Context, Error, Result};

pub const PAGE: usize = 4 << 10;
/// The size of a huge page on x86-64. The memory is aligned to it.
pub const HUGE_PAGE: usize = 2 << 20;

#[derive(Debug)]
pub struct AnonymousMemory {
    mapped: *mut libc::c_void,
    mapped_length: usize,
    offset: usize,
    length: usize,
}

impl AnonymousMemory {
    /// Uses huge pages only if `huge` is set. Fails if there is not enough memory, or if the kernel does not
    /// support huge pages.
    pub fn map(length: usize, huge: bool) -> Result<Self> {
        let object = || format!("{length} bytes of memory");
        let mapped_length = length.saturating_add(HUGE_PAGE);
        let (access, kind) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: the kernel chooses the address, so no other mapping is affected.
        let mapped = unsafe { rustix::mm::mmap_anonymous(ptr::null_mut(), mapped_length, access, kind) };
        let mapped = mapped.named("map", object)?;
        let memory = Self { mapped, mapped_length, offset: mapped.align_offset(HUGE_PAGE), length };
        // Without this, the first write to a page after a fork would fault and copy the page.
        // SAFETY: the range is the new mapping, and the advice changes no contents.
        let _ = unsafe { rustix::mm::madvise(mapped, mapped_length, Advice::LinuxDontFork) };
        let advice = if huge { Advice::LinuxHugepage } else { Advice::LinuxNoHugepage };
        // SAFETY: the range is within the new mapping, and the advice does not change its contents.
        let advised = unsafe { rustix::mm::madvise(mapped, mapped_length, advice) };
        // A kernel without huge pages rejects both kinds of advice. That matters only if `huge` is set.
        if huge && advised.is_err() {
            let unsupported = Error::new("use huge pages for", object(), libc::EOPNOTSUPP);
            return Err(unsupported.with_hint("requires a kernel with CONFIG_TRANSPARENT_HUGEPAGE"));
        }
        Ok(memory)
    }

    pub(crate) const fn pages(&self) -> usize {
        self.length / PAGE
    }

    pub(crate) fn page(&self, number: usize) -> *mut libc::c_void {
        assert!(number < self.pages(), "page {number} of {}", self.pages());
        self.mapped.cast::<u8>().wrapping_add(self.offset + number * PAGE).cast()
    }

    pub fn touch(&mut self, from: usize, to: usize) {
        let start = self.mapped.cast::<u8>();
        for at in (from..to.min(self.length)).step_by(PAGE) {
            // SAFETY: the address is within this private mapping: the mapping exceeds `length` by more than
            // `offset`. Volatile prevents the compiler from removing the write.
            unsafe { start.add(self.offset + at).write_volatile(1) };
        }
    }
}

// SAFETY: mappings belong to the process, not the thread, and no other reference exists.
unsafe impl Send for AnonymousMemory {}

impl Drop for AnonymousMemory {
    fn drop(&mut self) {
        // SAFETY: the memory was mapped with this length, and no references remain.
        let _ = unsafe { rustix::mm::munmap(self.mapped, self.mapped_length) };
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PageFaults {
    pub minor: u64,
    pub major: u64,
}

impl PageFaults {
    pub fn of_this_thread() -> Result<Self> {
        let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the kernel fills the structure, which outlives the call.
        if unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) } != 0 {
            return Err(Error::last("count page faults of", "this thread"));
        }
        // SAFETY: the call above has filled the structure.
        let usage = unsafe { usage.assume_init() };
        let count = |count: libc::c_long| u64::try_from(count).unwrap_or(0);
        Ok(Self { minor: count(usage.ru_minflt), major: count(usage.ru_majflt) })
    }

    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            minor: self.minor.saturating_sub(before.minor),
            major: self.major.saturating_sub(before.major),
        }
    }
}

/// Returns the kernel's estimate of the memory available without swapping, in bytes (`MemAvailable` in
/// proc_meminfo(5)).
#[must_use]
pub fn available() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(length: usize, huge: bool) -> Result<PageFaults> {
        std::thread::spawn(move || {
            let mut memory = AnonymousMemory::map(length, huge)?;
            let before = PageFaults::of_this_thread()?;
            memory.touch(0, length / 2);
            memory.touch(length / 2, length * 2);
            memory.touch(0, length);
            Ok(PageFaults::of_this_thread()?.since(before))
        })
        .join()
        .expect("no panic")
    }

    #[test]
    fn huge_pages_fault_less_often_than_small_pages() {
        let pages = |length: usize, page: usize| (length / page) as u64;
        let length = 64 * HUGE_PAGE;
        let small = faults(length, false).expect("enough memory");
        let expected = pages(length, PAGE);
        assert!((expected..expected + 100).contains(&small.minor), "{small:?}, not {expected}");
        if let Ok(huge) = faults(length, true) {
            assert!((pages(length, HUGE_PAGE)..=small.minor + 100).contains(&huge.minor), "{huge:?}");
        }
        assert!(available().is_some_and(|bytes| bytes > 0));
    }
}
