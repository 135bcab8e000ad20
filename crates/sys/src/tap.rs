//! Tap devices. See linux/if_tun.h, and Documentation/networking/tuntap.rst in the kernel sources.
#![expect(unsafe_code, reason = "ioctls without a rustix wrapper")]

use std::{
    fs::File,
    os::fd::{AsRawFd, OwnedFd},
};

use rustix::fs::{Mode, OFlags};

use crate::error::{Context, Error, Result};

const DEVICE: &str = "/dev/net/tun";

/// `_IOW('T', 202, int)` and `_IOW('T', 218, unsigned int)` from linux/if_tun.h.
const TUNSETIFF: u32 = 0x4004_54ca;
const TUNSETIFINDEX: u32 = 0x4004_54da;
/// `_IOW('T', 217, int)`.
const TUNSETQUEUE: u32 = 0x4004_54d9;
/// `_IOW('T', 208, unsigned int)`.
const TUNSETOFFLOAD: u32 = 0x4004_54d0;
const TUN_F_CSUM: libc::c_ulong = 1;
/// `_IOW('T', 203, int)`.
const TUNSETPERSIST: u32 = 0x4004_54cb;

/// Creates a device in the calling thread's network namespace, with one descriptor per queue. Packets start
/// with a `struct virtio_net_hdr` that describes offloads. The kernel removes the device when its last
/// descriptor is closed.
pub fn create(name: &str, index: u32, queues: u32) -> Result<Vec<File>> {
    (0..queues.max(1)).map(|queue| open(name, (queue == 0).then_some(index), queues > 1)).collect()
}

/// Creates a persistent device with one queue in the calling thread's network namespace. The device lives as
/// long as the namespace.
pub fn create_for_another(name: &str, index: u32) -> Result<()> {
    let queue = open(name, Some(index), false)?;
    // SAFETY: TUNSETPERSIST takes an int by value.
    if unsafe { libc::ioctl(queue.as_raw_fd(), TUNSETPERSIST as _, 1) } < 0 {
        return Err(Error::last("make persistent tap device", name));
    }
    Ok(())
}

/// Creates a device in the calling thread's network namespace. The kernel does not complete the checksums of its packets.
pub fn create_without_checksums(name: &str) -> Result<File> {
    let queue = open(name, None, false)?;
    // SAFETY: TUNSETOFFLOAD takes flags by value.
    if unsafe { libc::ioctl(queue.as_raw_fd(), TUNSETOFFLOAD as _, TUN_F_CSUM) } < 0 {
        return Err(Error::last("set the offloads of tap device", name));
    }
    Ok(queue)
}

/// Reattaches a queue that another process may have detached. Succeeds if it is already attached.
pub fn attach(queue: &File) -> Result<()> {
    match set_queue(queue, libc::IFF_ATTACH_QUEUE) {
        Err(error) if error.errno() == libc::EINVAL => Ok(()),
        done => done,
    }
}

fn set_queue(queue: &File, flag: libc::c_int) -> Result<()> {
    // SAFETY: `ifreq` is plain data, so zeros are valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    request.ifr_ifru.ifru_flags = flag as libc::c_short;
    // SAFETY: TUNSETQUEUE reads an ifreq; `request` is one and outlives the call.
    if unsafe { libc::ioctl(queue.as_raw_fd(), TUNSETQUEUE as _, &raw const request) } < 0 {
        return Err(Error::last("set", "a queue of a tap device"));
    }
    Ok(())
}

fn open(name: &str, index: Option<u32>, several: bool) -> Result<File> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let descriptor: OwnedFd = rustix::fs::open(DEVICE, flags, Mode::empty()).named("open", || DEVICE)?;
    let number = descriptor.as_raw_fd();
    if let Some(index) = index {
        // SAFETY: TUNSETIFINDEX reads an unsigned int; `index` is one and outlives the call.
        if unsafe { libc::ioctl(number, TUNSETIFINDEX as _, &raw const index) } < 0 {
            return Err(Error::last("set the index of tap device", name));
        }
    }
    let mut flags = libc::IFF_TAP | libc::IFF_NO_PI | libc::IFF_VNET_HDR;
    if several {
        flags |= libc::IFF_MULTI_QUEUE;
    }
    // SAFETY: `ifreq` is plain data, so zeros are valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if name.len() >= request.ifr_name.len() {
        return Err(Error::new("create tap device", name, libc::ENAMETOOLONG));
    }
    for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *place = libc::c_char::from_ne_bytes([byte]);
    }
    request.ifr_ifru.ifru_flags = flags as libc::c_short;
    // SAFETY: TUNSETIFF reads and writes an ifreq; `request` is one and outlives the call.
    if unsafe { libc::ioctl(number, TUNSETIFF as _, &raw mut request) } < 0 {
        return Err(Error::last("create tap device", name));
    }
    Ok(File::from(descriptor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn creates_device_that_is_removed_with_its_last_queue() {
        let Some(namespace) = crate::netns::testing::namespace() else { return };
        let index = || rustix::net::netdevice::name_to_index(socket(), "tap7");
        namespace
            .run_in(|| {
                let taps = create("tap7", 77, 2).expect("Linux has tap devices");
                assert_eq!(taps.len(), 2);
                assert_eq!(index().expect("exists"), 77);
                drop(taps);
                assert!(index().is_err());
                let error = create("a-name-that-is-too-long", 5, 1).expect_err("16 bytes").to_string();
                assert!(error.contains("a-name-that-is-too-long"), "{error}");
            })
            .expect("enters the namespace");
    }

    #[test]
    fn reattaches_detached_queue() {
        let Some(namespace) = crate::netns::testing::namespace() else { return };
        namespace
            .run_in(|| {
                let taps = create("tap9", 99, 2).expect("Linux has tap devices");
                let detach = || set_queue(&taps[1], libc::IFF_DETACH_QUEUE);
                attach(&taps[1]).expect("attached");
                detach().expect("attached");
                assert_eq!(detach().expect_err("detached").errno(), libc::EINVAL);
                attach(&taps[1]).expect("detached");
                detach().expect("attached again");
            })
            .expect("enters the namespace");
    }

    #[test]
    fn persistent_device_can_be_opened_once_by_name() {
        let Some(namespace) = crate::netns::testing::namespace() else { return };
        namespace
            .run_in(|| {
                create_for_another("tap8", 88).expect("Linux has tap devices");
                let index = || rustix::net::netdevice::name_to_index(socket(), "tap8");
                let opened = open("tap8", None, false).expect("a free queue");
                let error = open("tap8", None, false).expect_err("no free queue");
                assert_eq!(error.errno(), libc::EBUSY);
                assert!(open("tap8", None, true).is_err(), "a single queue");
                drop(opened);
                assert_eq!(index().expect("still exists"), 88);
            })
            .expect("enters the namespace");
    }

    fn socket() -> OwnedFd {
        rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::DGRAM, None)
            .expect("a socket")
    }
}
