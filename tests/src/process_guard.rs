//! A process that does not outlive its test, however that ends.

use std::process::Child;

/// Ends the process when it is dropped.
pub struct ProcessGuard(pub Child);

impl Drop for ProcessGuard {
    fn drop(&mut self) {
        // It has ended already, or is ended now.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
