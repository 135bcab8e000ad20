//! Marks the window in which QEMU's instruction counter counts. Each mark is a NOP of eight bytes that compilers do not
//! emit.
#![expect(unsafe_code, reason = "no intrinsic emits these NOPs")]

#[inline]
pub fn begin() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: all x86-64 CPUs execute it as a NOP.
    unsafe {
        std::arch::asm!(".byte 0x0f, 0x1f, 0x84, 0x00", ".ascii \"PLB1\"", options(nostack, preserves_flags));
    }
}

#[inline]
pub fn end() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: as above.
    unsafe {
        std::arch::asm!(".byte 0x0f, 0x1f, 0x84, 0x00", ".ascii \"PLB2\"", options(nostack, preserves_flags));
    }
}
