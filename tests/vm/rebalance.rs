//! Memory of machines that nobody of plumb started, with a guest that knows nothing of it: a kernel, busybox, and the drivers
//! that any distribution has.

use std::{
    cell::RefCell,
    fs,
    os::unix::net::UnixStream,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use plumb_tests::{Sandbox, wait_until};

use crate::sandbox;

const PATIENCE: Duration = Duration::from_secs(120);
const MIB: f64 = 1024.0 * 1024.0;
/// In the order in which they can be loaded; what is built in is not there.
const MODULES: [&str; 6] = [
    "virtio_ring",
    "virtio",
    "virtio_pci_legacy_dev",
    "virtio_pci_modern_dev",
    "virtio_pci",
    "virtio_balloon",
];
/// The guest fills so many MiB, given on the kernel's command line, and holds them.
const INIT: &str = "#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t devtmpfs dev /dev
for module in /lib/*.ko; do /bin/busybox insmod $module; done
for word in $(/bin/busybox cat /proc/cmdline); do
  case $word in fills=*) fills=${word#fills=};; esac
done
/bin/busybox mount -t tmpfs -o size=100% none /mnt
/bin/busybox dd if=/dev/zero of=/mnt/held bs=1048576 count=$fills
while :; do /bin/busybox sleep 1; done
";

/// A QEMU that a user started by hand.
struct Machine(Child);

impl Machine {
    fn start(folder: &Path, name: &str, fills: u32) -> Self {
        let (kernel, _) = newest_kernel();
        let child = Command::new("qemu-system-x86_64")
            .args([
                "-name",
                name,
                "-nodefaults",
                "-no-user-config",
                "-display",
                "none",
                "-M",
                "q35",
                "-m",
                "256",
            ])
            .args(["-accel", "tcg", "-cpu", "max", "-device", "virtio-balloon-pci,free-page-reporting=on"])
            .args(["-kernel", &kernel, "-initrd"])
            .arg(folder.join("initrd"))
            .args(["-append", &format!("quiet fills={fills}"), "-qmp"])
            .arg(format!("unix:{},server,nowait", folder.join(name).display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("QEMU is there");
        let there = || UnixStream::connect(folder.join(name)).is_ok();
        assert!(wait_until(PATIENCE, there), "QEMU opens its monitor");
        Self(child)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The newest kernel with modules, and its release.
pub(crate) fn newest_kernel() -> (String, String) {
    let kernels = fs::read_dir("/boot").expect("it is there").filter_map(Result::ok);
    let names = kernels.filter_map(|entry| entry.file_name().into_string().ok());
    let releases = names.filter_map(|name| name.strip_prefix("vmlinuz-").map(str::to_owned));
    let release = releases.filter(|it| Path::new("/lib/modules").join(it).is_dir()).max().expect("a kernel");
    (format!("/boot/vmlinuz-{release}"), release)
}

/// The guest's file system, with nothing of plumb in it.
fn make_initrd(folder: &Path) {
    let root = folder.join("root");
    for part in ["bin", "dev", "lib", "proc", "mnt"] {
        fs::create_dir_all(root.join(part)).expect("it is ours");
    }
    fs::copy("/bin/busybox", root.join("bin/busybox")).expect("it was installed");
    let (_, release) = newest_kernel();
    let drivers = Path::new("/lib/modules").join(release).join("kernel/drivers/virtio");
    for (place, module) in MODULES.iter().enumerate() {
        // Read by the shell in the order of their names.
        let _ = fs::copy(drivers.join(format!("{module}.ko")), root.join(format!("lib/{place}.ko")));
    }
    fs::write(root.join("init"), INIT).expect("it is ours");
    let script = "chmod 755 init && find . | busybox cpio -o -H newc > ../initrd 2>/dev/null";
    let made = Command::new("sh").args(["-c", script]).current_dir(root).status().expect("a shell");
    assert!(made.success());
}

/// The value of a gauge of a machine, as it was last written.
fn gauge(metrics: &Path, name: &str, vm: &str) -> Option<f64> {
    let text = fs::read_to_string(metrics).unwrap_or_default();
    let line = format!("{name}{{vm=\"{vm}\"}} ");
    text.lines().find_map(|found| found.strip_prefix(&line)?.parse().ok())
}

/// Of two machines that share less than both were started with, the one that uses its memory gets it from the other.
pub(crate) fn memory_goes_to_the_machine_that_uses_it() {
    let sandbox = sandbox();
    let folder = sandbox.home();
    make_initrd(folder);
    let _idle = Machine::start(folder, "idle", 1);
    let _busy = Machine::start(folder, "busy", 150);
    let monitors = ["idle", "busy"]
        .map(|name| format!("[vms.{name}]\nqmp = \"{}\"\nfloor = \"96MiB\"\n", folder.join(name).display()));
    let head = "interval = \"1s\"\ncapacity = \"384MiB\"\nstep = \"64MiB\"\n\n";
    let config = sandbox.file("vms.toml", &(head.to_owned() + &monitors.concat()));
    let metrics = folder.join("metrics");
    let args = |more: &[&'static str]| -> Vec<String> {
        let own = ["rebalance", &config, "--metrics", metrics.to_str().expect("plain")];
        own.iter().chain(more).map(|word| (*word).to_owned()).collect()
    };
    let round = |more: &[&'static str]| {
        let args = args(more);
        sandbox.succeed(&args.iter().map(String::as_str).collect::<Vec<_>>()).out
    };

    // Until both guests have booted and their drivers tell how memory is used.
    let told = || {
        let _ = round(&["--dry-run", "--rounds", "2"]);
        ["idle", "busy"].iter().all(|vm| gauge(&metrics, "plumb_vm_available_bytes", vm).is_some())
            && gauge(&metrics, "plumb_vm_available_bytes", "busy") < Some(90.0 * MIB)
    };
    assert!(wait_until(PATIENCE, told), "{}", fs::read_to_string(&metrics).unwrap_or_default());
    let has = |vm| gauge(&metrics, "plumb_vm_memory_bytes", vm).expect("it is told") / MIB;
    assert_eq!((has("idle"), has("busy")), (256.0, 256.0), "a dry run moves nothing");
    let dry = round(&["--dry-run", "--rounds", "1"]);
    assert!(dry.contains("would move idle:"), "{dry}");

    let said = RefCell::new(String::new());
    let settled = || {
        said.borrow_mut().push_str(&round(&["--rounds", "3"]));
        has("idle") + has("busy") <= 384.0
    };
    let settles = wait_until(PATIENCE, settled);
    let said = said.into_inner();
    assert!(settles, "{} and {} MiB: {said}", has("idle"), has("busy"));
    assert!(has("busy") > has("idle") + 32.0, "{} and {} MiB: {said}", has("busy"), has("idle"));
    assert!(has("idle") >= 96.0, "a floor is a floor: {said}");

    // One that ends is left alone, and the other keeps what it has.
    let before = has("busy");
    drop(_idle);
    let args = args(&["--rounds", "1"]);
    let output = sandbox.plumb(&args.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(output.status == Some(1) && output.err.contains("virtual machine `idle`"), "{output:?}");
    assert_eq!(has("busy"), before);
}

pub(crate) fn a_file_that_asks_for_what_cannot_be_is_refused() {
    let sandbox: Sandbox = sandbox();
    for (text, said) in [
        ("", "missing field `vms`"),
        ("[vms.web]\nqmp = \"/nowhere/web.qmp\"\n", "virtual machine `web`"),
        ("[vms.web]\nqmp = \"/a\"\nflor = \"1GiB\"\n", "unknown field `flor`"),
    ] {
        let output = sandbox.plumb(&["rebalance", &sandbox.file("vms.toml", text), "--rounds", "1"]);
        assert!(output.status != Some(0) && output.err.contains(said), "{output:?}");
    }
}
