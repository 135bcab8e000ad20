//! A counting allocator, to test that code does not allocate.

#![expect(unsafe_code, reason = "GlobalAlloc is an unsafe trait")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicU64, Ordering},
};

#[derive(Debug, Clone, Copy, Default)]
pub struct Counting;

static TAKEN: AtomicU64 = AtomicU64::new(0);

/// Returns the number of allocations and reallocations by all threads, or 0 if [`Counting`] is not the global
/// allocator.
#[must_use]
pub fn taken() -> u64 {
    TAKEN.load(Ordering::Relaxed)
}

// SAFETY: all calls are forwarded unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        TAKEN.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        TAKEN.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        TAKEN.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the memory was allocated here with this layout, and the caller upholds the contract of `realloc`.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the memory was allocated here with this layout.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_allocations_but_not_deallocations() {
        let layout = Layout::from_size_align(64, 8).expect("a layout");
        let before = taken();
        // SAFETY: the layout is not empty, and the memory is freed by its allocator.
        unsafe {
            let memory = Counting.alloc(layout);
            let memory = Counting.realloc(memory, layout, 128);
            Counting.dealloc(memory, Layout::from_size_align(128, 8).expect("a layout"));
            let memory = Counting.alloc_zeroed(layout);
            assert_eq!(*memory, 0);
            Counting.dealloc(memory, layout);
        }
        assert_eq!(taken() - before, 3);
    }
}
