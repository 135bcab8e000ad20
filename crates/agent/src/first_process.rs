//! The agent as a guest's first process. It powers the guest off when the controller disconnects.
#![expect(
    clippy::disallowed_methods,
    reason = "the first process of a guest reads files and waits for devices"
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

const MOUNTS: [(&str, &str); 6] = [
    ("proc", "/proc"),
    ("sysfs", "/sys"),
    ("devtmpfs", "/dev"),
    ("tmpfs", "/tmp"),
    ("tmpfs", "/run"),
    ("tracefs", "/sys/kernel/tracing"),
];
/// Even in an emulated machine, the monitor replies sooner than this.
const PATIENCE: Duration = Duration::from_secs(10);
const GLANCE: Duration = Duration::from_millis(1);

/// After an error, this does not power off the guest. Instead, the exit of the first process causes a kernel
/// panic, which prints the reason on the console.
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
    let input = channel.try_clone().context("cannot duplicate the channel to the controller")?;
    serve(input, channel)?;
    // A machine with vsock cannot power off, but its monitor exits on reboot.
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
    let number = port
        .parse()
        .with_context(|| format!("invalid port `{VSOCK}={port}` on the kernel's command line"))?;
    let begun = Instant::now();
    loop {
        match sys::vsock::connect(sys::vsock::HOST, number) {
            Err(error) if begun.elapsed() > PATIENCE => {
                return Err(error).context("cannot reach the controller");
            }
            Err(_) => thread::sleep(GLANCE),
            Ok(channel) => return Ok(channel),
        }
    }
}
