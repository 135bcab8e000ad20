//! Virtual machines started by hand, as in the guide, with a kernel, busybox, and drivers of any
//! distribution.

use std::{
    fs,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use plumb_tests::{PATIENCE, Sandbox, wait_until};
use serde_json::Value;

pub(crate) const MIB: f64 = 1024.0 * 1024.0;
const GUIDE: &str = include_str!("../../docs/guide/rebalance.md");
/// The machines are smaller here than in the guide.
const FOR_A_GIB: u64 = 96;
/// Modules that are built in have no file in the folder.
const MODULES: [&str; 4] = ["virtio_pci", "virtio_balloon", "virtio_mem", "virtio_console"];
const FOLDERS: [&str; 7] = ["bin", "dev", "lib", "proc", "sys", "run", "mnt"];
const PREAMBLE: &str = "#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs run /run
for module in /lib/*.ko; do insmod $module; done
for word in $(cat /proc/cmdline); do
  case $word in fills=*) fills=${word#fills=};; esac
done
mount -t tmpfs -o size=100% none /mnt
";

#[derive(Debug, Clone)]
pub(crate) struct GuestKernel(machine::Kernel);

pub(crate) struct Machine {
    pub(crate) qemu: Child,
    console: PathBuf,
}

pub(crate) fn guide(text: &str, folder: &Path) -> String {
    let block = GUIDE.split("```").skip(1).step_by(2).find(|block| block.contains(text));
    let block = block.unwrap_or_else(|| panic!("the guide has no block with `{text}`"));
    let (_, block) = block.split_once('\n').expect("a fence ends its line");
    let lines: Vec<&str> = block.lines().map(str::trim).collect();
    let places = ["/run/", "/var/lib/node_exporter/", "/var/lib/plumb/"];
    let block = places
        .iter()
        .fold(lines.join("\n"), |block, place| block.replace(place, &format!("{}/", folder.display())));
    (1..=16).rev().fold(block, |block, gib: u64| {
        block.replace(&format!("\"{gib}GiB\""), &format!("\"{}MiB\"", gib * FOR_A_GIB))
    })
}

pub(crate) fn words(block: &str) -> Vec<String> {
    block.replace("\\\n", " ").split_whitespace().map(str::to_owned).collect()
}

impl GuestKernel {
    pub(crate) fn with(line: &str) -> Option<Self> {
        let kernels = fs::read_dir("/boot").into_iter().flatten().filter_map(Result::ok);
        let names = kernels.filter_map(|entry| entry.file_name().into_string().ok());
        let mut releases: Vec<String> =
            names.filter_map(|name| name.strip_prefix("config-").map(str::to_owned)).collect();
        releases.retain(|release| {
            let text = fs::read_to_string(format!("/boot/config-{release}")).unwrap_or_default();
            text.lines().any(|its| its == line)
        });
        let kernels = releases.into_iter().filter_map(|release| Self::chosen(&release));
        kernels.max_by_key(|kernel| kernel.0.modules.clone())
    }

    pub(crate) fn of_test() -> Self {
        match plumb_tests::guest_kernel() {
            Some(kernel) => Self::chosen(&kernel).expect("it is installed"),
            None => Self(machine::Kernel::installed().expect("a kernel is installed")),
        }
    }

    fn chosen(kernel: &str) -> Option<Self> {
        machine::Kernel::chosen(&kernel.parse().ok()?, None).ok().map(Self)
    }

    /// Packs `folder/root`, which may hold other files already, into `folder/initrd`.
    pub(crate) fn initrd(&self, folder: &Path, script: &str, modules: &[&str], plumb: Option<&str>) {
        let root = folder.join("root");
        for part in FOLDERS {
            fs::create_dir_all(root.join(part)).expect("own file");
        }
        fs::copy("/bin/busybox", root.join("bin/busybox")).expect("it was installed");
        if let Some(plumb) = plumb {
            fs::create_dir_all(root.join("usr/local/bin")).expect("own file");
            // The program is stripped as in a package, because unpacking is slow in a guest.
            let to = root.join("usr/local/bin/plumb");
            let stripped =
                Command::new("strip").arg("-o").arg(to).arg(plumb).status().expect("gcc needs it too");
            assert!(stripped.success());
        }
        let files = self.0.module_files(&[&MODULES, modules].concat()).expect("they are installed");
        for (place, file) in files.iter().enumerate() {
            // The shell loads modules in the order of their names, and busybox detects compression by
            // content.
            let copied = fs::copy(file, root.join(format!("lib/{place:03}.ko")));
            let _ = copied.expect("a module can be read");
        }
        fs::write(root.join("init"), PREAMBLE.to_owned() + script).expect("own file");
        let pack = "chmod 755 init && find . | busybox cpio -o -H newc > ../initrd 2>/dev/null";
        let made = Command::new("sh").args(["-c", pack]).current_dir(root).status().expect("a shell");
        assert!(made.success());
    }
}

impl Machine {
    pub(crate) fn start(
        folder: &Path,
        name: &str,
        kernel: &GuestKernel,
        append: &str,
        flags: &[String],
    ) -> Self {
        let console = folder.join(format!("{name}.console"));
        let mut command = Self::qemu();
        command.arg("-kernel").arg(&kernel.0.image).arg("-initrd").arg(folder.join("initrd"));
        command.args(["-append", &format!("console=ttyS0 quiet {append}")]);
        command.args(["-serial", &format!("file:{}", console.display())]).args(flags);
        Self::spawn(command, console, &folder.join(format!("{name}.qmp")))
    }

    pub(crate) fn bare(qmp: &Path, devices: &[&str]) -> Self {
        let mut command = Self::qemu();
        command.args(["-S", "-m", "128M", "-qmp", &format!("unix:{},server,nowait", qmp.display())]);
        command.args(devices);
        Self::spawn(command, qmp.to_owned(), qmp)
    }

    fn qemu() -> Command {
        let mut command = Command::new("qemu-system-x86_64");
        command.args([
            "-nodefaults",
            "-no-user-config",
            "-display",
            "none",
            "-M",
            "q35",
            "-accel",
            "tcg",
            "-cpu",
            "EPYC",
        ]);
        command
    }

    fn spawn(mut command: Command, console: PathBuf, qmp: &Path) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let machine = Self { qemu: command.spawn().expect("QEMU starts"), console };
        assert!(wait_until(PATIENCE, || UnixStream::connect(qmp).is_ok()), "QEMU opens its monitor");
        machine
    }

    pub(crate) fn printed(&self, word: &str) -> usize {
        fs::read_to_string(&self.console).unwrap_or_default().matches(word).count()
    }

    pub(crate) fn resident(&self) -> f64 {
        let text = fs::read_to_string(format!("/proc/{}/statm", self.qemu.id())).unwrap_or_default();
        text.split_whitespace().nth(1).and_then(|pages| pages.parse::<f64>().ok()).unwrap_or(0.0) * 4096.0
    }

    pub(crate) fn end(&mut self) {
        let _ = self.qemu.kill();
        let _ = self.qemu.wait();
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.end();
    }
}

pub(crate) fn top(sandbox: &Sandbox, config: &str) -> Value {
    let out = sandbox.succeed(&["memory", "top", config, "--once", "--json"]).out;
    let document: Value = serde_json::from_str(&out).expect("it is JSON");
    document["vms"][0].clone()
}

pub(crate) fn gauge(metrics: &Path, name: &str, vm: &str) -> Option<f64> {
    let text = fs::read_to_string(metrics).unwrap_or_default();
    let line = format!("{name}{{vm=\"{vm}\"}} ");
    text.lines().find_map(|found| found.strip_prefix(&line)?.parse().ok())
}
