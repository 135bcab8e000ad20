//! Inspects a tap queue of another process through a duplicate of its descriptor. See linux/if_tun.h,
//! pidfd_getfd(2) (Linux 5.6).
#![expect(unsafe_code, reason = "ioctls without a rustix wrapper")]

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use rustix::process::{PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use crate::{
    error::{Context, Error, Result},
    netns::NetNs,
};

/// `_IOR('T', 210, unsigned int)` and `_IO('T', 227)` from linux/if_tun.h. The second was added in Linux 5.9.
const TUNGETIFF: u32 = 0x8004_54d2;
const TUNGETDEVNETNS: u32 = 0x54e3;

#[derive(Debug)]
pub struct ForeignTap {
    pub name: String,
    pub several_queues: bool,
    pub header: bool,
    pub namespace: NetNs,
}

/// This requires ptrace access to the process and CAP_NET_ADMIN in the device's namespace.
pub fn look(pid: u32, number: i32) -> Result<ForeignTap> {
    let object = || format!("descriptor {number} of process {pid}");
    let process = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    let process = process.ok_or_else(|| Error::new("look at", object(), libc::ESRCH))?;
    let process = pidfd_open(process, PidfdFlags::empty()).named("look at", object)?;
    let queue = pidfd_getfd(&process, number, PidfdGetfdFlags::empty()).named("look at", object)?;
    // SAFETY: `ifreq` is plain data, so zeros are valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // SAFETY: TUNGETIFF writes an ifreq; `request` is one and outlives the call.
    if unsafe { libc::ioctl(queue.as_raw_fd(), TUNGETIFF as _, &raw mut request) } < 0 {
        return Err(Error::last("query the tap device of", object()));
    }
    // SAFETY: the call above has written this union member.
    let flags = libc::c_int::from(unsafe { request.ifr_ifru.ifru_flags });
    let bytes: Vec<u8> = request.ifr_name.iter().map(|byte| byte.to_ne_bytes()[0]).collect();
    let name = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    Ok(ForeignTap {
        name: String::from_utf8_lossy(name).into_owned(),
        several_queues: flags & libc::IFF_MULTI_QUEUE != 0,
        header: flags & libc::IFF_VNET_HDR != 0,
        namespace: namespace(&queue, &object())?,
    })
}

fn namespace(queue: &OwnedFd, object: &str) -> Result<NetNs> {
    // SAFETY: TUNGETDEVNETNS takes no argument and returns a descriptor.
    let number = unsafe { libc::ioctl(queue.as_raw_fd(), TUNGETDEVNETNS as _) };
    if number < 0 {
        return Err(Error::last("open the namespace of the tap device of", object));
    }
    // SAFETY: the kernel has just created this descriptor.
    NetNs::from_fd(unsafe { OwnedFd::from_raw_fd(number) }, object)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests open files and wait")]
mod tests {
    use super::*;

    #[test]
    fn reports_device_and_namespace_of_a_queue() {
        let Some(ns) = crate::netns::testing::namespace() else { return };
        let taps = ns.run_in(|| crate::tap::create("tap7", 77, 2)).flatten().expect("Linux has tap devices");
        let queue = look(std::process::id(), taps[0].as_raw_fd()).expect("own descriptor");
        assert_eq!((queue.name.as_str(), queue.several_queues, queue.header), ("tap7", true, true));
        assert_eq!(queue.namespace, ns, "this thread is in another one");
    }

    #[test]
    fn names_descriptor_that_is_not_a_tap_queue() {
        let null = std::fs::File::open("/dev/null").expect("Linux");
        let own = std::process::id();
        for (pid, number) in [(own, null.as_raw_fd()), (own, 999_999), (u32::MAX, 0)] {
            let error = look(pid, number).expect_err("not a tap queue").to_string();
            assert!(error.contains(&format!("descriptor {number} of process {pid}")), "{error}");
        }
    }
}
