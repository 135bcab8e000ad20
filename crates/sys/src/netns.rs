//! Network namespaces that have no name: each is held by a file descriptor and vanishes with the last holder.
//!
//! It must not know what stands inside a namespace. See namespaces(7), network_namespaces(7).
#![expect(unsafe_code, reason = "unshare, and ioctls that rustix has no call for")]
#![expect(clippy::disallowed_methods, reason = "a namespace is opened as a file of /proc")]

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::thread;

use rustix::thread::{LinkNameSpaceType, UnshareFlags};

use crate::error::{Context, Error, Result};
use crate::process::Process;

const OWN: &str = "/proc/thread-self/ns/net";

/// `_IO(0xb7, 3)` of linux/nsfs.h, since Linux 4.11.
const NS_GET_NSTYPE: u32 = 0xb703;

/// A network namespace, alive at least as long as this value.
#[derive(Debug)]
pub struct NetNs {
    fd: OwnedFd,
    inode: u64,
}

impl NetNs {
    /// Makes an empty namespace: its only device is `lo`, which is down. `label` names it in errors only.
    pub fn create(label: &str) -> Result<Self> {
        on_scratch_thread(label, || create_here(label))
    }

    /// Makes `n` namespaces on one thread, which is several times as fast as `n` times [`NetNs::create`].
    pub fn create_many(n: usize) -> Result<Vec<Self>> {
        let label = format!("{n} network namespaces");
        on_scratch_thread(&label, || (0..n).map(|i| create_here(&format!("number {i} of {label}"))).collect())
    }

    /// The namespace of the calling thread.
    pub fn current() -> Result<Self> {
        Self::open(OWN)
    }

    /// A namespace by its file, such as `/proc/PID/ns/net` or `/proc/PID/fd/N`.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let name = || path.display().to_string();
        let file = File::open(path).named("open network namespace", name)?;
        Self::from_fd(file.into(), &name())
    }

    /// The namespace that `process` holds by its descriptor of this number.
    pub fn held_by(process: &Process, descriptor: i32) -> Result<Self> {
        let file = format!("fd/{descriptor}");
        Self::from_fd(process.open(&file)?, &format!("{process}, {file}"))
    }

    /// Takes a descriptor that refers to a network namespace; anything else is refused with EINVAL.
    pub(crate) fn from_fd(fd: OwnedFd, label: &str) -> Result<Self> {
        // SAFETY: NS_GET_NSTYPE takes no argument and writes no memory; `fd` is open.
        let kind = unsafe { libc::ioctl(fd.as_raw_fd(), NS_GET_NSTYPE as _) };
        if kind != libc::CLONE_NEWNET {
            return Err(Error::new("use as a network namespace", label, libc::EINVAL));
        }
        let inode = rustix::fs::fstat(&fd).named("stat network namespace", || label)?.st_ino;
        Ok(Self { fd, inode })
    }

    /// Moves the calling thread into this namespace. Other threads stay where they are; threads and
    /// processes that the caller starts later begin in it.
    pub fn enter(&self) -> Result<()> {
        rustix::thread::move_into_link_name_space(self.fd.as_fd(), Some(LinkNameSpaceType::Network))
            .named("enter network namespace", || self.to_string())
    }

    /// Runs `work` on a thread inside this namespace and waits for it; a panic of `work` goes on here.
    pub fn run_in<T, F>(&self, work: F) -> Result<T>
    where
        T: Send,
        F: FnOnce() -> T + Send,
    {
        on_scratch_thread(&self.to_string(), || {
            self.enter()?;
            Ok(work())
        })
    }

    /// The inode number, which is the identity of a namespace while it lives (as `readlink` shows it).
    #[must_use]
    pub const fn inode(&self) -> u64 {
        self.inode
    }

    /// A second descriptor of the same namespace.
    pub fn try_clone(&self) -> Result<Self> {
        let fd =
            self.fd.try_clone().named("duplicate descriptor of network namespace", || self.to_string())?;
        Ok(Self { fd, inode: self.inode })
    }

    /// Above all descriptor numbers that children inherit by number.
    pub(crate) const ABOVE_INHERITED: i32 = 512;

    /// The same by a number that is above those by which a child knows what it inherits.
    pub(crate) fn moved_up(self) -> Result<Self> {
        let fd = rustix::io::fcntl_dupfd_cloexec(&self.fd, Self::ABOVE_INHERITED);
        let fd = fd.named("duplicate descriptor of network namespace", || self.to_string())?;
        Ok(Self { fd, inode: self.inode })
    }

    /// A path by which any process with the right to look at this one can open the namespace.
    #[must_use]
    pub fn proc_path(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", std::process::id(), self.fd.as_raw_fd()).into()
    }
}

impl AsFd for NetNs {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl PartialEq for NetNs {
    fn eq(&self, other: &Self) -> bool {
        self.inode == other.inode
    }
}

impl Eq for NetNs {}

impl std::fmt::Display for NetNs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "net:[{}]", self.inode)
    }
}

fn create_here(label: &str) -> Result<NetNs> {
    // SAFETY: CLONE_NEWNET does not touch the table of descriptors, which is what makes unshare unsafe.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNET) }
        .named("create network namespace", || label)
        .map_err(explain)?;
    NetNs::current()
}

fn explain(error: Error) -> Error {
    match error.errno() {
        libc::EPERM => error.with_hint("run as root, or enter a user namespace first"),
        libc::ENOSPC => error.with_hint("the limit user.max_net_namespaces is reached"),
        _ => error,
    }
}

/// A thread that changes its namespace cannot be trusted with anything afterwards, so it ends.
fn on_scratch_thread<T: Send>(label: &str, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new()
            .name("netns".into())
            .spawn_scoped(scope, work)
            .named("start a thread for", || label)?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// `None`, with the reason printed, where this process may not make namespaces.
    pub(crate) fn namespaces(n: usize) -> Option<Vec<NetNs>> {
        NetNs::create_many(n).inspect_err(say).ok()
    }

    pub(crate) fn namespace() -> Option<NetNs> {
        NetNs::create("test").inspect_err(say).ok()
    }

    pub(crate) fn bring_loopback_up() {
        let up = std::process::Command::new("ip").args(["link", "set", "lo", "up"]).status();
        assert!(up.is_ok_and(|status| status.success()), "ip link set lo up");
    }

    #[expect(clippy::disallowed_macros, reason = "a test says why it tests nothing")]
    fn say(error: &Error) {
        eprintln!("returns early: {error}");
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::*;

    fn names() -> BTreeSet<String> {
        let entries = fs::read_dir("/run/netns").into_iter().flatten();
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn many_namespaces_are_different_and_have_no_name() {
        let before = (NetNs::current().expect("readable"), names());
        let Some(all) = testing::namespaces(20) else { return };
        let inodes: BTreeSet<u64> = all.iter().map(NetNs::inode).chain([before.0.inode()]).collect();
        assert_eq!(inodes.len(), 21);
        assert_eq!(names(), before.1);
        assert_eq!(NetNs::current().expect("readable"), before.0, "the caller did not move");
    }

    #[test]
    fn a_new_namespace_holds_only_a_loopback_that_can_be_brought_up() {
        let Some(ns) = testing::namespace() else { return };
        let (devices, before, after) = ns
            .run_in(|| {
                let devices = fs::read_to_string("/proc/thread-self/net/dev").expect("readable");
                let reach = || {
                    std::net::TcpListener::bind("127.0.0.1:0")
                        .and_then(|listener| std::net::TcpStream::connect(listener.local_addr()?).map(drop))
                };
                let before = reach();
                testing::bring_loopback_up();
                (devices, before, reach())
            })
            .expect("enters");
        let names: Vec<&str> =
            devices.lines().filter_map(|line| line.split_once(':')).map(|d| d.0.trim()).collect();
        assert_eq!(names, ["lo"]);
        assert!(before.is_err(), "loopback is down at first");
        assert!(after.is_ok(), "{after:?}");
    }

    #[test]
    fn only_the_thread_that_enters_moves() {
        let Some(ns) = testing::namespace() else { return };
        let outside = NetNs::current().expect("readable");
        let inside = ns.run_in(NetNs::current).expect("enters").expect("readable");
        assert_eq!(inside, ns);
        assert_ne!(inside, outside);
        assert_eq!(NetNs::current().expect("readable"), outside);
    }

    #[test]
    fn a_namespace_can_be_opened_again_by_its_path() {
        let Some(ns) = testing::namespace() else { return };
        let again = NetNs::open(ns.proc_path()).expect("open by path");
        let inode = ns.inode();
        drop(ns);
        assert_eq!(again.run_in(NetNs::current).expect("still alive").expect("readable").inode(), inode);
    }

    #[test]
    fn what_is_no_network_namespace_is_refused() {
        for path in ["/proc/self/ns/uts", "/proc/self/stat"] {
            let error = NetNs::open(path).expect_err("not a network namespace");
            assert_eq!(error.errno(), libc::EINVAL, "{path}");
        }
        let missing = NetNs::open("/proc/self/ns/missing").expect_err("no such file");
        assert!(missing.to_string().contains("/proc/self/ns/missing"), "{missing}");
    }

    #[test]
    #[should_panic(expected = "out of the namespace")]
    fn a_panic_inside_reaches_the_caller() {
        let ns = NetNs::current().expect("readable");
        let result = ns.run_in(|| panic!("out of the namespace"));
        // Entering even the own namespace needs rights.
        result.unwrap_or_else(|error| panic!("out of the namespace: {error}"));
    }
}
