//! Zero-copy sending: passes pages of this process to a socket through a pipe.
#![expect(unsafe_code, reason = "mmap, vmsplice and splice")]

use std::io::{self, ErrorKind, PipeReader, PipeWriter};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::ptr::null_mut;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::OFlags;
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags};

use super::named;
use super::transfer::again;
use crate::error::{Context, Result};

const WAIT: Duration = Duration::from_millis(50);

/// The buffer size in bytes. The pipe is resized to match if `fs.pipe-max-size` (1 MiB by default) allows it.
const LENGTH: usize = 1 << 20;

/// Sends the bytes 0 to 255 over and over.
///
/// While this value exists, the socket is nonblocking (O_NONBLOCK) for all its users. On one CPU, limit the send
/// buffer to between 512 KiB and 1 MiB: autotuning it to several megabytes costs most of the throughput.
#[derive(Debug)]
pub struct ZeroCopySender<'a> {
    socket: BorrowedFd<'a>,
    flags: OFlags,
    pages: Pages,
    into: PipeWriter,
    from: PipeReader,
    next: usize,
    piped: usize,
    full: bool,
}

impl<'a> ZeroCopySender<'a> {
    /// A pipe smaller than 1 MiB, e.g. for an unprivileged user, works but is slower.
    pub fn new(socket: &'a impl AsFd) -> Result<Self> {
        let (from, into) = io::pipe().named("create", || "a pipe")?;
        // SAFETY: F_SETPIPE_SZ takes an integer. On failure the pipe keeps its size.
        unsafe { libc::fcntl(into.as_raw_fd(), libc::F_SETPIPE_SZ, LENGTH) };
        let pages = Pages::new()?;
        let flags = rustix::fs::fcntl_getfl(socket).named("read flags of", || named(socket))?;
        rustix::fs::fcntl_setfl(socket, flags | OFlags::NONBLOCK).named("set flags of", || named(socket))?;
        let socket = socket.as_fd();
        Ok(Self { socket, flags, pages, into, from, next: 0, piped: 0, full: false })
    }

    /// Returns `WouldBlock` if the socket accepts nothing within 50 ms.
    pub fn send(&mut self, upto: usize) -> io::Result<usize> {
        if self.full {
            self.await_space()?;
        }
        let mut sent = 0;
        while sent < upto {
            if self.piped == 0 {
                self.fill_pipe()?;
            }
            match self.empty_pipe(self.piped.min(upto - sent)) {
                Ok(more) => sent += more,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.full = true;
                    if sent > 0 {
                        break;
                    }
                    self.await_space()?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(sent)
    }

    fn await_space(&mut self) -> io::Result<()> {
        let limit = Timespec::try_from(WAIT).expect("50 ms");
        let ready = again(|| {
            let mut watched = [PollFd::from_borrowed_fd(self.socket, PollFlags::OUT)];
            Ok(rustix::event::poll(&mut watched, Some(&limit))?)
        })?;
        self.full = ready == 0;
        if self.full { Err(ErrorKind::WouldBlock.into()) } else { Ok(()) }
    }

    /// If the pipe is empty, fills it with whole pages.
    fn fill_pipe(&mut self) -> io::Result<()> {
        let rest = self.pages.from(self.next);
        let pipe = self.into.as_raw_fd();
        self.piped = again(|| {
            // SAFETY: `rest` refers to mapped read-only memory. The pipe and the socket hold references to its pages,
            // so these outlive the mapping.
            let taken = unsafe { libc::vmsplice(pipe, &raw const rest, 1, libc::SPLICE_F_NONBLOCK) };
            usize::try_from(taken).map_err(|_| io::Error::last_os_error())
        })?;
        self.next = (self.next + self.piped) % LENGTH;
        Ok(())
    }

    fn empty_pipe(&mut self, upto: usize) -> io::Result<usize> {
        let (pipe, socket) = (self.from.as_raw_fd(), self.socket.as_raw_fd());
        let moved = again(|| {
            let flags = libc::SPLICE_F_NONBLOCK;
            // SAFETY: without offsets splice accesses no memory of this process.
            let moved = unsafe { libc::splice(pipe, null_mut(), socket, null_mut(), upto, flags) };
            usize::try_from(moved).map_err(|_| io::Error::last_os_error())
        })?;
        self.piped -= moved;
        Ok(moved)
    }
}

impl Drop for ZeroCopySender<'_> {
    fn drop(&mut self) {
        // This succeeded before on the same socket, and an error could not be reported here.
        let _ = rustix::fs::fcntl_setfl(self.socket, self.flags);
    }
}

#[derive(Debug)]
struct Pages {
    start: *mut libc::c_void,
}

// SAFETY: the pages are not written after `new`.
unsafe impl Send for Pages {}

impl Pages {
    fn new() -> Result<Self> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new anonymous mapping overlaps nothing.
        let start = unsafe { rustix::mm::mmap_anonymous(null_mut(), LENGTH, access, MapFlags::PRIVATE) }
            .named("map", || format!("{LENGTH} bytes"))?;
        let pages = Self { start };
        for (index, value) in (0..LENGTH).zip((0..=u8::MAX).cycle()) {
            // SAFETY: the mapping is `LENGTH` bytes long, writable and private.
            unsafe { start.cast::<u8>().add(index).write(value) };
        }
        // SAFETY: no reference to the mapping exists.
        unsafe { rustix::mm::mprotect(start, LENGTH, MprotectFlags::READ) }
            .named("make constant", || format!("{LENGTH} bytes"))?;
        Ok(pages)
    }

    fn from(&self, offset: usize) -> libc::iovec {
        libc::iovec { iov_base: self.start.wrapping_byte_add(offset), iov_len: LENGTH - offset }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: this value owns the mapping, and no references exist.
        let unmapped = unsafe { rustix::mm::munmap(self.start, LENGTH) };
        debug_assert!(unmapped.is_ok(), "an owned mapping");
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpStream;

    use super::*;
    use crate::clock::monotonic;
    use crate::socket::testing;

    fn check(mut socket: TcpStream) -> usize {
        let mut buffer = vec![0; 100_003];
        let mut total = 0;
        loop {
            let got = socket.read(&mut buffer).expect("loopback");
            if got == 0 {
                return total;
            }
            let right = (total..).zip(&buffer[..got]).all(|(place, byte)| place % 256 == usize::from(*byte));
            assert!(right, "wrong byte after {total}");
            total += got;
        }
    }

    fn send_all(sender: &mut ZeroCopySender<'_>, bytes: usize, each: usize) {
        let mut left = bytes;
        while left > 0 {
            match sender.send(each.min(left)) {
                Ok(sent) => {
                    assert!((1..=each.min(left)).contains(&sent), "{sent}");
                    left -= sent;
                }
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
        }
    }

    #[test]
    fn delivers_all_bytes_in_order() {
        for each in [1000, 4096, 65_536, 1 << 20, 5_000_001] {
            let (client, server) = testing::connected();
            let reader = std::thread::spawn(move || check(server));
            let bytes = 7_654_321.min(each * 500);
            let mut sender = ZeroCopySender::new(&client).expect("a pipe and memory");
            send_all(&mut sender, bytes, each);
            drop(sender);
            drop(client);
            assert_eq!(reader.join().expect("correct bytes"), bytes, "{each} at a time");
        }
    }

    #[test]
    fn works_with_minimum_pipe() {
        let (client, server) = testing::connected();
        let reader = std::thread::spawn(move || check(server));
        let mut sender = ZeroCopySender::new(&client).expect("a pipe and memory");
        // SAFETY: F_SETPIPE_SZ takes an integer.
        let size = unsafe { libc::fcntl(sender.into.as_raw_fd(), libc::F_SETPIPE_SZ, 4096) };
        assert!((4096..=8192).contains(&size), "{size}");
        send_all(&mut sender, 2_000_001, 1 << 20);
        drop(sender);
        drop(client);
        assert_eq!(reader.join().expect("correct bytes"), 2_000_001);
    }

    #[test]
    fn send_returns_on_full_buffer_without_loss() {
        let (client, server) = testing::connected();
        let mut sender = ZeroCopySender::new(&client).expect("a pipe and memory");
        let mut sent = 0;
        let full = loop {
            match sender.send(1 << 20) {
                Ok(more) => sent += more,
                Err(error) => break error,
            }
            assert!(sent < 1 << 30, "the buffer is finite");
        };
        assert_eq!(full.kind(), ErrorKind::WouldBlock);
        let begin = monotonic();
        assert_eq!(sender.send(1 << 20).expect_err("full").kind(), ErrorKind::WouldBlock);
        let waited = Duration::from_nanos(monotonic() - begin);
        assert!(waited >= WAIT && waited < Duration::from_secs(5), "{waited:?}");
        let reader = std::thread::spawn(move || check(server));
        send_all(&mut sender, 3_000_000, 1 << 20);
        drop(sender);
        drop(client);
        assert_eq!(reader.join().expect("correct bytes"), sent + 3_000_000);
    }

    #[test]
    fn fails_after_reset_and_restores_blocking_mode() {
        let (client, server) = testing::connected();
        let waits = || !rustix::fs::fcntl_getfl(&client).expect("a socket").contains(OFlags::NONBLOCK);
        assert!(waits());
        let mut sender = ZeroCopySender::new(&client).expect("a pipe and memory");
        assert!(!waits());
        drop(server);
        let error = (0..1000).find_map(|_| sender.send(1 << 20).err()).expect("a reset");
        assert!(matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset), "{error}");
        drop(sender);
        assert!(waits());
    }
}
