//! Receives batches of datagrams, and splits those that the kernel has coalesced (GRO).

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::ptr::null_mut;

use linux_raw_sys::net::{cmsghdr, mmsghdr};

use super::{Control, NO_MESSAGE, NO_VECTOR, UDP_GRO};
use crate::socket::transfer::again;

const CONTROL_LENGTH: usize = size_of::<cmsghdr>() + size_of::<i32>();

pub struct ReceiveBatch {
    length: usize,
    payload: Box<[u8]>,
    messages: Box<[mmsghdr]>,
    vectors: Box<[libc::iovec]>,
    controls: Box<[Control]>,
    received: usize,
}

// SAFETY: the pointers are written and used within one call and refer to owned memory.
unsafe impl Send for ReceiveBatch {}

#[cfg(test)]
impl ReceiveBatch {
    pub(super) fn receive_nonblocking(&mut self, fd: impl AsFd) -> io::Result<usize> {
        self.receive_with(&fd, libc::MSG_DONTWAIT)
    }

    pub(super) fn truncated(&self) -> usize {
        let cut = |message: &&mmsghdr| message.msg_hdr.msg_flags & libc::MSG_TRUNC.cast_unsigned() != 0;
        self.messages[..self.received].iter().filter(cut).count()
    }
}

impl ReceiveBatch {
    /// Allocates room for `messages`, at least one. Messages longer than `length` bytes are truncated. With
    /// [`set_udp_gro`](crate::socket::set_udp_gro), a message can be 65,535 bytes long even if its datagrams are
    /// small.
    #[must_use]
    pub fn new(messages: usize, length: usize) -> Self {
        let (messages, length) = (messages.max(1), length.max(1));
        Self {
            length,
            payload: vec![0; messages * length].into(),
            messages: vec![NO_MESSAGE; messages].into(),
            vectors: vec![NO_VECTOR; messages].into(),
            controls: vec![Control::EMPTY; messages].into(),
            received: 0,
        }
    }

    /// Waits for the first message and receives all that are available (MSG_WAITFORONE). Returns their
    /// number, or `WouldBlock` after the receive timeout. ECONNREFUSED means that an earlier datagram had no
    /// listener.
    pub fn receive(&mut self, fd: impl AsFd) -> io::Result<usize> {
        self.receive_with(&fd, libc::MSG_WAITFORONE)
    }

    /// Returns the datagrams of the last call, or none after an error.
    pub fn datagrams(&self) -> impl Iterator<Item = &[u8]> {
        let messages = self.messages[..self.received].iter().zip(&self.controls);
        messages.zip(self.payload.chunks(self.length)).flat_map(|((message, control), space)| {
            let length = usize::try_from(message.msg_len).unwrap_or(0).min(space.len());
            let bytes = &space[..length];
            let size = gathered(message, control).unwrap_or(length).max(1);
            // `chunks` would skip an empty datagram.
            let empty = bytes.is_empty().then_some(bytes);
            bytes.chunks(size).chain(empty)
        })
    }

    fn receive_with(&mut self, fd: &impl AsFd, flags: i32) -> io::Result<usize> {
        self.received = 0;
        self.describe();
        let socket = fd.as_fd().as_raw_fd();
        let (messages, count) = (self.messages.as_mut_ptr(), self.messages.len());
        let no_limit = null_mut::<libc::timespec>();
        self.received = again(|| {
            // SAFETY: all `count` headers have just been written and refer to boxes of `self`, which do not move during
            // the call; the kernel writes to them and their buffers within the given lengths.
            let got = unsafe { libc::syscall(libc::SYS_recvmmsg, socket, messages, count, flags, no_limit) };
            usize::try_from(got).map_err(|_| io::Error::last_os_error())
        })?;
        Ok(self.received)
    }

    /// Restores the headers, which the kernel has modified.
    fn describe(&mut self) {
        let parts = self.payload.chunks_mut(self.length).zip(self.controls.iter_mut());
        for ((message, vector), (part, control)) in
            self.messages.iter_mut().zip(self.vectors.iter_mut()).zip(parts)
        {
            vector.iov_base = part.as_mut_ptr().cast();
            vector.iov_len = part.len();
            let header = &mut message.msg_hdr;
            header.msg_iov = std::ptr::from_mut(vector).cast();
            header.msg_iovlen = 1;
            header.msg_control = std::ptr::from_mut(control).cast();
            header.msg_controllen = size_of::<Control>();
        }
    }
}

impl std::fmt::Debug for ReceiveBatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ReceiveBatch({} x {} bytes)", self.messages.len(), self.length)
    }
}

fn gathered(message: &mmsghdr, control: &Control) -> Option<usize> {
    let header = &control.header;
    let has_size = message.msg_hdr.msg_controllen >= CONTROL_LENGTH
        && header.cmsg_level == libc::IPPROTO_UDP
        && header.cmsg_type == UDP_GRO;
    let [a, b, c, d, ..] = control.value;
    if has_size { usize::try_from(i32::from_ne_bytes([a, b, c, d])).ok() } else { None }
}
