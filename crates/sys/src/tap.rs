//! Tap devices: network devices whose packets a process reads and writes. They are gone with their last descriptor.
//!
//! It must not know who reads them. See Documentation/networking/tuntap.rst of Linux and linux/if_tun.h.
#![expect(unsafe_code, reason = "ioctls that rustix has no call for")]

use std::{
    fs::File,
    os::fd::{AsRawFd, OwnedFd},
};

use rustix::fs::{Mode, OFlags};

use crate::error::{Context, Error, Result};

const DEVICE: &str = "/dev/net/tun";

/// `_IOW('T', 202, int)` and `_IOW('T', 218, unsigned int)` of linux/if_tun.h.
const TUNSETIFF: u32 = 0x4004_54ca;
const TUNSETIFINDEX: u32 = 0x4004_54da;
/// `_IOW('T', 217, int)`.
const TUNSETQUEUE: u32 = 0x4004_54d9;
/// `_IOW('T', 203, int)`.
const TUNSETPERSIST: u32 = 0x4004_54cb;

/// Makes the tap device `name` with `index` in the network namespace of the calling thread: a descriptor for each of
/// its `queues`. Packets have a header that tells what a network card would have done for them (`struct virtio_net_hdr`).
pub fn create(name: &str, index: u32, queues: u32) -> Result<Vec<File>> {
    (0..queues.max(1)).map(|queue| open(name, (queue == 0).then_some(index), queues > 1)).collect()
}

/// Makes the tap device `name` with `index` and one queue in the network namespace of the calling thread, for a process
/// that will open it there by its name. Nobody holds it: it is gone with its namespace.
pub fn create_for_another(name: &str, index: u32) -> Result<()> {
    let queue = open(name, Some(index), false)?;
    // SAFETY: TUNSETPERSIST takes an int by value.
    if unsafe { libc::ioctl(queue.as_raw_fd(), TUNSETPERSIST as _, 1) } < 0 {
        return Err(Error::last("keep tap device", name));
    }
    Ok(())
}

/// Takes a queue of a device with several into use again that another holder of its descriptor had put out of use; one
/// that is in use stays as it is.
pub fn attach(queue: &File) -> Result<()> {
    match set_queue(queue, libc::IFF_ATTACH_QUEUE) {
        Err(error) if error.errno() == libc::EINVAL => Ok(()),
        done => done,
    }
}

fn set_queue(queue: &File, what: libc::c_int) -> Result<()> {
    // SAFETY: all zeroes is a value of ifreq, which has only integers, arrays and pointers in it.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    request.ifr_ifru.ifru_flags = what as libc::c_short;
    // SAFETY: TUNSETQUEUE reads an ifreq; `request` is one, and lives over the call.
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
        // SAFETY: TUNSETIFINDEX reads an unsigned int; `index` is one, and lives over the call.
        if unsafe { libc::ioctl(number, TUNSETIFINDEX as _, &raw const index) } < 0 {
            return Err(Error::last("choose the index of tap device", name));
        }
    }
    let mut flags = libc::IFF_TAP | libc::IFF_NO_PI | libc::IFF_VNET_HDR;
    if several {
        flags |= libc::IFF_MULTI_QUEUE;
    }
    // SAFETY: all zeroes is a value of ifreq, which has only integers, arrays and pointers in it.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if name.len() >= request.ifr_name.len() {
        return Err(Error::new("make tap device", name, libc::ENAMETOOLONG));
    }
    for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *place = byte.cast_signed();
    }
    // The kernel's field is 16 bits wide, and so are its flags.
    request.ifr_ifru.ifru_flags = flags as libc::c_short;
    // SAFETY: TUNSETIFF reads and writes an ifreq; `request` is one, and lives over the call.
    if unsafe { libc::ioctl(number, TUNSETIFF as _, &raw mut request) } < 0 {
        return Err(Error::last("make tap device", name));
    }
    Ok(File::from(descriptor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_made_with_its_queues_and_goes_with_the_last_of_them() {
        let Some(namespace) = crate::netns::testing::namespace() else { return };
        let index = || rustix::net::netdevice::name_to_index(socket(), "tap7");
        namespace
            .run_in(|| {
                let taps = create("tap7", 77, 2).expect("Linux has tap devices");
                assert_eq!(taps.len(), 2);
                assert_eq!(index().expect("it was made"), 77);
                drop(taps);
                assert!(index().is_err());
                let error = create("a-name-that-is-too-long", 5, 1).expect_err("16 bytes").to_string();
                assert!(error.contains("a-name-that-is-too-long"), "{error}");
            })
            .expect("it could be entered");
    }

    #[test]
    fn a_queue_that_was_put_out_of_use_is_taken_into_use_again() {
        let Some(namespace) = crate::netns::testing::namespace() else { return };
        namespace
            .run_in(|| {
                let taps = create("tap9", 99, 2).expect("Linux has tap devices");
                let detach = || set_queue(&taps[1], libc::IFF_DETACH_QUEUE);
                attach(&taps[1]).expect("it is in use");
                detach().expect("it is in use");
                assert_eq!(detach().expect_err("it is not").errno(), libc::EINVAL);
                attach(&taps[1]).expect("it is not in use");
                detach().expect("it is in use again");
            })
            .expect("it could be entered");
    }

    #[test]
    fn a_device_for_another_is_opened_by_name_once_and_outlives_that() {
        let Some(namespace) = crate::netns::testing::namespace() else { return };
        namespace
            .run_in(|| {
                create_for_another("tap8", 88).expect("Linux has tap devices");
                let index = || rustix::net::netdevice::name_to_index(socket(), "tap8");
                let opened = open("tap8", None, false).expect("its queue is free");
                let error = open("tap8", None, false).expect_err("it has one queue");
                assert_eq!(error.errno(), libc::EBUSY);
                assert!(open("tap8", None, true).is_err(), "it has one queue");
                drop(opened);
                assert_eq!(index().expect("it stays"), 88);
            })
            .expect("it could be entered");
    }

    fn socket() -> OwnedFd {
        rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::DGRAM, None)
            .expect("a socket")
    }
}
