//! Connections between a guest and its virtual machine monitor over virtio-vsock.
#![expect(unsafe_code, reason = "an address type that rustix lacks")]

use std::fs::File;
use std::mem::size_of;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::error::{Error, Result};

pub const HOST: u32 = libc::VMADDR_CID_HOST;

/// Connects with a timeout of two seconds. ENODEV or ENETUNREACH means that the device does not exist yet,
/// ECONNRESET means that nothing is listening.
pub fn connect(cid: u32, port: u32) -> Result<File> {
    let object = || format!("port {port} of virtual socket {cid}");
    // SAFETY: socket takes no pointers.
    let number = unsafe { libc::socket(libc::AF_VSOCK, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0) };
    if number < 0 {
        return Err(Error::last("open a socket to", object()));
    }
    // SAFETY: the kernel has just created this descriptor.
    let socket = unsafe { OwnedFd::from_raw_fd(number) };
    // SAFETY: `sockaddr_vm` consists of integers, so zeros are valid.
    let mut address: libc::sockaddr_vm = unsafe { std::mem::zeroed() };
    address.svm_family = libc::AF_VSOCK as libc::sa_family_t;
    address.svm_cid = cid;
    address.svm_port = port;
    // SAFETY: `address` is a `sockaddr_vm` of the given length and outlives the call, which only reads it.
    let result = unsafe {
        libc::connect(
            socket.as_raw_fd(),
            (&raw const address).cast::<libc::sockaddr>(),
            size_of::<libc::sockaddr_vm>() as libc::socklen_t,
        )
    };
    if result < 0 {
        return Err(Error::last("connect to", object()));
    }
    Ok(File::from(socket))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_listener_error_names_port_and_peer() {
        let error = connect(HOST, 4711).expect_err("no listener").to_string();
        assert!(error.contains("port 4711 of virtual socket 2"), "{error}");
    }
}
