//! The agent as the first process of a guest: mounts what every process expects, loads the modules that lie in the
//! image, opens the channel to the controller, and turns the machine off when the controller hangs up.
//! Must not know which monitor runs the guest.
#![expect(
    clippy::disallowed_methods,
    reason = "the first process of a guest has files to read and devices to wait for"
)]

use std::{
    env,
    fs::{self, File},
    io::{self, Write},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use anyhow::Context;
use protocol::guest::{FIRST_WORDS, MODULE_ORDER, MODULES, PORT, VSOCK};

use crate::port;

/// The kernel's file systems, and where they belong.
const MOUNTS: [(&str, &str); 6] = [
    ("proc", "/proc"),
    ("sysfs", "/sys"),
    ("devtmpfs", "/dev"),
    ("tmpfs", "/tmp"),
    ("tmpfs", "/run"),
    ("tracefs", "/sys/kernel/tracing"),
];
/// A monitor answers soon, even in an emulated machine.
const PATIENCE: Duration = Duration::from_secs(10);
const GLANCE: Duration = Duration::from_millis(1);

/// Prepares the guest and has `serve` serve the channel until the other end hangs up; then the machine turns itself off.
///
/// # Errors
/// When the guest cannot be prepared, or serving fails. The machine is not turned off then: the end of its first process
/// is a panic of the kernel, which tells the reason on the console.
pub fn run_as_first_process(serve: impl FnOnce(File, File) -> anyhow::Result<()>) -> anyhow::Result<()> {
    writeln!(io::stdout(), "{FIRST_WORDS}").context("the guest has no console")?;
    for (kind, folder) in MOUNTS {
        sys::boot::mount_kernel_files(kind, Path::new(folder))?;
    }
    load_modules(Path::new(MODULES))?;
    let vsock = env::var(VSOCK).ok();
    let channel = match &vsock {
        Some(port) => connect(port)?,
        None => port::open(PORT)?,
    };
    let input = channel.try_clone().context("cannot open the channel to the controller twice")?;
    serve(input, channel)?;
    // A machine with vsock instead of a port has nothing to turn itself off by: its monitor ends when it is restarted.
    Err(if vsock.is_some() { sys::boot::restart() } else { sys::boot::power_off() }.into())
}

fn load_modules(folder: &Path) -> anyhow::Result<()> {
    let order = folder.join(MODULE_ORDER);
    let names = fs::read_to_string(&order).with_context(|| format!("cannot read {}", order.display()))?;
    for name in names.lines() {
        sys::boot::load_module(&folder.join(name))?;
    }
    Ok(())
}

fn connect(port: &str) -> anyhow::Result<File> {
    let number =
        port.parse().with_context(|| format!("`{VSOCK}={port}` on the kernel's command line is no port"))?;
    let begun = Instant::now();
    loop {
        match sys::vsock::connect(sys::vsock::HOST, number) {
            Err(error) if begun.elapsed() > PATIENCE => {
                return Err(error).context("there is no way to the controller");
            }
            Err(_) => thread::sleep(GLANCE),
            Ok(channel) => return Ok(channel),
        }
    }
}
