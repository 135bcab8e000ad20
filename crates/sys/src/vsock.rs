//! Streams between a guest and the monitor that runs it, over a virtio socket device.
//!
//! It must not know what is said on them. See vsock(7).
#![expect(unsafe_code, reason = "a kind of address that rustix has no type for")]

use std::fs::File;
use std::mem::size_of;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::error::{Error, Result};

/// The number by which a guest calls the machine that it runs on (`VMADDR_CID_HOST`).
pub const HOST: u32 = libc::VMADDR_CID_HOST;

/// Connects to `port` of the machine with number `cid`; a peer that does not answer is an error within two seconds.
/// ENODEV or ENETUNREACH: there is no device yet. ECONNRESET: nobody listens.
pub fn connect(cid: u32, port: u32) -> Result<File> {
    let object = || format!("port {port} of virtual socket {cid}");
    // SAFETY: socket takes no pointers.
    let number = unsafe { libc::socket(libc::AF_VSOCK, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0) };
    if number < 0 {
        return Err(Error::last("open a socket to", object()));
    }
    // SAFETY: the call above has just made this descriptor, and nobody else knows it.
    let socket = unsafe { OwnedFd::from_raw_fd(number) };
    // SAFETY: `sockaddr_vm` is plain integers, for which zero is a valid value.
    let mut address: libc::sockaddr_vm = unsafe { std::mem::zeroed() };
    address.svm_family = libc::AF_VSOCK as libc::sa_family_t;
    address.svm_cid = cid;
    address.svm_port = port;
    // SAFETY: `address` is a `sockaddr_vm` of the length that is given, and lives over the call, which only reads it.
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
    fn nobody_listening_is_an_error_that_names_port_and_peer() {
        let error = connect(HOST, 4711).expect_err("nobody listens").to_string();
        assert!(error.contains("port 4711 of virtual socket 2"), "{error}");
    }
}
