//! User namespaces let an unprivileged process become root in its own namespace.
#![expect(unsafe_code, reason = "unshare, and ioctls without a rustix wrapper")]
#![expect(clippy::disallowed_methods, reason = "maps and limits are files in /proc")]

use std::fs;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use rustix::thread::{CapabilitySet, LinkNameSpaceType, UnshareFlags};

use crate::error::{Context, Error, Result};
use crate::netns::NetNs;
use crate::process::{self, Process};

/// `_IO(0xb7, 1)` from linux/nsfs.h, added in Linux 4.9.
const NS_GET_USERNS: u32 = 0xb701;
/// `_IO(0xb7, 4)` from linux/nsfs.h, added in Linux 4.11.
const NS_GET_OWNER_UID: u32 = 0xb704;
const ENTER: &str = "enter user namespace of";

/// Gains all capabilities in a new user namespace that maps only this process's user and group.
///
/// The process must be single-threaded. If the host forbids user namespaces, the error names the setting.
/// After an error, the process may be in an unmapped namespace, so it should exit.
pub fn enter_as_root() -> Result<()> {
    let uid = rustix::process::geteuid().as_raw();
    let gid = rustix::process::getegid().as_raw();
    // SAFETY: the function is unsafe only because of CLONE_FILES.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWUSER) }
        .named("create user namespace for", || format!("uid {uid}"))
        .map_err(explain)?;
    // Unprivileged processes must deny setgroups before writing a gid map.
    write_map("/proc/self/setgroups", "deny")?;
    write_map("/proc/self/uid_map", &format!("0 {uid} 1\n"))?;
    write_map("/proc/self/gid_map", &format!("0 {gid} 1\n"))
}

#[derive(Debug)]
pub struct UserNs {
    fd: OwnedFd,
    identity: (u64, u64),
    label: String,
}

impl UserNs {
    pub fn of(process: &Process) -> Result<Self> {
        Self::from_fd(process.open("ns/user")?, process.to_string())
    }

    pub fn owning(network: &NetNs) -> Result<Self> {
        // SAFETY: NS_GET_USERNS takes no argument, writes no memory and returns a descriptor; `network` is open.
        let fd = unsafe { libc::ioctl(network.as_fd().as_raw_fd(), NS_GET_USERNS as _) };
        if fd < 0 {
            return Err(Error::last("find user namespace of", network.to_string()));
        }
        // SAFETY: the kernel has just created this descriptor.
        Self::from_fd(unsafe { OwnedFd::from_raw_fd(fd) }, network.to_string())
    }

    /// Enters the namespace, unless the process is already there, and gains all capabilities in it. Refuses
    /// other users' namespaces, because processes there could tamper with this one. The process must be
    /// single-threaded.
    pub fn join(&self) -> Result<()> {
        let ours = fs::File::open("/proc/self/ns/user").named("open", || "/proc/self/ns/user")?;
        if *self == Self::from_fd(ours.into(), "this process".to_owned())? {
            // The kernel does not allow entering the current namespace.
            return Ok(());
        }
        let refused = |errno, hint: String| Error::new(ENTER, self.label.as_str(), errno).with_hint(hint);
        let (owner, user) = (self.owner()?, process::user());
        if owner != user {
            return Err(refused(
                libc::EPERM,
                format!("it was created by user {owner}, and you are user {user}"),
            ));
        }
        rustix::thread::move_into_link_name_space(self.fd.as_fd(), Some(LinkNameSpaceType::User))
            .named(ENTER, || self.label.as_str())
            .map_err(|error| match error.errno() {
                libc::EINVAL => error.with_hint("the process must still be single-threaded"),
                libc::EPERM => error.with_hint("enter it from the user namespace in which it was created"),
                _ => error,
            })
    }

    fn owner(&self) -> Result<u32> {
        let mut owner: libc::uid_t = 0;
        // SAFETY: NS_GET_OWNER_UID writes one `uid_t`; the descriptor is open.
        let status = unsafe { libc::ioctl(self.fd.as_raw_fd(), NS_GET_OWNER_UID as _, &raw mut owner) };
        if status < 0 {
            return Err(Error::last("find the creator of user namespace of", self.label.as_str()));
        }
        Ok(owner)
    }

    fn from_fd(fd: OwnedFd, label: String) -> Result<Self> {
        let stat = rustix::fs::fstat(&fd).named("stat user namespace of", || label.as_str())?;
        Ok(Self { fd, identity: (stat.st_dev, stat.st_ino), label })
    }
}

impl PartialEq for UserNs {
    fn eq(&self, other: &Self) -> bool {
        self.identity == other.identity
    }
}

impl Eq for UserNs {}

/// Returns whether the process has CAP_NET_ADMIN and CAP_SYS_ADMIN, which it needs to create namespaces and devices.
#[must_use]
pub fn has_net_admin() -> bool {
    has(CapabilitySet::NET_ADMIN | CapabilitySet::SYS_ADMIN)
}

#[must_use]
pub fn has_capabilities(names: &[&str]) -> bool {
    let named = |name: &&str| CapabilitySet::from_name(name.strip_prefix("CAP_").unwrap_or(name));
    names.iter().map(named).collect::<Option<CapabilitySet>>().is_some_and(has)
}

fn has(needed: CapabilitySet) -> bool {
    rustix::thread::capabilities(None).is_ok_and(|sets| sets.effective.contains(needed))
}

#[must_use]
pub fn is_nested() -> bool {
    // Only the initial namespace maps all 2^32 - 1 IDs to themselves.
    fs::read_to_string("/proc/self/uid_map").is_ok_and(|map| !maps_everything(&map))
}

fn maps_everything(map: &str) -> bool {
    map.split_whitespace().eq(["0", "0", "4294967295"])
}

fn write_map(path: &'static str, text: &str) -> Result<()> {
    fs::write(path, text).named("write", || path).map_err(explain)
}

fn explain(error: Error) -> Error {
    match error.errno() {
        libc::EINVAL => error.with_hint("the process must still be single-threaded"),
        libc::EPERM | libc::EACCES | libc::ENOSPC | libc::EUSERS | libc::ENOSYS => {
            let hint = forbidding_settings(|path| fs::read_to_string(path).ok());
            error.with_hint(hint)
        }
        _ => error,
    }
}

const SETTINGS: [(&str, &str, &str); 3] = [
    ("user.max_user_namespaces", "/proc/sys/user/max_user_namespaces", "0"),
    ("kernel.unprivileged_userns_clone", "/proc/sys/kernel/unprivileged_userns_clone", "0"),
    (
        "kernel.apparmor_restrict_unprivileged_userns",
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
    ),
];

fn forbidding_settings(read: impl Fn(&str) -> Option<String>) -> String {
    let guilty: Vec<String> = SETTINGS
        .iter()
        .filter(|(_, path, bad)| read(path).is_some_and(|value| value.trim() == *bad))
        .map(|(name, _, bad)| format!("{name} = {bad}"))
        .collect();
    if guilty.is_empty() {
        let names = SETTINGS.map(|(name, _, _)| name).join(", ");
        return format!("run as root, or check {names} and the seccomp filter of the container");
    }
    format!("run as root: forbidden on this host by {}", guilty.join(" and "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_forbidding_setting() {
        let apparmor = |path: &str| path.contains("apparmor").then(|| "1\n".to_owned());
        let hint = forbidding_settings(apparmor);
        assert!(hint.ends_with("kernel.apparmor_restrict_unprivileged_userns = 1"), "{hint}");
    }

    #[test]
    fn lists_all_settings_if_none_forbids() {
        let hint = forbidding_settings(|_| None);
        for (name, _, _) in SETTINGS {
            assert!(hint.contains(name), "{hint}");
        }
    }

    #[test]
    fn multithreaded_process_gets_the_reason() {
        let error = std::thread::scope(|scope| scope.spawn(enter_as_root).join().expect("no panic"));
        let error = error.expect_err("multithreaded");
        assert_eq!(error.errno(), libc::EINVAL);
        assert!(error.to_string().contains("single-threaded"), "{error}");
    }

    #[test]
    fn joining_the_current_namespace_does_nothing() {
        let pid = std::process::id();
        let start_time = crate::process::start_time(pid).expect("this process");
        let process = Process::own(pid, start_time).expect("own process").expect("running");
        let ours = UserNs::of(&process).expect("readable");
        ours.join().expect("already there");
        if let Ok(network) = NetNs::create("test") {
            assert_eq!(UserNs::owning(&network).expect("readable"), ours, "the creator has privileges in it");
        }
    }

    #[test]
    fn recognises_the_initial_namespace() {
        assert!(maps_everything("         0          0 4294967295\n"));
        assert!(!maps_everything("         0       1000          1\n"));
    }
}
