//! Anonymous memory: mapped, touched, given back when it goes, and what that cost in page faults. See mmap(2), madvise(2),
//! getrusage(2). Must not know why it is touched.
#![expect(unsafe_code, reason = "mmap, madvise, getrusage, and writes to what is mapped")]
#![expect(clippy::disallowed_methods, reason = "what is free is told in a file of /proc")]

use std::{fs, ptr};

use rustix::mm::{Advice, MapFlags, ProtFlags};

use crate::error::{Context, Error, Result};

/// The smallest page of x86-64, and of most other machines.
pub const PAGE: usize = 4 << 10;
/// The huge page of x86-64: memory begins at a multiple of it.
pub const HUGE_PAGE: usize = 2 << 20;

/// Memory of this process, none of whose pages is there before it is touched.
#[derive(Debug)]
pub struct AnonymousMemory {
    mapped: *mut libc::c_void,
    mapped_length: usize,
    /// Where it begins in what is mapped.
    offset: usize,
    length: usize,
}

impl AnonymousMemory {
    /// Maps so many bytes. With `huge` the kernel is told to make huge pages of them, otherwise to make none.
    ///
    /// # Errors
    /// When there is no room for them, or the kernel has no huge pages.
    pub fn map(length: usize, huge: bool) -> Result<Self> {
        let object = || format!("{length} bytes of memory");
        let mapped_length = length.saturating_add(HUGE_PAGE);
        let (access, kind) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: the kernel chooses an address, so no other mapping is touched.
        let mapped = unsafe { rustix::mm::mmap_anonymous(ptr::null_mut(), mapped_length, access, kind) };
        let mapped = mapped.named("map", object)?;
        let memory = Self { mapped, mapped_length, offset: mapped.align_offset(HUGE_PAGE), length };
        // A process that is forked off meanwhile would have every page copied, and so fault, when it is touched again.
        // SAFETY: the range is what was mapped above, and the advice changes no content.
        let _ = unsafe { rustix::mm::madvise(mapped, mapped_length, Advice::LinuxDontFork) };
        let advice = if huge { Advice::LinuxHugepage } else { Advice::LinuxNoHugepage };
        // SAFETY: the range lies within what was mapped above, and the advice changes no content.
        let advised = unsafe { rustix::mm::madvise(mapped, mapped_length, advice) };
        // A kernel without huge pages makes none of itself.
        if huge && advised.is_err() {
            let lacking = Error::new("have huge pages for", object(), libc::EOPNOTSUPP);
            return Err(lacking.with_hint("a kernel with CONFIG_TRANSPARENT_HUGEPAGE has them"));
        }
        Ok(memory)
    }

    /// How many small pages it has.
    pub(crate) const fn pages(&self) -> usize {
        self.length / PAGE
    }

    /// Where the small page of this number begins.
    pub(crate) fn page(&self, number: usize) -> *mut libc::c_void {
        assert!(number < self.pages(), "page {number} of {}", self.pages());
        self.mapped.cast::<u8>().wrapping_add(self.offset + number * PAGE).cast()
    }

    /// Writes a byte to each small page from `from` to `to`, counted from its beginning; what is beyond its end is left out.
    pub fn touch(&mut self, from: usize, to: usize) {
        let start = self.mapped.cast::<u8>();
        for at in (from..to.min(self.length)).step_by(PAGE) {
            // SAFETY: it lies within the mapping, which nobody else has, for `offset` is less than what was mapped beyond
            // `length`; volatile, so that it is not left out.
            unsafe { start.add(self.offset + at).write_volatile(1) };
        }
    }
}

// SAFETY: the mapping is the process's, not the thread's, and nobody else refers to it.
unsafe impl Send for AnonymousMemory {}

impl Drop for AnonymousMemory {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and nothing refers to it any more.
        let _ = unsafe { rustix::mm::munmap(self.mapped, self.mapped_length) };
    }
}

/// Page faults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PageFaults {
    /// Without input or output.
    pub minor: u64,
    /// That waited for input or output.
    pub major: u64,
}

impl PageFaults {
    /// Those of the calling thread so far.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub fn of_this_thread() -> Result<Self> {
        let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the kernel fills the whole structure, which lives as long as the call.
        if unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) } != 0 {
            return Err(Error::last("count page faults of", "this thread"));
        }
        // SAFETY: the call above has filled it, and zeroes are one of its values too.
        let usage = unsafe { usage.assume_init() };
        let count = |count: libc::c_long| u64::try_from(count).unwrap_or(0);
        Ok(Self { minor: count(usage.ru_minflt), major: count(usage.ru_majflt) })
    }

    /// Those since `before`.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            minor: self.minor.saturating_sub(before.minor),
            major: self.major.saturating_sub(before.major),
        }
    }
}

/// How many bytes can be had without swapping, by the kernel's estimate (`MemAvailable` of proc_meminfo(5)); `None` where it
/// does not tell.
#[must_use]
pub fn available() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a thread of its own, so that nothing else of the test's faults is counted.
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
    fn each_small_page_faults_once_and_a_huge_page_stands_for_many() {
        let pages = |length: usize, page: usize| (length / page) as u64;
        let length = 64 * HUGE_PAGE;
        let small = faults(length, false).expect("there is room");
        let expected = pages(length, PAGE);
        assert!((expected..expected + 100).contains(&small.minor), "{small:?}, not {expected}");
        if let Ok(huge) = faults(length, true) {
            // Where no huge page is free, small ones are made in its place.
            assert!((pages(length, HUGE_PAGE)..=small.minor + 100).contains(&huge.minor), "{huge:?}");
        }
        assert!(available().is_some_and(|bytes| bytes > 0));
    }
}
