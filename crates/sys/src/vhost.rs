//! Tests vhost-net by using its device. See linux/vhost.h.
#![expect(unsafe_code, reason = "an ioctl without a rustix wrapper")]

use std::os::fd::AsRawFd;

use rustix::fs::{Mode, OFlags};

use crate::error::{Context, Error, Result};

const DEVICE: &str = "/dev/vhost-net";

/// `_IO(0xaf, 1)` from linux/vhost.h.
const VHOST_SET_OWNER: u32 = 0xaf01;

pub fn try_own() -> Result<()> {
    let device =
        rustix::fs::open(DEVICE, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).named("open", || DEVICE)?;
    // SAFETY: VHOST_SET_OWNER takes no argument and writes no memory; `device` is open.
    if unsafe { libc::ioctl(device.as_raw_fd(), VHOST_SET_OWNER as _) } < 0 {
        return Err(Error::last("become the owner of", DEVICE));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_device_is_unsupported() {
        if let Err(error) = try_own() {
            assert!(error.to_string().contains(DEVICE), "{error}");
            assert!(std::path::Path::new(DEVICE).exists() || error.is_unsupported(), "{error}");
        }
    }
}
