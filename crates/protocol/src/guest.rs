//! What the maker of a guest's image and the guest's first process agree on before the first message.

/// The port to the controller: the name of a virtio-serial port.
pub const PORT: &str = "plumb";
/// What the first process writes to the console as soon as it runs, for whoever waits for the kernel to have done its part.
pub const FIRST_WORDS: &str = "plumb is the first process";
/// The folder of the kernel's modules in the image.
pub const MODULES: &str = "/modules";
/// The file in [`MODULES`] with the names of the others, in the order in which they are to be loaded.
pub const MODULE_ORDER: &str = "order";
/// The kernel's last argument where the first process is to conduct runs instead of obeying orders.
pub const CONDUCT: &str = "conduct";
/// The environment variable of the first process with the number of the controller's vsock port, where the channel to the
/// controller is not a virtio-serial port: the kernel hands a word of its command line that it does not know,
/// `plumb_vsock=5000`, on as one.
pub const VSOCK: &str = "plumb_vsock";
/// The controller's vsock port.
pub const VSOCK_PORT: u32 = 5000;
