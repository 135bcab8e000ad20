//! Users' own guests with an agent in them: what it tells of their memory, and what becomes of them when whoever moves that memory, the
//! agent or the machine itself is killed meanwhile. The guest checks what it has in memory all the time.

use std::{
    cell::RefCell,
    fs,
    os::unix::net::UnixStream,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use plumb_tests::{Sandbox, wait_until};
use serde_json::Value;

use crate::{rebalance::newest_kernel, sandbox};

const PATIENCE: Duration = Duration::from_secs(180);
const MIB: f64 = 1024.0 * 1024.0;
/// In the order in which they can be loaded; what is built in is not there.
const MODULES: [&str; 8] = [
    "drivers/virtio/virtio_ring",
    "drivers/virtio/virtio",
    "drivers/virtio/virtio_pci_legacy_dev",
    "drivers/virtio/virtio_pci_modern_dev",
    "drivers/virtio/virtio_pci",
    "drivers/virtio/virtio_balloon",
    "drivers/virtio/virtio_mem",
    "drivers/char/virtio_console",
];
/// Keeps an agent at the port, holds 24 MiB that are of no pattern, and tells whether they are what they were.
const INIT: &str = "#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs run /run
for module in /lib/*.ko; do insmod $module; done
mount -t tmpfs -o size=100% none /mnt
dd if=/dev/urandom of=/mnt/held bs=1048576 count=24
md5sum /mnt/held > /run/sum
sleep 1
(while :; do /bin/plumb agent 0<>/dev/vport0p1 1>&0 2>/dev/console; sleep 1; done) &
while :; do
  md5sum -c /run/sum > /dev/null 2>&1 && echo INTACT || echo DAMAGED
  echo 1 > /proc/sys/vm/compact_memory
  sleep 1
done
";
/// One node, all of whose memory is in a file that the host can free parts of.
const ONE_NODE: &[&str] = &[
    "-m",
    "384M",
    "-object",
    "memory-backend-memfd,id=memory,size=384M",
    "-machine",
    "memory-backend=memory",
    "-device",
    "virtio-balloon-pci,free-page-reporting=on",
];
/// A fast node with a virtio-mem device, and a slow one.
const TWO_NODES: &[&str] = &[
    "-m",
    "512M,maxmem=640M",
    "-object",
    "memory-backend-memfd,id=fast,size=256M",
    "-object",
    "memory-backend-memfd,id=slow,size=256M",
    "-numa",
    "node,nodeid=0,memdev=fast,cpus=0",
    "-numa",
    "node,nodeid=1,memdev=slow",
    "-object",
    "memory-backend-memfd,id=more,size=128M",
    "-device",
    "virtio-mem-pci,id=vm0,memdev=more,node=0,requested-size=128M",
];

/// A QEMU that a user started by hand, with an agent's port and two monitors.
struct Machine {
    qemu: Child,
    console: std::path::PathBuf,
}

impl Machine {
    fn start(folder: &Path, name: &str, memory: &[&str]) -> Self {
        let (kernel, _) = newest_kernel();
        let at = |what: &str| folder.join(format!("{name}.{what}"));
        let socket = |what: &str| format!("unix:{},server,nowait", at(what).display());
        let qemu = Command::new("qemu-system-x86_64")
            .args([
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
            ])
            .args(memory)
            .args(["-kernel", &kernel, "-initrd"])
            .arg(folder.join("initrd"))
            .args(["-append", "console=ttyS0 quiet memhp_default_state=online_movable"])
            .args(["-serial", &format!("file:{}", at("console").display())])
            .args(["-qmp", &socket("qmp"), "-qmp", &socket("qmp2"), "-device", "virtio-serial-pci"])
            .args(["-chardev", &format!("socket,id=agent,path={},server=on,wait=off", at("agent").display())])
            .args(["-device", "virtserialport,chardev=agent,name=plumb"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("QEMU is there");
        let machine = Self { qemu, console: at("console") };
        assert!(wait_until(PATIENCE, || UnixStream::connect(at("qmp2")).is_ok()), "QEMU opens its monitors");
        assert!(wait_until(PATIENCE, || machine.said("INTACT") > 0), "the guest boots");
        machine
    }

    /// How often the guest has said so.
    fn said(&self, word: &str) -> usize {
        fs::read_to_string(&self.console).unwrap_or_default().matches(word).count()
    }

    /// That it goes on, and has in memory what it had.
    fn assert_intact(&self) {
        let before = self.said("INTACT");
        assert!(wait_until(PATIENCE, || self.said("INTACT") >= before + 2), "the guest goes on");
        assert_eq!(self.said("DAMAGED"), 0, "what the guest has in memory is what it was");
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.qemu.kill();
        let _ = self.qemu.wait();
    }
}

/// The guest's file system: busybox, this program, and the drivers that any distribution has.
fn make_initrd(folder: &Path) {
    let root = folder.join("root");
    for part in ["bin", "dev", "lib", "proc", "sys", "run", "mnt"] {
        fs::create_dir_all(root.join(part)).expect("it is ours");
    }
    fs::copy("/bin/busybox", root.join("bin/busybox")).expect("it was installed");
    fs::copy(env!("CARGO_BIN_EXE_plumb"), root.join("bin/plumb")).expect("it was built");
    let (_, release) = newest_kernel();
    let kernel = Path::new("/lib/modules").join(release).join("kernel");
    for (place, module) in MODULES.iter().enumerate() {
        // Read by the shell in the order of their names.
        let _ = fs::copy(kernel.join(format!("{module}.ko")), root.join(format!("lib/{place}.ko")));
    }
    fs::write(root.join("init"), INIT).expect("it is ours");
    let script = "chmod 755 init && find . | busybox cpio -o -H newc > ../initrd 2>/dev/null";
    let made = Command::new("sh").args(["-c", script]).current_dir(root).status().expect("a shell");
    assert!(made.success());
}

/// A file that names the machine, with these lines for it.
fn config(sandbox: &Sandbox, file: &str, qmp: &str, lines: &str) -> String {
    let at = |what: &str| sandbox.home().join(format!("vm.{what}")).display().to_string();
    let text =
        format!("interval = \"2s\"\n[vms.vm]\nqmp = \"{}\"\nagent = \"{}\"\n{lines}", at(qmp), at("agent"));
    sandbox.file(file, &text)
}

fn top(sandbox: &Sandbox, config: &str) -> Value {
    let out = sandbox.succeed(&["memory", "top", config, "--once", "--json"]).out;
    let document: Value = serde_json::from_str(&out).expect("it is JSON");
    document["vms"][0].clone()
}

/// What an agent tells of both tiers, and memory of the fast one that goes to the floor and comes back by virtio-mem.
pub(crate) fn both_tiers_of_a_users_guest_are_told_and_the_fast_one_moves() {
    let sandbox = sandbox();
    make_initrd(sandbox.home());
    let machine = Machine::start(sandbox.home(), "vm", TWO_NODES);
    let file = config(&sandbox, "vms.toml", "qmp", "slow-nodes = [1]\nsource = \"mglru\"\n");
    let told = top(&sandbox, &file);
    assert_eq!(told["method"], "virtio-mem", "{told}");
    let slow: Vec<bool> =
        told["nodes"].as_array().expect("nodes").iter().map(|node| node["slow"] == true).collect();
    assert_eq!(slow, [false, true], "{told}");
    assert_eq!(told["slow"].as_f64(), Some(256.0 * MIB), "{told}");
    for number in ["available", "pressure", "refaults_per_second", "swap_used", "telemetry_cpu"] {
        assert!(told[number].is_number(), "{number}: {told}");
    }
    assert_eq!(told["source"], "mglru", "{told}");
    let accessed = told["nodes"][0]["accesses"].as_array().expect("classes");
    assert!(accessed.iter().any(|class| class["accesses"].as_u64() > Some(0)), "{told}");

    let metrics = sandbox.home().join("metrics");
    let at = metrics.display().to_string();
    let shown = sandbox.succeed(&["memory", "top", &file, "--once", "--metrics", &at]).out;
    assert!(shown.contains("node 1 slow") && shown.contains("page generations"), "{shown}");
    let text = fs::read_to_string(&metrics).expect("it was written");
    assert!(text.contains("plumb_vm_node_bytes{vm=\"vm\",node=\"1\"}"), "{text}");

    let fast = || top(&sandbox, &file)["fast"].as_f64().expect("it is known") / MIB;
    assert_eq!(fast(), 384.0);
    let down =
        config(&sandbox, "down.toml", "qmp", "slow-nodes = [1]\nfloor = \"256MiB\"\nceiling = \"288MiB\"\n");
    let shrinks = || {
        let _ = sandbox.succeed(&["rebalance", &down, "--rounds", "3"]);
        fast() <= 288.0
    };
    assert!(wait_until(PATIENCE, shrinks), "{} MiB", fast());
    assert!(fast() >= 256.0, "a floor is a floor");
    machine.assert_intact();
}

/// Two who would move the same machine's memory, by monitors of their own: the second is refused, until the first is gone.
pub(crate) fn a_machine_has_one_mover_at_a_time() {
    let sandbox = sandbox();
    make_initrd(sandbox.home());
    let _machine = Machine::start(sandbox.home(), "vm", TWO_NODES);
    let [first, second] = ["qmp", "qmp2"].map(|qmp| {
        let at = sandbox.home().join(format!("vm.{qmp}")).display().to_string();
        sandbox.file(&format!("{qmp}.toml"), &format!("interval = \"2s\"\n[vms.vm]\nqmp = \"{at}\"\n"))
    });
    let start = || {
        let mut mover = sandbox.command(&["rebalance", &first]);
        mover.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
    };
    let mover = RefCell::new(start());
    let second = |more: &[&str]| {
        let output = sandbox.plumb(&[&["rebalance", &*second, "--rounds", "1"], more].concat());
        (output.status, output.err)
    };
    let refused = || {
        // On a busy machine a monitor may not answer in time, which ends it.
        let mut mover = mover.borrow_mut();
        if mover.try_wait().expect("it was started here").is_some() {
            *mover = start();
        }
        let (status, error) = second(&[]);
        status == Some(1) && error.contains("another process moves the memory")
    };
    assert!(wait_until(PATIENCE, refused), "the second is refused while the first moves memory");
    assert!(wait_until(PATIENCE, || second(&["--dry-run"]).0 == Some(0)), "looking is free");
    let mut mover = mover.into_inner();
    mover.kill().expect("it was started here");
    mover.wait().expect("it was started here");
    assert!(wait_until(PATIENCE, || second(&[]).0 == Some(0)), "the lock went with its holder");
}

/// The agent's pages, with whoever takes them killed in the middle, again and again: the guest has what it had, and gets all back.
pub(crate) fn who_takes_pages_may_be_killed_in_the_middle() {
    let sandbox = sandbox();
    make_initrd(sandbox.home());
    let mut machine = Machine::start(sandbox.home(), "vm", ONE_NODE);
    let lines = "method = \"agent\"\nsource = \"none\"\nfloor = \"200MiB\"\nceiling = \"240MiB\"\n";
    let file = config(&sandbox, "vms.toml", "qmp", lines);
    for _ in 0..3 {
        let mut mover = sandbox.command(&["rebalance", &file]);
        let mut mover = mover.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        let before = resident(machine.qemu.id());
        let _ = wait_until(Duration::from_secs(20), || resident(machine.qemu.id()) + 16.0 * MIB < before);
        mover.kill().expect("it runs");
        mover.wait().expect("it was started here");
        machine.assert_intact();
    }
    // One that is let finish takes all that it is to take, of a guest that has all of it again.
    let shown = || sandbox.succeed(&["rebalance", &file, "--rounds", "6"]).out;
    let said = shown();
    assert!(said.contains("more DRAM than its ceiling"), "{said}");
    machine.assert_intact();

    // The machine goes in the middle: it is named, and the daemon goes on.
    let mut mover = sandbox.command(&["rebalance", &file]);
    let mut mover = mover.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    std::thread::sleep(Duration::from_secs(3));
    machine.qemu.kill().expect("it runs");
    machine.qemu.wait().expect("it was started here");
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(mover.try_wait().expect("it was started here"), None, "the daemon outlives a machine");
    mover.kill().expect("it runs");
    mover.wait().expect("it was started here");
}

/// Machines without a guest that lack what is asked of them: each is told what, and nothing is moved.
pub(crate) fn what_a_machine_lacks_is_told() {
    let sandbox = sandbox();
    for (name, devices, lines, said) in [
        ("bare", &[][..], "", "neither a virtio-balloon nor a virtio-mem"),
        ("balloon", &["-device", "virtio-balloon-pci"][..], "method = \"virtio-mem\"\n", "no named device"),
        ("nodes", &["-device", "virtio-balloon-pci"][..], "slow-nodes = [1]\n", "takes pages of any node"),
        (
            "agent",
            &["-device", "virtio-balloon-pci"][..],
            "method = \"agent\"\n",
            "does not say where its agent is",
        ),
    ] {
        let qmp = sandbox.home().join(name);
        let _machine = bare(&qmp, devices);
        let text = format!("[vms.{name}]\nqmp = \"{}\"\n{lines}", qmp.display());
        let output = sandbox.plumb(&["rebalance", &sandbox.file("vms.toml", &text), "--rounds", "1"]);
        assert!(output.status == Some(1) && output.err.contains(said), "{output:?}");
    }
    // What cannot be seen is told beside what can.
    let qmp = sandbox.home().join("anonymous");
    let _machine = bare(&qmp, &["-device", "virtio-balloon-pci"]);
    let text = format!(
        "interval = \"1s\"\n[vms.vm]\nqmp = \"{}\"\nsource = \"referenced\"\nagent = \"/nowhere\"\n",
        qmp.display()
    );
    let told = top(&sandbox, &sandbox.file("vms.toml", &text));
    assert!(told["fast"].as_u64() > Some(0), "{told}");
    assert!(
        told["no_accesses_because"].as_str().is_some_and(|why| why.contains("memory-backend-memfd")),
        "{told}"
    );
}

/// A QEMU that never starts its guest.
fn bare(qmp: &Path, devices: &[&str]) -> Machine {
    let qemu = Command::new("qemu-system-x86_64")
        .args([
            "-nodefaults",
            "-no-user-config",
            "-display",
            "none",
            "-M",
            "q35",
            "-accel",
            "tcg",
            "-S",
            "-m",
            "128M",
        ])
        .args(["-qmp", &format!("unix:{},server,nowait", qmp.display())])
        .args(devices)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("QEMU is there");
    assert!(wait_until(PATIENCE, || UnixStream::connect(qmp).is_ok()), "QEMU opens its monitor");
    Machine { qemu, console: qmp.to_owned() }
}

/// What a process has in RAM, in bytes.
fn resident(pid: u32) -> f64 {
    let text = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    text.split_whitespace().nth(1).and_then(|pages| pages.parse::<f64>().ok()).unwrap_or(0.0) * 4096.0
}
