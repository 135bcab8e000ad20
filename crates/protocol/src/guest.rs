//! Conventions between the builder of a guest image and the guest's init process.

/// Virtio-serial port to the controller.
pub const PORT: &str = "plumb";
/// Written to the console, to detect the end of the kernel's boot.
pub const FIRST_WORDS: &str = "plumb is the first process";
pub const MODULES: &str = "/modules";
/// A file in [`MODULES`] with the names of the modules, in load order.
pub const MODULE_ORDER: &str = "order";
/// Last kernel argument, if init conducts runs instead of executing orders.
pub const CONDUCT: &str = "conduct";
/// The controller's vsock port, if the channel is not a virtio-serial port. The kernel passes unknown arguments such as
/// `plumb_vsock=5000` to init as environment variables.
pub const VSOCK: &str = "plumb_vsock";
pub const VSOCK_PORT: u32 = 5000;
