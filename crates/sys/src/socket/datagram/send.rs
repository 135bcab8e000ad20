//! Sends datagrams of one size in as few messages as possible (GSO).

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use linux_raw_sys::net::{cmsghdr, mmsghdr};

use super::{Control, NO_MESSAGE, NO_VECTOR, UDP_SEGMENT};
use crate::error::{Error, Result};
use crate::socket::transfer::again;

/// The maximum payload in bytes over IPv4. It also limits the total size of a segmented send.
const LARGEST: usize = 65_507;

/// UDP_MAX_SEGMENTS from linux/udp.h. Newer kernels allow more.
const SEGMENTS: usize = 64;

/// The maximum number of messages per call (UIO_MAXIOV).
const MESSAGES: usize = 1024;

const CONTROL_LENGTH: usize = size_of::<cmsghdr>() + size_of::<u16>();

pub struct SendBatch {
    length: usize,
    per_message: usize,
    payload: Box<[u8]>,
    messages: Box<[mmsghdr]>,
    vectors: Box<[libc::iovec]>,
    controls: Box<[Control]>,
}

// SAFETY: the pointers are written and used within one call and refer to owned memory.
unsafe impl Send for SendBatch {}

impl SendBatch {
    /// Creates a batch whose payload is all zeros.
    ///
    /// If `segmented` is set, up to 64 datagrams form one message (UDP_SEGMENT), and each must fit the MTU. A
    /// datagram of more than 65,507 bytes fails with EMSGSIZE. An empty datagram, an empty batch, and a batch
    /// that needs more than 1,024 messages fail with EINVAL.
    pub fn new(datagrams: usize, length: usize, segmented: bool) -> Result<Self> {
        let object = || format!("{datagrams} datagrams of {length} bytes");
        if length > LARGEST {
            return Err(Error::new(CREATE, object(), libc::EMSGSIZE));
        }
        if length == 0 || datagrams == 0 {
            return Err(Error::new(CREATE, object(), libc::EINVAL));
        }
        let per_message = if segmented { (LARGEST / length).min(SEGMENTS) } else { 1 };
        let messages = datagrams.div_ceil(per_message);
        if messages > MESSAGES {
            let hint = format!("the maximum per call is {}", MESSAGES * per_message);
            return Err(Error::new(CREATE, object(), libc::EINVAL).with_hint(hint));
        }
        Ok(Self {
            length,
            per_message,
            payload: vec![0; datagrams * length].into(),
            messages: vec![NO_MESSAGE; messages].into(),
            vectors: vec![NO_VECTOR; messages].into(),
            controls: vec![cut_into(length); if per_message > 1 { messages } else { 0 }].into(),
        })
    }

    #[must_use]
    pub fn capacity(&self) -> usize {
        self.payload.len() / self.length
    }

    #[must_use]
    pub const fn per_message(&self) -> usize {
        self.per_message
    }

    /// [`SendBatch::send`] does not change the payload. Panics if `index` is out of range.
    #[inline]
    pub fn payload_mut(&mut self, index: usize) -> &mut [u8] {
        &mut self.payload[index * self.length..][..self.length]
    }

    /// Sends the first `datagrams` of the batch and returns the number accepted by the kernel. Fails with
    /// `WouldBlock` if none is accepted within the send timeout, or immediately on a nonblocking socket. With
    /// segmentation, EINVAL or EMSGSIZE means that a datagram does not fit the MTU.
    pub fn send(&mut self, fd: impl AsFd, datagrams: usize) -> io::Result<usize> {
        let datagrams = datagrams.min(self.capacity());
        let count = self.describe(datagrams);
        let socket = fd.as_fd().as_raw_fd();
        let taken = again(|| {
            // SAFETY: the first `count` headers have just been written. They point to boxes owned by `self`, and these
            // do not move during the call. The kernel writes only `msg_len` fields.
            let taken = unsafe {
                libc::syscall(
                    libc::SYS_sendmmsg,
                    socket,
                    self.messages.as_mut_ptr(),
                    count,
                    libc::MSG_NOSIGNAL,
                )
            };
            usize::try_from(taken).map_err(|_| io::Error::last_os_error())
        })?;
        Ok(datagrams.min(taken * self.per_message))
    }

    fn describe(&mut self, datagrams: usize) -> usize {
        let count = datagrams.div_ceil(self.per_message);
        let bytes = &mut self.payload[..datagrams * self.length];
        let parts = bytes.chunks_mut(self.per_message * self.length);
        for (((message, vector), part), index) in
            self.messages.iter_mut().zip(self.vectors.iter_mut()).zip(parts).zip(0..)
        {
            vector.iov_base = part.as_mut_ptr().cast();
            vector.iov_len = part.len();
            let header = &mut message.msg_hdr;
            header.msg_iov = std::ptr::from_mut(vector).cast();
            header.msg_iovlen = 1;
            if let Some(control) = self.controls.get_mut(index) {
                header.msg_control = std::ptr::from_mut(control).cast();
                header.msg_controllen = size_of::<Control>();
            }
        }
        count
    }
}

const CREATE: &str = "create a batch of";

impl std::fmt::Debug for SendBatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SendBatch({} x {} bytes, {} a message)", self.capacity(), self.length, self.per_message)
    }
}

fn cut_into(length: usize) -> Control {
    let mut control = Control::EMPTY;
    control.header =
        cmsghdr { cmsg_len: CONTROL_LENGTH, cmsg_level: libc::IPPROTO_UDP, cmsg_type: UDP_SEGMENT };
    let size = u16::try_from(length).expect("65,507 fits");
    control.value[..2].copy_from_slice(&size.to_ne_bytes());
    control
}
