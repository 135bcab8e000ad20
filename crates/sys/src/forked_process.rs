//! A process beside this one that keeps a right which this one gives up, and descriptors that one hands to the other.
//!
//! It must not know what is handed over. See fork(2), unix(7), close_range(2).
#![expect(unsafe_code, reason = "fork(2) and close_range(2)")]

use std::{
    io::{IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::{
        fd::{AsFd, AsRawFd, OwnedFd},
        unix::net::UnixStream,
    },
    panic::{AssertUnwindSafe, catch_unwind},
};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};

use crate::error::{Context, Error, Result};

/// Starts a copy of this process that does `work` with one end of a connection, and ends; the other end is returned. It
/// has no other descriptor but standard error. This process must have a single thread.
pub fn start(work: impl FnOnce(UnixStream)) -> Result<UnixStream> {
    let named = || "a process beside this one";
    let (ours, theirs) = UnixStream::pair().named("start", named)?;
    // SAFETY: there is one thread, so the copy has everything in the state in which it is here.
    match unsafe { libc::fork() } {
        -1 => Err(Error::last("start", named())),
        0 => {
            drop(ours);
            close_others(theirs.as_raw_fd());
            // It must not come back to what its parent does.
            let _ = catch_unwind(AssertUnwindSafe(|| work(theirs)));
            // SAFETY: it ends the process without running anything of it.
            unsafe { libc::_exit(0) }
        }
        _ => Ok(ours),
    }
}

/// All descriptors but standard error and this one.
fn close_others(kept: i32) {
    const STDERR: u32 = 2;
    let kept = kept.unsigned_abs();
    let ranges = [(0, STDERR - 1), (STDERR + 1, kept - 1), (kept + 1, u32::MAX)];
    for (first, last) in ranges.into_iter().filter(|(first, last)| first <= last) {
        // SAFETY: what owns them is never used in the copy. A kernel without the call leaves them open.
        unsafe { libc::syscall(libc::SYS_close_range, first, last, 0_u32) };
    }
}

/// Says these bytes, with a descriptor.
pub fn send(to: &UnixStream, bytes: &[u8], descriptor: Option<&OwnedFd>) -> Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let descriptors: Vec<_> = descriptor.iter().map(|descriptor| descriptor.as_fd()).collect();
    if !descriptors.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
    }
    sendmsg(to, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL)
        .named("send to", || "a process")?;
    Ok(())
}

/// Hears what the other end says, with the descriptor that came along; 0 bytes when it is gone.
pub fn receive(from: &UnixStream, bytes: &mut [u8]) -> Result<(usize, Option<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let came = recvmsg(from, &mut [IoSliceMut::new(bytes)], &mut control, RecvFlags::CMSG_CLOEXEC)
        .named("hear from", || "a process")?;
    let descriptor = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    Ok((came.bytes, descriptor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_is_handed_over_and_the_end_of_one_is_heard_by_the_other() {
        let other = start(|parent| {
            let (mut bytes, (mine, theirs)) = ([0; 8], std::io::pipe().expect("a pipe"));
            while let Ok((1.., _)) = receive(&parent, &mut bytes) {
                send(&parent, &bytes[..2], Some(&theirs.try_clone().expect("a descriptor").into()))
                    .expect("heard");
            }
            drop(mine);
        })
        .expect("there is room for a process");
        send(&other, b"hi", None).expect("it listens");
        let mut bytes = [0; 8];
        let (length, descriptor) = receive(&other, &mut bytes).expect("it answers");
        assert_eq!((&bytes[..length], descriptor.is_some()), (&b"hi"[..], true));
        drop(descriptor);
        other.shutdown(std::net::Shutdown::Write).expect("open");
        assert_eq!(receive(&other, &mut bytes).expect("its end").0, 0);
    }
}
