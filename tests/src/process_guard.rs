//! A process that is killed at the end of its test, even if the test fails.

use std::process::Child;

pub struct ProcessGuard(pub Child);

impl Drop for ProcessGuard {
    fn drop(&mut self) {
        // The process may have already exited.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
