//! A helper process that keeps a privilege that this process is about to drop.
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

/// Forks a child that runs `work` with one end of a connection and then exits. Returns the other end. The
/// child closes all other descriptors except standard error. This process must be single-threaded.
pub fn start(work: impl FnOnce(UnixStream)) -> Result<UnixStream> {
    let named = || "a helper process";
    let (ours, theirs) = UnixStream::pair().named("start", named)?;
    // SAFETY: the process is single-threaded, so the child's state is consistent.
    match unsafe { libc::fork() } {
        -1 => Err(Error::last("start", named())),
        0 => {
            drop(ours);
            close_others(theirs.as_raw_fd());
            // The child must not return into its parent's code, even after a panic.
            let _ = catch_unwind(AssertUnwindSafe(|| work(theirs)));
            // SAFETY: the call ends the process without running its code.
            unsafe { libc::_exit(0) }
        }
        _ => Ok(ours),
    }
}

fn close_others(exception: i32) {
    const STDERR: u32 = 2;
    let exception = exception.unsigned_abs();
    let ranges = [(0, STDERR - 1), (STDERR + 1, exception - 1), (exception + 1, u32::MAX)];
    for (first, last) in ranges.into_iter().filter(|(first, last)| first <= last) {
        // SAFETY: the child never uses the owners of these descriptors. On kernels without this call, they stay
        // open.
        unsafe { libc::syscall(libc::SYS_close_range, first, last, 0_u32) };
    }
}

pub fn send(to: &UnixStream, bytes: &[u8], descriptor: Option<&OwnedFd>) -> Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let descriptors: Vec<_> = descriptor.iter().map(|descriptor| descriptor.as_fd()).collect();
    if !descriptors.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
    }
    sendmsg(to, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL)
        .named("send to", || "a helper process")?;
    Ok(())
}

pub fn receive(from: &UnixStream, bytes: &mut [u8]) -> Result<(usize, Option<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let came = recvmsg(from, &mut [IoSliceMut::new(bytes)], &mut control, RecvFlags::CMSG_CLOEXEC)
        .named("receive from", || "a helper process")?;
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
    fn passes_descriptor_and_detects_exit_of_the_peer() {
        let other = start(|parent| {
            let (mut bytes, (mine, theirs)) = ([0; 8], std::io::pipe().expect("a pipe"));
            while let Ok((1.., _)) = receive(&parent, &mut bytes) {
                send(&parent, &bytes[..2], Some(&theirs.try_clone().expect("a descriptor").into()))
                    .expect("heard");
            }
            drop(mine);
        })
        .expect("forks");
        send(&other, b"hi", None).expect("the child receives");
        let mut bytes = [0; 8];
        let (length, descriptor) = receive(&other, &mut bytes).expect("a reply");
        assert_eq!((&bytes[..length], descriptor.is_some()), (&b"hi"[..], true));
        drop(descriptor);
        other.shutdown(std::net::Shutdown::Write).expect("open");
        assert_eq!(receive(&other, &mut bytes).expect("end of stream").0, 0);
    }
}
