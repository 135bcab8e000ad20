//! Conventions between the builder of a guest image and the guest's init process.

use serde::{Deserialize, Serialize};

/// The virtio-serial port to the controller.
pub const PORT: &str = "plumb";
/// Init prints this on the console when the kernel has booted.
pub const FIRST_WORDS: &str = "plumb is the first process";
pub const MODULES: &str = "/modules";
pub const MODULE_ORDER: &str = "order";
/// If this is the last kernel argument, init executes a nested run instead of acting as an agent.
pub const CONDUCT: &str = "conduct";
/// The controller's vsock port, if the channel is not a virtio-serial port. The kernel passes unknown
/// arguments such as `plumb_vsock=5000` to init as environment variables.
pub const VSOCK: &str = "plumb_vsock";
pub const VSOCK_PORT: u32 = 5000;

/// A guest's functions, for counting instructions by function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestSymbols {
    /// The text of `/proc/kallsyms`.
    pub kernel: String,
    /// The load address of the guest's program.
    pub program: u64,
}
