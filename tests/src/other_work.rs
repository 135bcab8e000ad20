//! Other work beside a run, of a process with a name of its own.

use std::{
    path::Path,
    process::{Child, Command},
};

/// A loop that keeps one CPU busy until it is dropped.
pub struct OtherWork(Child);

impl OtherWork {
    /// What its process is called.
    pub const NAME: &str = "other-work";

    /// Starts as many as there are CPUs to keep busy; their program is made in a folder that is writable.
    #[must_use]
    pub fn on_cpus(count: usize, folder: &Path) -> Vec<Self> {
        let shell = folder.join(Self::NAME);
        if !shell.exists() {
            std::fs::copy("/bin/sh", &shell).expect("there is a shell");
        }
        // Without the sandbox's home in its environment, by which the run's own processes are known.
        let spin = || Command::new(&shell).args(["-c", "while :; do :; done"]).env_clear().spawn();
        (0..count).map(|_| Self(spin().expect("it is a shell"))).collect()
    }
}

impl Drop for OtherWork {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
