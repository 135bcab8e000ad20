//! A queue of a tap device that another process holds, looked at through a duplicate of its descriptor, which is closed
//! at once: nothing of the device is changed.
//!
//! It must not know who holds it, or why. See linux/if_tun.h, pidfd_getfd(2) (Linux 5.6).
#![expect(unsafe_code, reason = "ioctls that rustix has no call for")]

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use rustix::process::{PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use crate::{
    error::{Context, Error, Result},
    netns::NetNs,
};

/// `_IOR('T', 210, unsigned int)` and `_IO('T', 227)` of linux/if_tun.h; the second is there since Linux 5.9.
const TUNGETIFF: u32 = 0x8004_54d2;
const TUNGETDEVNETNS: u32 = 0x54e3;

/// What the kernel says of a queue.
#[derive(Debug)]
pub struct ForeignTap {
    /// The device's name.
    pub name: String,
    /// Whether it may have several queues.
    pub several_queues: bool,
    /// Whether packets have a header that tells of offloads (`struct virtio_net_hdr`): without it there are none.
    pub header: bool,
    /// The network namespace that the device is in.
    pub namespace: NetNs,
}

/// Looks at descriptor `number` of process `pid`. Needs the right to trace that process, and CAP_NET_ADMIN over the
/// device's namespace.
pub fn look(pid: u32, number: i32) -> Result<ForeignTap> {
    let object = || format!("descriptor {number} of process {pid}");
    let process = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    let process = process.ok_or_else(|| Error::new("look at", object(), libc::ESRCH))?;
    let process = pidfd_open(process, PidfdFlags::empty()).named("look at", object)?;
    let queue = pidfd_getfd(&process, number, PidfdGetfdFlags::empty()).named("look at", object)?;
    // SAFETY: all zeroes is a value of ifreq, which has only integers, arrays and pointers in it.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // SAFETY: TUNGETIFF writes an ifreq; `request` is one, and lives over the call.
    if unsafe { libc::ioctl(queue.as_raw_fd(), TUNGETIFF as _, &raw mut request) } < 0 {
        return Err(Error::last("ask for the tap device of", object()));
    }
    // SAFETY: the call above has just written this member of the union.
    let flags = libc::c_int::from(unsafe { request.ifr_ifru.ifru_flags });
    let bytes: Vec<u8> = request.ifr_name.iter().map(|byte| byte.cast_unsigned()).collect();
    let name = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    Ok(ForeignTap {
        name: String::from_utf8_lossy(name).into_owned(),
        several_queues: flags & libc::IFF_MULTI_QUEUE != 0,
        header: flags & libc::IFF_VNET_HDR != 0,
        namespace: namespace(&queue, &object())?,
    })
}

fn namespace(queue: &OwnedFd, object: &str) -> Result<NetNs> {
    // SAFETY: TUNGETDEVNETNS takes no argument and gives a descriptor.
    let number = unsafe { libc::ioctl(queue.as_raw_fd(), TUNGETDEVNETNS as _) };
    if number < 0 {
        return Err(Error::last("ask for the namespace of the tap device of", object));
    }
    // SAFETY: a descriptor that the kernel has just made for this call alone.
    NetNs::from_fd(unsafe { OwnedFd::from_raw_fd(number) }, object)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests open files and wait")]
mod tests {
    use super::*;

    #[test]
    fn a_queue_tells_its_device_and_the_namespace_that_it_is_in() {
        let Some(made) = crate::netns::testing::namespace() else { return };
        let taps =
            made.run_in(|| crate::tap::create("tap7", 77, 2)).flatten().expect("Linux has tap devices");
        let held = look(std::process::id(), taps[0].as_raw_fd()).expect("it is this process's own");
        assert_eq!((held.name.as_str(), held.several_queues, held.header), ("tap7", true, true));
        assert_eq!(held.namespace, made, "although this thread is in another");
    }

    #[test]
    fn what_is_no_tap_device_or_no_process_is_refused_by_name() {
        let null = std::fs::File::open("/dev/null").expect("Linux");
        let own = std::process::id();
        for (pid, number) in [(own, null.as_raw_fd()), (own, 999_999), (u32::MAX, 0)] {
            let error = look(pid, number).expect_err("it is none").to_string();
            assert!(error.contains(&format!("descriptor {number} of process {pid}")), "{error}");
        }
    }
}
