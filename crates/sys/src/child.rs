//! Starts child processes, either detached or killed when their parent dies.
#![expect(unsafe_code, reason = "code between fork and exec, and resetting signal dispositions")]

use std::convert::Infallible;
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::mpsc::{self, Sender};
use std::thread;

use derive_more::{Deref, DerefMut};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};
use rustix::thread::{LinkNameSpaceType, UnshareFlags};

use crate::confine::{self, User};
use crate::error::{Context, Error, Result};
use crate::netns::NetNs;

/// Starts a child that the kernel kills when its parent dies. `label` names it in errors. Ctrl-C does not
/// reach the child, because it has its own process group.
///
/// **Caution:** the kernel kills the child when the calling *thread* ends. Use each `command` only once,
/// because this function adds hooks to it.
pub fn spawn_in(command: &mut Command, ns: Option<&NetNs>, label: &str) -> Result<Child> {
    spawn(command, ns.map(NetNs::try_clone).transpose()?, None, label)
}

/// Like [`spawn_in`], but gives the child its own mount, PID and IPC namespaces if the kernel allows it. The
/// child is killed when the returned value is dropped or this process ends.
pub fn spawn_confined(mut command: Command, confines: Confines, label: &str) -> Result<ConfinedChild> {
    let Confines { network, identity } = confines;
    let named = label.to_owned();
    let (result, started) = mpsc::sync_channel(1);
    let (keep, dropped) = mpsc::channel();
    let start = move || {
        // The next child of this thread becomes PID 1 of the new namespace. From now on, this thread cannot
        // start threads, and needs privileges over the old namespace to go back.
        // SAFETY: the function is unsafe only because of CLONE_FILES.
        let _ = unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWPID) };
        let child = spawn(&mut command, Some(network), Some(identity), &named);
        drop(command);
        let _ = result.send(child);
        let _: std::result::Result<Infallible, _> = dropped.recv();
    };
    thread::Builder::new().name("confined".into()).spawn(start).named("start a thread for", || label)?;
    let child = started.recv().map_err(|_| Error::new("start", label.to_owned(), libc::ECHILD))??;
    Ok(ConfinedChild { child, _keep: keep })
}

#[derive(Debug, Deref, DerefMut)]
pub struct ConfinedChild {
    #[deref]
    #[deref_mut]
    child: Child,
    /// Dropping this ends the thread that started the child, so the kernel kills the child.
    _keep: Sender<Infallible>,
}

#[derive(Debug)]
pub struct Confines {
    pub network: NetNs,
    pub identity: Identity,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    Same,
    Other(User, Vec<u32>),
}

fn spawn(command: &mut Command, ns: Option<NetNs>, identity: Option<Identity>, label: &str) -> Result<Child> {
    let parent = Parent::this_process()?;
    // The command may overwrite low descriptor numbers before the child has entered the namespace.
    let ns = ns.map(NetNs::moved_up).transpose()?;
    let confined = identity.is_some();
    let other = match identity {
        Some(Identity::Other(user, groups)) => Some((user, confine::groups(&groups))),
        Some(Identity::Same) | None => None,
    };
    let prepare = move || {
        if let Some(ns) = &ns {
            rustix::thread::move_into_link_name_space(ns.as_fd(), Some(LinkNameSpaceType::Network))?;
        }
        reset_signals();
        if confined {
            // Containers may forbid these calls.
            let _ = unshare_mounts();
        }
        if let Some((user, groups)) = &other {
            confine::change_user(user, groups)?;
        }
        if confined {
            rustix::thread::set_no_new_privs(true)?;
        }
        // The parent-death signal is set last, because changing the user clears it.
        die_with(&parent)
    };
    command.process_group(0);
    // SAFETY: `prepare` only makes system calls, without locks or allocations.
    unsafe { command.pre_exec(prepare) };
    command.spawn().named("start", || label)
}

/// Starts a child that outlives the caller, in a new session. If the child inherits standard streams, it keeps
/// the terminal or pipe open.
pub fn spawn_detached(command: &mut Command, label: &str) -> Result<Child> {
    let prepare = || {
        reset_signals();
        rustix::process::setsid()?;
        Ok(())
    };
    // SAFETY: `prepare` only makes system calls, without locks or allocations.
    unsafe { command.pre_exec(prepare) };
    command.spawn().named("start detached", || label)
}

/// Kills the process group of a child started by [`spawn_in`]. Call this before waiting for the child,
/// because its PID may be reused afterwards.
pub fn kill_group(child: &Child) -> Result<()> {
    match rustix::process::kill_process_group(Pid::from_child(child), Signal::KILL) {
        Err(Errno::SRCH) => Ok(()),
        sent => sent.named("kill", || format!("the group of process {}", child.id())),
    }
}

/// Names the calling thread, and threads that it starts later without a name. On the main thread, this also
/// names the process (/proc/PID/comm). The kernel truncates names to 15 bytes.
pub fn name_own(name: &CStr) -> Result<()> {
    rustix::thread::set_name(name).named("name", || "the calling thread")
}

struct Parent {
    pid: Pid,
    pidfd: Option<OwnedFd>,
}

impl Parent {
    fn this_process() -> Result<Self> {
        let pid = rustix::process::getpid();
        let pidfd = pidfd_open(pid, PidfdFlags::empty()).ok();
        let moved_up = |pidfd: OwnedFd| rustix::io::fcntl_dupfd_cloexec(&pidfd, NetNs::ABOVE_INHERITED);
        let pidfd = pidfd.map(moved_up).transpose().named("duplicate", || "a descriptor of this process")?;
        Ok(Self { pid, pidfd })
    }

    /// Runs between fork and exec, so it may only make system calls.
    fn has_ended(&self) -> bool {
        match (rustix::process::getppid(), &self.pidfd) {
            // In the child's PID namespace, the parent has no PID.
            (None, Some(pidfd)) => {
                let mut ended = [PollFd::new(pidfd, PollFlags::IN)];
                !matches!(poll(&mut ended, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })), Ok(0))
            }
            (None, None) => false,
            (pid, _) => pid != Some(self.pid),
        }
    }
}

/// Runs between fork and exec, so it may only make system calls.
fn die_with(parent: &Parent) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // If the parent died before the call above, no signal arrives.
    if parent.has_ended() {
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    Ok(())
}

/// Runs between fork and exec, so it may only make system calls.
fn unshare_mounts() -> rustix::io::Result<()> {
    // SAFETY: the function is unsafe only because of CLONE_FILES.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS | UnshareFlags::NEWIPC) }?;
    mount_change(c"/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount(c"proc", c"/proc", c"proc", flags, None)
}

/// Resets all signals, because ignored signals stay ignored after exec. The standard library resets only the
/// mask and SIGPIPE.
fn reset_signals() {
    for signal in 1..=libc::SIGRTMAX() {
        // SAFETY: SIG_DFL installs no handler; unchangeable signals are rejected without effect.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests read /proc")]
mod tests {
    use std::io::Read;
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::process::{is_alive, start_time};

    fn sleeper() -> Command {
        let mut command = Command::new("sleep");
        command.arg("60").stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    fn ends_within(pid: u32, start: u64, limit: Duration) -> bool {
        let begin = Instant::now();
        while is_alive(pid, start) {
            if begin.elapsed() > limit {
                return false;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        true
    }

    #[test]
    fn child_dies_with_the_thread_that_started_it() {
        let start = |keep: Duration| {
            let mut child = spawn_in(&mut sleeper(), None, "sleeper").expect("sleep exists");
            let start = start_time(child.id()).expect("runs");
            std::thread::sleep(keep);
            assert!(child.try_wait().expect("own child").is_none(), "lives as long as the thread");
            (child, start)
        };
        let (mut child, time) =
            std::thread::spawn(move || start(Duration::from_millis(100))).join().expect("no panic");
        assert!(ends_within(child.id(), time, Duration::from_secs(5)));
        let status = child.wait().expect("own child");
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(libc::SIGKILL));
    }

    #[test]
    fn kills_the_whole_process_group() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 60 & echo $!; wait"]).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = spawn_in(&mut command, None, "sh").expect("every system has sh");
        let mut line = String::new();
        let mut output = std::io::BufReader::new(child.stdout.take().expect("piped"));
        std::io::BufRead::read_line(&mut output, &mut line).expect("text");
        let grandchild: u32 = line.trim().parse().expect("a number");
        let start = start_time(grandchild).expect("a running process");
        kill_group(&child).expect("own process");
        child.wait().expect("own child");
        assert!(ends_within(grandchild, start, Duration::from_secs(5)));
    }

    #[test]
    fn child_leads_its_own_group_with_default_signals() {
        // SAFETY: SIG_IGN installs no handler; no test sends this signal.
        unsafe { libc::signal(libc::SIGUSR1, libc::SIG_IGN) };
        let mut command = Command::new("cat");
        command.arg("/proc/self/stat").arg("/proc/self/status").stdout(Stdio::piped());
        let mut child = spawn_in(&mut command, None, "cat").expect("cat exists");
        let mut text = String::new();
        child.stdout.take().expect("piped").read_to_string(&mut text).expect("text");
        assert!(child.wait().expect("own child").success());
        let group = text[text.rfind(") R ").expect("running") + 4..].split(' ').nth(1).map(str::to_owned);
        assert_eq!(group, Some(child.id().to_string()));
        let mask = |name: &str| {
            let text = text.lines().find_map(|line| line.strip_prefix(name)).expect("in every status");
            u64::from_str_radix(text.trim(), 16).expect("hexadecimal")
        };
        // The C library reserves signals 32 to 34.
        assert_eq!(mask("SigIgn:") & !(0b111 << 31), 0);
        assert_eq!(mask("SigBlk:"), 0);
    }

    #[test]
    fn child_starts_in_the_given_namespace() {
        let Some(ns) = crate::netns::testing::namespace() else { return };
        let mut command = Command::new("readlink");
        command.arg("/proc/self/ns/net").stdout(Stdio::piped());
        let child = spawn_in(&mut command, Some(&ns), "readlink").expect("readlink exists");
        let output = child.wait_with_output().expect("own child");
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), ns.to_string());
    }

    #[test]
    fn confined_child_has_own_user_and_namespaces_and_dies_on_drop() {
        let Some(ns) = crate::netns::testing::namespace() else { return };
        if !confine::is_root() || !confine::is_mapped(&User::unassigned(7)).expect("procfs") {
            return;
        }
        let identity = Identity::Other(User::unassigned(7), vec![4321]);
        let confines = Confines { network: ns, identity };
        let mut child = spawn_confined(sleeper(), confines, "sleeper").expect("sleep exists");
        let pid = child.id();
        let read =
            |file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}")).expect("a running process");
        let status = read("status");
        let has = |line: &str| status.lines().any(|other| other.replace('\t', " ").trim() == line);
        for line in [
            "Uid: 60585 60585 60585 60585",
            "Gid: 60585 60585 60585 60585",
            "Groups: 4321",
            "NoNewPrivs: 1",
            "CapEff: 0000000000000000",
        ] {
            assert!(has(line), "{line}: {status}");
        }
        assert!(!read("net/dev").contains("eth"), "{}", read("net/dev"));
        for kind in ["mnt", "pid", "ipc"] {
            let of = |process: &str| {
                std::fs::read_link(format!("/proc/{process}/ns/{kind}")).expect("a running process")
            };
            assert_ne!(of(&pid.to_string()), of("self"), "{kind}");
        }
        assert!(child.try_wait().expect("own child").is_none());
        let time = start_time(pid).expect("a running process");
        drop(child);
        assert!(ends_within(pid, time, Duration::from_secs(60)));
    }

    #[test]
    fn names_missing_program() {
        let error =
            spawn_in(&mut Command::new("/nonexistent"), None, "agent of node1").expect_err("no such file");
        assert_eq!(error.to_string(), "cannot start agent of node1: No such file or directory (ENOENT)");
    }

    #[test]
    fn threads_inherit_the_name() {
        let name = || std::fs::read_to_string("/proc/thread-self/comm").expect("Linux");
        let names = std::thread::spawn(move || {
            name_own(c"a name of 20 bytes..").expect("own thread");
            [name(), std::thread::spawn(name).join().expect("no panic")]
        });
        assert_eq!(names.join().expect("no panic"), ["a name of 20 by\n"; 2]);
    }
}
