//! A process that works on request, and stops itself when it is done.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use procfs::process::Process;
use sys::netns::NetNs;

const PATIENCE: u64 = 120_000_000_000;

pub(super) struct Shell {
    child: std::cell::RefCell<Child>,
}

impl Shell {
    pub(super) fn new(work: &str, namespace: Option<&NetNs>) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("read go; {work}; kill -STOP $$; read end")]).stdin(Stdio::piped());
        let child = sys::child::spawn_in(&mut command, namespace, "a shell").expect("every system has sh");
        Self { child: std::cell::RefCell::new(child) }
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.borrow().id()
    }

    pub(super) fn run(&self) {
        self.child.borrow_mut().stdin.as_mut().expect("piped").write_all(b"go\n").expect("it reads");
        let until = sys::clock::monotonic() + PATIENCE;
        while self.stat().state != 'T' {
            assert!(sys::clock::monotonic() < until, "a shell takes more than two minutes");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub(super) fn time(&self) -> u64 {
        self.process().schedstat().expect("CONFIG_SCHED_INFO").sum_exec_runtime
    }

    pub(super) fn family_time(&self) -> u64 {
        let stat = self.stat();
        let children = u64::try_from(stat.cutime + stat.cstime).expect("not negative");
        (stat.utime + stat.stime + children) * (1_000_000_000 / procfs::ticks_per_second())
    }

    fn stat(&self) -> procfs::process::Stat {
        self.process().stat().expect("alive or a zombie")
    }

    fn process(&self) -> Process {
        Process::new(self.pid().cast_signed()).expect("alive or a zombie")
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let child = self.child.get_mut();
        let _ = child.kill();
        let _ = child.wait();
    }
}
