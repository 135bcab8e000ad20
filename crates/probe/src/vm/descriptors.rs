//! The network-related descriptors of a QEMU process (proc_pid_fd(5), proc_pid_fdinfo(5)). `iff:` gives the
//! device name of a tap queue (drivers/net/tun.c).

use std::{fs, io};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Descriptors {
    pub(super) queues: Vec<(i32, String)>,
    /// Detached queues, which the guest does not use (`IFF_DETACH_QUEUE` in linux/if_tun.h).
    pub(super) detached: Vec<i32>,
    pub(super) vhost: usize,
    pub(super) kvm: bool,
}

impl Descriptors {
    pub(super) fn of(pid: u32) -> io::Result<Self> {
        let mut found = Self::default();
        for entry in fs::read_dir(format!("/proc/{pid}/fd"))? {
            let Ok(entry) = entry else { continue };
            let Some(number) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            let Ok(target) = fs::read_link(entry.path()) else { continue };
            let info = || fs::read_to_string(format!("/proc/{pid}/fdinfo/{number}")).unwrap_or_default();
            found.take(number, &target.to_string_lossy(), info);
        }
        found.queues.sort_unstable();
        Ok(found)
    }

    fn take(&mut self, number: i32, target: &str, info: impl FnOnce() -> String) {
        match target {
            "/dev/net/tun" => match interface(&info()) {
                Some(name) => self.queues.push((number, name)),
                None => self.detached.push(number),
            },
            "/dev/vhost-net" => self.vhost += 1,
            "/dev/kvm" | "anon_inode:kvm-vm" => self.kvm = true,
            _ => {}
        }
    }
}

fn interface(info: &str) -> Option<String> {
    let name = info.lines().find_map(|line| line.strip_prefix("iff:"))?.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinguishes_queues_vhost_and_kvm() {
        let mut found = Descriptors::default();
        for (number, target, info) in [
            (3, "anon_inode:[eventfd]", ""),
            (9, "/dev/kvm", ""),
            (10, "anon_inode:kvm-vm", ""),
            (23, "/dev/net/tun", "pos:\t0\nflags:\t0104002\nmnt_id:\t25\niff:\ttap100i0\n"),
            (24, "/dev/net/tun", "pos:\t0\niff:\ttap100i0\n"),
            (25, "/dev/net/tun", "pos:\t0\niff:\t\n"),
            (26, "/dev/vhost-net", ""),
        ] {
            found.take(number, target, || info.to_owned());
        }
        let queues = vec![(23, "tap100i0".to_owned()), (24, "tap100i0".to_owned())];
        assert_eq!(found, Descriptors { queues, detached: vec![25], vhost: 1, kvm: true });
    }

    #[test]
    fn missing_process_is_an_error() {
        assert!(Descriptors::of(u32::MAX).is_err());
        assert_eq!(Descriptors::of(std::process::id()).expect("its own").vhost, 0);
    }
}
