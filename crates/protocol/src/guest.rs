//! Conventions shared by the builder of a guest image and the guest's init process.

use serde::{Deserialize, Serialize};

/// The name of the virtio-serial port to the controller.
pub const PORT: &str = "plumb";
/// Init writes this to the console, which shows that the kernel has booted.
pub const FIRST_WORDS: &str = "plumb is the first process";
pub const MODULES: &str = "/modules";
pub const MODULE_ORDER: &str = "order";
/// The last kernel argument if init executes a nested run instead of acting as an agent.
pub const CONDUCT: &str = "conduct";
/// The controller's vsock port, if the channel is not a virtio-serial port. The kernel passes unknown arguments such
/// as `plumb_vsock=5000` to init as environment variables.
pub const VSOCK: &str = "plumb_vsock";
pub const VSOCK_PORT: u32 = 5000;

/// The functions of a guest, to count its instructions by function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestSymbols {
    pub kernel: Vec<KernelSymbol>,
    /// Where the guest's program is loaded.
    pub program: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelSymbol {
    pub address: u64,
    /// The module, or `kernel`.
    pub module: String,
    pub name: String,
}
