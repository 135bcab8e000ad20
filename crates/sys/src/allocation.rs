//! An allocator that counts, for tests that show that something takes no memory.
//!
//! It must not know what is tested. A test makes [`Counting`] its global allocator.
#![expect(unsafe_code, reason = "an allocator is one by an unsafe trait")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicU64, Ordering},
};

/// Counts, and leaves the work to the system's.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counting;

static TAKEN: AtomicU64 = AtomicU64::new(0);

/// How often memory was taken, or enlarged, until now, by all threads; 0 where [`Counting`] is not the allocator.
#[must_use]
pub fn taken() -> u64 {
    TAKEN.load(Ordering::Relaxed)
}

// SAFETY: every call is passed on as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        TAKEN.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps what `alloc` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        TAKEN.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps what `alloc_zeroed` asks for.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        TAKEN.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the memory came from here, with this layout, and the caller keeps what `realloc` asks for.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the memory came from here, with this layout.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_take_memory_is_counted_and_giving_it_back_is_not() {
        let layout = Layout::from_size_align(64, 8).expect("a layout");
        let before = taken();
        // SAFETY: the layout has a size, and the memory is given back by the allocator that gave it.
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
