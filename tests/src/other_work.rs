//! Competing CPU load during a run, from a process with a known name.

use std::{
    path::Path,
    process::{Child, Command},
};

pub struct OtherWork(Child);

impl OtherWork {
    pub const NAME: &str = "other-work";

    #[must_use]
    pub fn on_cpus(count: usize, folder: &Path) -> Vec<Self> {
        let shell = folder.join(Self::NAME);
        if !shell.exists() {
            std::fs::copy("/bin/sh", &shell).expect("there is a shell");
        }
        // Clears the environment, because the sandbox's home in it would mark this process as one of the run's own.
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
