//! Unnamed network namespaces, each held open by a file descriptor.
#![expect(unsafe_code, reason = "unshare, and ioctls without a rustix wrapper")]
#![expect(clippy::disallowed_methods, reason = "opens namespaces through /proc")]

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::thread;

use rustix::thread::{LinkNameSpaceType, UnshareFlags};

use crate::error::{Context, Error, Result};
use crate::process::Process;

const OWN: &str = "/proc/thread-self/ns/net";

/// `_IO(0xb7, 3)` from linux/nsfs.h, added in Linux 4.11.
const NS_GET_NSTYPE: u32 = 0xb703;

#[derive(Debug)]
pub struct NetNs {
    fd: OwnedFd,
    inode: u64,
}

impl NetNs {
    /// Creates a namespace with only `lo`, which is down. Errors contain `label`.
    pub fn create(label: &str) -> Result<Self> {
        on_scratch_thread(label, || create_here(label))
    }

    /// Several times as fast as repeated calls to [`NetNs::create`], because one thread creates all namespaces.
    pub fn create_many(n: usize) -> Result<Vec<Self>> {
        let label = format!("{n} network namespaces");
        on_scratch_thread(&label, || (0..n).map(|i| create_here(&format!("number {i} of {label}"))).collect())
    }

    pub fn current() -> Result<Self> {
        Self::open(OWN)
    }

    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let name = || path.display().to_string();
        let file = File::open(path).named("open network namespace", name)?;
        Self::from_fd(file.into(), &name())
    }

    pub fn of(process: &Process) -> Result<Self> {
        Self::from_fd(process.open("ns/net")?, &process.to_string())
    }

    pub fn held_by(process: &Process, descriptor: i32) -> Result<Self> {
        let file = format!("fd/{descriptor}");
        Self::from_fd(process.open(&file)?, &format!("{process}, {file}"))
    }

    pub(crate) fn from_fd(fd: OwnedFd, label: &str) -> Result<Self> {
        // SAFETY: NS_GET_NSTYPE takes no argument and writes no memory; `fd` is open.
        let kind = unsafe { libc::ioctl(fd.as_raw_fd(), NS_GET_NSTYPE as _) };
        if kind != libc::CLONE_NEWNET {
            return Err(Error::new("use as a network namespace", label, libc::EINVAL));
        }
        let inode = rustix::fs::fstat(&fd).named("stat network namespace", || label)?.st_ino;
        Ok(Self { fd, inode })
    }

    /// Moves the calling thread, and threads and processes that it starts later, into the namespace.
    pub fn enter(&self) -> Result<()> {
        rustix::thread::move_into_link_name_space(self.fd.as_fd(), Some(LinkNameSpaceType::Network))
            .named("enter network namespace", || self.to_string())
    }

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

    /// Returns the inode number, as shown by `readlink`. It is unique among existing namespaces.
    #[must_use]
    pub const fn inode(&self) -> u64 {
        self.inode
    }

    pub fn try_clone(&self) -> Result<Self> {
        let fd =
            self.fd.try_clone().named("duplicate descriptor of network namespace", || self.to_string())?;
        Ok(Self { fd, inode: self.inode })
    }

    pub(crate) const ABOVE_INHERITED: i32 = 512;

    pub(crate) fn moved_up(self) -> Result<Self> {
        let fd = rustix::io::fcntl_dupfd_cloexec(&self.fd, Self::ABOVE_INHERITED);
        let fd = fd.named("duplicate descriptor of network namespace", || self.to_string())?;
        Ok(Self { fd, inode: self.inode })
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
    // SAFETY: the function is unsafe only because of CLONE_FILES.
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

/// Uses a new thread, because a thread that has changed its namespace cannot be reused.
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

    pub(crate) fn namespaces(n: usize) -> Option<Vec<NetNs>> {
        NetNs::create_many(n).inspect_err(print_reason).ok()
    }

    pub(crate) fn namespace() -> Option<NetNs> {
        NetNs::create("test").inspect_err(print_reason).ok()
    }

    pub(crate) fn bring_loopback_up() {
        let up = std::process::Command::new("ip").args(["link", "set", "lo", "up"]).status();
        assert!(up.is_ok_and(|status| status.success()), "ip link set lo up");
    }

    #[expect(clippy::disallowed_macros, reason = "prints the reason for skipping")]
    fn print_reason(error: &Error) {
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
    fn creates_distinct_unnamed_namespaces() {
        let before = (NetNs::current().expect("readable"), names());
        let Some(all) = testing::namespaces(20) else { return };
        let inodes: BTreeSet<u64> = all.iter().map(NetNs::inode).chain([before.0.inode()]).collect();
        assert_eq!(inodes.len(), 21);
        assert_eq!(names(), before.1);
        assert_eq!(NetNs::current().expect("readable"), before.0, "the caller stays in its namespace");
    }

    #[test]
    fn new_namespace_has_only_a_loopback() {
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
        assert!(before.is_err(), "the loopback is initially down");
        assert!(after.is_ok(), "{after:?}");
    }

    #[test]
    fn entering_affects_only_the_calling_thread() {
        let Some(ns) = testing::namespace() else { return };
        let outside = NetNs::current().expect("readable");
        let inside = ns.run_in(NetNs::current).expect("enters").expect("readable");
        assert_eq!(inside, ns);
        assert_ne!(inside, outside);
        assert_eq!(NetNs::current().expect("readable"), outside);
    }

    #[test]
    fn reopens_namespace_by_path() {
        let Some(ns) = testing::namespace() else { return };
        let again = NetNs::open(format!("/proc/self/fd/{}", ns.fd.as_raw_fd())).expect("open by path");
        let inode = ns.inode();
        drop(ns);
        assert_eq!(again.run_in(NetNs::current).expect("still alive").expect("readable").inode(), inode);
    }

    #[test]
    fn rejects_other_files() {
        for path in ["/proc/self/ns/uts", "/proc/self/stat"] {
            let error = NetNs::open(path).expect_err("not a network namespace");
            assert_eq!(error.errno(), libc::EINVAL, "{path}");
        }
        let missing = NetNs::open("/proc/self/ns/missing").expect_err("no such file");
        assert!(missing.to_string().contains("/proc/self/ns/missing"), "{missing}");
    }

    #[test]
    #[should_panic(expected = "out of the namespace")]
    fn propagates_panics() {
        let ns = NetNs::current().expect("readable");
        let result = ns.run_in(|| panic!("out of the namespace"));
        result.unwrap_or_else(|error| panic!("out of the namespace: {error}"));
    }
}
