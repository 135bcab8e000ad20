//! Integer socket options without a rustix wrapper.

#![expect(unsafe_code, reason = "getsockopt and setsockopt")]

use std::os::fd::{AsFd, AsRawFd};

use super::named;
use crate::error::{Error, Result};

pub(super) fn get_int(fd: &impl AsFd, level: i32, name: u32, operation: &'static str) -> Result<i32> {
    let mut value = 0_i32;
    let mut size = length::<i32>();
    let raw = fd.as_fd().as_raw_fd();
    let to = (&raw mut value).cast();
    // SAFETY: the kernel writes at most `size` bytes to `value`, which has that size.
    let status = unsafe { libc::getsockopt(raw, level, name.cast_signed(), to, &raw mut size) };
    if status < 0 { Err(Error::last(operation, named(fd))) } else { Ok(value) }
}

/// `value` must have the width that the kernel expects.
pub(super) fn set<T: Integer>(
    fd: &impl AsFd,
    level: i32,
    name: u32,
    value: T,
    operation: &'static str,
) -> Result<()> {
    let raw = fd.as_fd().as_raw_fd();
    let from = (&raw const value).cast();
    // SAFETY: the kernel reads an integer of this size.
    let status = unsafe { libc::setsockopt(raw, level, name.cast_signed(), from, length::<T>()) };
    if status < 0 { Err(Error::last(operation, named(fd))) } else { Ok(()) }
}

pub(super) trait Integer: Copy {}

impl Integer for i32 {}
impl Integer for u64 {}

fn length<T>() -> libc::socklen_t {
    libc::socklen_t::try_from(size_of::<T>()).expect("at most 8")
}
