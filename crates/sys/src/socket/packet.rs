//! Sends Ethernet frames on a device.
#![expect(unsafe_code, reason = "rustix has no address type for packet sockets")]

use std::{fs::File, os::fd::AsRawFd};

use rustix::net::{AddressFamily, SocketFlags, SocketType, netdevice::name_to_index, socket_with};

use super::integer::set;
use crate::error::{Context, Error, Result};

/// Each write to the returned file sends a frame with this mark (`SO_MARK`).
pub fn frame_sender(device: &str, mark: i32) -> Result<File> {
    let socket = socket_with(AddressFamily::PACKET, SocketType::RAW, SocketFlags::CLOEXEC, None);
    let socket = socket.named("open a packet socket for", || device)?;
    set(&socket, libc::SOL_SOCKET, libc::SO_MARK.cast_unsigned(), mark, "mark the frames of")?;
    let index = name_to_index(&socket, device).named("find", || device)?;
    // SAFETY: `sockaddr_ll` consists of integers and an array, so zeros are valid.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_ifindex = index.cast_signed();
    let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the pointer and the length describe `address`, which outlives the call.
    if unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) } < 0 {
        return Err(Error::last("bind a packet socket to", device));
    }
    Ok(File::from(socket))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn sends_on_an_existing_device_only() {
        let Some(namespace) = crate::netns::testing::namespace() else { return };
        namespace
            .run_in(|| {
                let tap = crate::tap::create_without_checksums("tap3").expect("Linux has tap devices");
                let mut socket = frame_sender("tap3", 5).expect("the device exists");
                let refused = socket.write(&[0; 60]).expect_err("the device is down");
                assert_eq!(refused.raw_os_error(), Some(libc::ENETDOWN));
                drop(tap);
                let error = frame_sender("tap3", 5).expect_err("the device is gone").to_string();
                assert!(error.contains("tap3"), "{error}");
            })
            .expect("enters the namespace");
    }
}
