//! A virtio-serial port of this guest, found by its name, and its controllers, one after another. Must not know what they order.
//! Source: drivers/char/virtio_console.c of Linux: reads end and writes wait while nobody is connected on the host.
#![expect(clippy::disallowed_methods, reason = "devices are files, and appear when they like")]

use std::{
    convert::Infallible,
    fs::{self, File, OpenOptions},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use protocol::HostPolicy;

const PORTS: &str = "/sys/class/virtio-ports";
const DEVICES: &str = "/dev";
/// Devices appear soon after their modules are loaded, even in an emulated machine.
const PATIENCE: Duration = Duration::from_secs(10);
const GLANCE: Duration = Duration::from_millis(1);
/// Between two controllers, should the first of them hang up at once.
const PAUSE: Duration = Duration::from_millis(200);

/// Serves whoever connects to the port of this name on the host, one after another, without end; `tell` is told why a session failed.
///
/// # Errors
/// When there is no such port, or it cannot be opened: somebody else has it, or this is not root.
pub fn serve_port(
    name: &str,
    tool_version: &str,
    tell: &mut dyn FnMut(&anyhow::Error),
) -> anyhow::Result<Infallible> {
    // Opened once: what the one before has left unread goes to the next, who cannot take it for its own.
    let port = open(name)?;
    loop {
        let [input, output] =
            [port.try_clone(), port.try_clone()].map(|copy| copy.context("cannot open the port twice"));
        if let Err(error) = crate::session::run(input?, output?, tool_version, &HostPolicy::default()) {
            tell(&error);
        }
        thread::sleep(PAUSE);
    }
}

/// The port of this name, which can be opened only once.
pub(crate) fn open(name: &str) -> anyhow::Result<File> {
    let begun = Instant::now();
    loop {
        if let Some(device) = find(Path::new(PORTS), Path::new(DEVICES), name) {
            return OpenOptions::new()
                .read(true)
                .write(true)
                .open(&device)
                .with_context(|| format!("cannot open the port to the controller, {}", device.display()));
        }
        if begun.elapsed() > PATIENCE {
            bail!("there is no virtio-serial port `{name}` in this machine; {}", others(Path::new(PORTS)));
        }
        thread::sleep(GLANCE);
    }
}

fn find(ports: &Path, devices: &Path, name: &str) -> Option<PathBuf> {
    let (_, device) = named(ports).find(|(its, _)| its == name)?;
    let device = devices.join(device);
    // The device's node may come after its entry here.
    device.exists().then_some(device)
}

/// Names and devices.
fn named(ports: &Path) -> impl Iterator<Item = (String, String)> {
    let entries = fs::read_dir(ports).into_iter().flatten().filter_map(Result::ok);
    entries.filter_map(|entry| {
        let name = fs::read_to_string(entry.path().join("name")).ok()?;
        Some((name.trim_end().to_owned(), entry.file_name().into_string().ok()?))
    })
}

/// What there is instead.
fn others(ports: &Path) -> String {
    let names: Vec<String> = named(ports).map(|(name, _)| format!("`{name}`")).collect();
    if names.is_empty() {
        "it has none: start it with `-device virtio-serial-pci` and `-device virtserialport,...`, and see that the module \
         virtio_console is loaded"
            .to_owned()
    } else {
        format!("it has {}", names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_found_by_its_name_whatever_its_number() {
        let folder = std::env::temp_dir().join(format!("plumb-test-ports-{}", std::process::id()));
        let [ports, devices] = ["ports", "devices"].map(|part| folder.join(part));
        assert!(others(&ports).contains("virtio_console"));
        for (device, name) in [("vport0p1", "org.qemu.guest_agent.0\n"), ("vport1p2", "plumb\n")] {
            fs::create_dir_all(ports.join(device)).expect("it is ours");
            fs::write(ports.join(device).join("name"), name).expect("it is ours");
        }
        fs::create_dir_all(&devices).expect("it is ours");
        assert_eq!(find(&ports, &devices, "plumb"), None, "its node is not there yet");
        fs::write(devices.join("vport1p2"), "").expect("it is ours");
        assert_eq!(find(&ports, &devices, "plumb"), Some(devices.join("vport1p2")));
        assert!(others(&ports).contains("`org.qemu.guest_agent.0`"), "{}", others(&ports));
        fs::remove_dir_all(folder).expect("it is ours");
    }
}
