//! A cgroup that limits the CPU time of an agent (sched-bwc.rst and cgroup-v2.rst in the kernel's documentation).

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use sys::process::Process;

use crate::attached::cpu_hierarchy;

/// The kernel's default, in microseconds.
const PERIOD: u64 = 100_000;
const MEMBERS: &str = "cgroup.procs";

/// Dropping this removes the cgroup, which must be empty.
#[derive(Debug)]
pub(crate) struct CpuQuota {
    directory: PathBuf,
    is_v2: bool,
}

impl CpuQuota {
    pub(crate) fn around(pid: u32) -> io::Result<Self> {
        let process = Process::running(pid).map_err(io::Error::other)?;
        let hierarchy = process.as_ref().and_then(cpu_hierarchy);
        let (parent, is_v2) = hierarchy.ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::Unsupported,
                "no cgroup hierarchy with the cpu controller is mounted",
            )
        })?;
        if is_v2 {
            write(&parent.join("cgroup.subtree_control"), "+cpu")?;
        }
        let directory = parent.join(format!("plumb-agent-{pid}"));
        create(&directory)?;
        let quota = Self { directory, is_v2 };
        write(&quota.directory.join(MEMBERS), &pid.to_string())?;
        Ok(quota)
    }

    pub(crate) fn set(&self, millicpus: Option<u32>) -> io::Result<()> {
        let quota = millicpus.map(|millicpus| u64::from(millicpus) * PERIOD / 1000);
        if self.is_v2 {
            let quota = quota.map_or_else(|| "max".to_owned(), |quota| quota.to_string());
            return write(&self.directory.join("cpu.max"), &format!("{quota} {PERIOD}"));
        }
        write(&self.directory.join("cpu.cfs_period_us"), &PERIOD.to_string())?;
        let quota = quota.map_or_else(|| "-1".to_owned(), |quota| quota.to_string());
        write(&self.directory.join("cpu.cfs_quota_us"), &quota)
    }
}

impl Drop for CpuQuota {
    fn drop(&mut self) {
        // Fails only if another process has joined the cgroup.
        let _ = fs::remove_dir(&self.directory);
    }
}

/// Also succeeds if the cgroup exists: a killed run leaves its cgroup behind, and a later agent may get the same PID.
fn create(directory: &Path) -> io::Result<()> {
    match fs::create_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        result => result,
    }
}

#[expect(clippy::disallowed_methods, reason = "cgroup settings are files")]
fn write(file: &Path, value: &str) -> io::Result<()> {
    fs::write(file, value).map_err(|error| {
        io::Error::new(error.kind(), format!("cannot write {value} to {}: {error}", file.display()))
    })
}
