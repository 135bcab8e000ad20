//! Possible leftovers of a guest: processes, files and abstract sockets.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use plumb_tests::{PATIENCE, Sandbox, belongs_to, wait_until};

pub(crate) use plumb_tests::processes;

const FOLDERS: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];
const OURS: [&str; 4] = ["plumb", "qemu", "vl.", "guest"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Remains {
    files: BTreeSet<PathBuf>,
    sockets: BTreeSet<String>,
}

impl Remains {
    pub(crate) fn now() -> Self {
        let folders = FOLDERS.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
        let files = folders.filter_map(Result::ok).map(|entry| entry.path());
        let unix = fs::read_to_string("/proc/net/unix").expect("Linux");
        let abstract_sockets = unix.lines().filter_map(|line| line.split_once(" @")).map(|(_, name)| name);
        Self {
            files: files.filter(|path| is_ours(&path.to_string_lossy())).collect(),
            sockets: abstract_sockets.filter(|name| is_ours(name)).map(str::to_owned).collect(),
        }
    }

    pub(crate) fn is_all_there_is(&self, sandbox: &Sandbox) {
        self.has_only_gained(sandbox, &[]);
    }

    pub(crate) fn has_only_gained(&self, sandbox: &Sandbox, files: &[&str]) {
        let left = || (processes(sandbox), Self::now());
        let clean = |(processes, now): &(Vec<u32>, Self)| {
            let mut sockets = now.sockets.difference(&self.sockets);
            processes.is_empty()
                && now.files.is_subset(&self.files)
                && sockets.all(|socket| is_of_another(socket, sandbox))
        };
        assert!(wait_until(PATIENCE, || clean(&left())), "left behind: {:?}, before: {self:?}", left());
        let home = fs::read_dir(sandbox.home()).expect("the folder exists").filter_map(Result::ok);
        let names = home.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let left: Vec<String> =
            names.filter(|name| !files.iter().any(|file| name.starts_with(file))).collect();
        assert!(left.is_empty(), "left behind in the home: {left:?}");
    }
}

pub(crate) fn monitor(sandbox: &Sandbox) -> Option<u32> {
    let is_monitor = |pid: &u32| {
        let program = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
        program.file_name().is_some_and(|name| name.to_string_lossy().starts_with("qemu-system"))
    };
    processes(sandbox).into_iter().find(is_monitor)
}

fn is_of_another(socket: &str, sandbox: &Sandbox) -> bool {
    let holder = socket.rsplit_once("(process ").and_then(|(_, pid)| pid.strip_suffix(')')?.parse().ok());
    holder.is_some_and(|pid: u32| Path::new(&format!("/proc/{pid}")).exists() && !belongs_to(pid, sandbox))
}

fn is_ours(path: &str) -> bool {
    let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    OURS.iter().any(|ours| name.contains(ours))
}
