//! Serves controllers on a virtio-serial port of this guest, one at a time. While the host side is
//! disconnected, reads return end of file and writes block (drivers/char/virtio_console.c of Linux).
#![expect(clippy::disallowed_methods, reason = "devices are files and appear asynchronously")]

use std::{
    convert::Infallible,
    fs::{self, File, OpenOptions},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use machine::HostPolicy;

const PORTS: &str = "/sys/class/virtio-ports";
const DEVICES: &str = "/dev";
/// Even in an emulated machine, a device appears soon after its module is loaded.
const PATIENCE: Duration = Duration::from_secs(10);
const GLANCE: Duration = Duration::from_millis(1);
const PAUSE: Duration = Duration::from_millis(200);

/// Returns only after an error. `report` receives the errors of sessions. Fails if the port is missing or in
/// use, or if the user is not root.
pub fn serve_port(
    name: &str,
    tool_version: &str,
    report: &mut dyn FnMut(&anyhow::Error),
) -> anyhow::Result<Infallible> {
    // Open the port only once. The next controller ignores replies that the previous session has not read.
    let port = open(name)?;
    loop {
        let [input, output] =
            [port.try_clone(), port.try_clone()].map(|copy| copy.context("cannot duplicate the port"));
        if let Err(error) = crate::session::run(input?, output?, tool_version, &HostPolicy::default()) {
            report(&error);
        }
        thread::sleep(PAUSE);
    }
}

pub(crate) fn open(name: &str) -> anyhow::Result<File> {
    let begun = Instant::now();
    loop {
        if let Some(device) = find(Path::new(PORTS), Path::new(DEVICES), name) {
            return OpenOptions::new()
                .read(true)
                .write(true)
                .open(&device)
                .with_context(|| format!("cannot open the controller's port {}", device.display()));
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
    // The device node may appear later than its sysfs entry.
    device.exists().then_some(device)
}

fn named(ports: &Path) -> impl Iterator<Item = (String, String)> {
    let entries = fs::read_dir(ports).into_iter().flatten().filter_map(Result::ok);
    entries.filter_map(|entry| {
        let name = fs::read_to_string(entry.path().join("name")).ok()?;
        Some((name.trim_end().to_owned(), entry.file_name().into_string().ok()?))
    })
}

fn others(ports: &Path) -> String {
    let names: Vec<String> = named(ports).map(|(name, _)| format!("`{name}`")).collect();
    if names.is_empty() {
        "it has none: start it with `-device virtio-serial-pci` and `-device virtserialport,...`, and check \
         that the module virtio_console is loaded"
            .to_owned()
    } else {
        format!("it has {}", names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_port_by_name() {
        let folder = std::env::temp_dir().join(format!("plumb-test-ports-{}", std::process::id()));
        let [ports, devices] = ["ports", "devices"].map(|part| folder.join(part));
        assert!(others(&ports).contains("virtio_console"));
        for (device, name) in [("vport0p1", "org.qemu.guest_agent.0\n"), ("vport1p2", "plumb\n")] {
            fs::create_dir_all(ports.join(device)).expect("writable");
            fs::write(ports.join(device).join("name"), name).expect("writable");
        }
        fs::create_dir_all(&devices).expect("writable");
        assert_eq!(find(&ports, &devices, "plumb"), None, "no device node yet");
        fs::write(devices.join("vport1p2"), "").expect("writable");
        assert_eq!(find(&ports, &devices, "plumb"), Some(devices.join("vport1p2")));
        assert!(others(&ports).contains("`org.qemu.guest_agent.0`"), "{}", others(&ports));
        fs::remove_dir_all(folder).expect("writable");
    }
}
