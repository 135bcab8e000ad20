//! Batched datagrams on connected UDP sockets, without allocations after setup.
#![expect(unsafe_code, reason = "sendmmsg and recvmmsg: the C library's wrappers differ in speed or types")]

mod receive;
mod send;

pub use receive::ReceiveBatch;
pub use send::SendBatch;

use std::ptr::null_mut;

use linux_raw_sys::net::{cmsghdr, mmsghdr, msghdr};

/// A control buffer with room for the integer of UDP_SEGMENT (16 bits) or UDP_GRO (32 bits).
#[repr(C)]
#[derive(Clone, Copy)]
struct Control {
    header: cmsghdr,
    value: [u8; 8],
}

impl Control {
    const EMPTY: Self = Self { header: cmsghdr { cmsg_len: 0, cmsg_level: 0, cmsg_type: 0 }, value: [0; 8] };
}

const UDP_SEGMENT: i32 = 103;
const UDP_GRO: i32 = 104;

const NO_VECTOR: libc::iovec = libc::iovec { iov_base: null_mut(), iov_len: 0 };

/// An empty message header.
const NO_MESSAGE: mmsghdr = mmsghdr {
    msg_hdr: msghdr {
        msg_name: null_mut(),
        msg_namelen: 0,
        msg_iov: null_mut(),
        msg_iovlen: 0,
        msg_control: null_mut(),
        msg_controllen: 0,
        msg_flags: 0,
    },
    msg_len: 0,
};

#[cfg(test)]
mod tests;
