//! Tests users' own guests with an agent, following the guide. The guests check their memory all the time.

use std::{cell::RefCell, fs, process::Stdio, sync::Arc, thread, time::Duration};

use machine::Monitor;
use memory::AgentLink;
use plumb_tests::{PATIENCE, Sandbox, wait_until};
use serde_json::{Value, json};

use crate::{
    by_hand::{GuestKernel, MIB, Machine, guide, top, words},
    sandbox,
};

/// Runs the agent at the port, holds 24 MiB of random data, and reports whether the data has changed.
const SCRIPT: &str = "dd if=/dev/urandom of=/mnt/held bs=1048576 count=24
md5sum /mnt/held > /run/sum
(while :; do AGENT; sleep 1; done) > /dev/console 2>&1 &
while :; do
  md5sum -c /run/sum > /dev/null 2>&1 && echo INTACT || echo DAMAGED
  echo 1 > /proc/sys/vm/compact_memory
  sleep 1
done
";
pub(crate) const DAMON: &str = "CONFIG_DAMON_PADDR=y";
/// All memory of the guest is in a file, so that the host can free parts of the memory.
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

fn start(sandbox: &Sandbox, kernel: &GuestKernel, memory: &[&str]) -> Machine {
    let folder = sandbox.home();
    let unit = guide("ExecStart=", folder);
    let agent = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).expect("it starts something");
    kernel.initrd(folder, &SCRIPT.replace("AGENT", agent), &[], Some(env!("CARGO_BIN_EXE_plumb")));
    let monitor = |name: &str| format!("unix:{},server,nowait", folder.join(name).display());
    let mut flags = words(&guide("virtserialport", folder).replace("/web.", "/vm."));
    flags.extend(["-qmp".to_owned(), monitor("vm.qmp"), "-qmp".to_owned(), monitor("vm.qmp2")]);
    flags.extend(memory.iter().map(|word| (*word).to_owned()));
    let machine = Machine::start(folder, "vm", kernel, "memhp_default_state=online_movable", &flags);
    assert!(wait_until(PATIENCE, || machine.printed("INTACT") > 0), "the guest boots");
    machine
}

fn assert_intact(machine: &Machine) {
    let before = machine.printed("INTACT");
    assert!(wait_until(PATIENCE, || machine.printed("INTACT") >= before + 2), "the guest keeps running");
    assert_eq!(machine.printed("DAMAGED"), 0, "the guest's memory is unchanged");
}

fn config(sandbox: &Sandbox, file: &str, lines: &str) -> String {
    let at = |what: &str| sandbox.home().join(format!("vm.{what}")).display().to_string();
    let text =
        format!("interval = \"2s\"\n[vms.vm]\nqmp = \"{}\"\nagent = \"{}\"\n{lines}", at("qmp"), at("agent"));
    sandbox.file(file, &text)
}

pub(crate) fn reports_both_tiers_and_moves_the_fast_one() {
    let sandbox = sandbox();
    let machine = start(&sandbox, &GuestKernel::of_test(), TWO_NODES);
    // Debian 12's kernel enables page generations only on request.
    let text = guide("slow-nodes", sandbox.home()).replace("/web.", "/vm.").replace("vms.web", "vms.vm");
    let text = text.replace("\"auto\"", "\"mglru\"");
    let file = sandbox.file("vms.toml", &format!("interval = \"2s\"\n{text}"));
    let reported = top(&sandbox, &file);
    assert_eq!(reported["method"], "virtio-mem", "{reported}");
    let slow: Vec<bool> =
        reported["nodes"].as_array().expect("nodes").iter().map(|node| node["slow"] == true).collect();
    assert_eq!(slow, [false, true], "{reported}");
    assert_eq!(reported["slow"].as_f64(), Some(256.0 * MIB), "{reported}");
    for number in ["available", "pressure", "refaults_per_second", "swap_used", "telemetry_cpu"] {
        assert!(reported[number].is_number(), "{number}: {reported}");
    }
    assert_eq!(reported["source"], "mglru", "{reported}");
    let accessed = reported["nodes"][0]["accesses"].as_array().expect("classes");
    assert!(accessed.iter().any(|class| class["accesses"].as_u64() > Some(0)), "{reported}");

    let agent = sandbox.home().join("vm.agent");
    let before =
        AgentLink::connect(&agent, env!("CARGO_PKG_VERSION"), None, &Arc::default()).expect("it greets");
    let mut monitor =
        Monitor::open(&sandbox.home().join("vm.qmp2"), &std::sync::Arc::default()).expect("its own monitor");
    let mut order = |word| monitor.order(word, &json!({})).expect("QEMU obeys");
    order("stop");
    drop(before);
    let mut asked = sandbox.command(&["memory", "top", &file, "--once", "--json"]);
    let asked = asked.stdout(Stdio::piped()).spawn().expect("it starts");
    thread::sleep(Duration::from_secs(1));
    order("cont");
    let asked = asked.wait_with_output().expect("it was started here");
    let reported: Value = serde_json::from_slice(&asked.stdout).expect("it is JSON");
    assert_eq!(reported["vms"][0]["source"], "mglru", "{reported}");

    let metrics = sandbox.home().join("metrics");
    let at = metrics.display().to_string();
    let shown = sandbox.succeed(&["memory", "top", &file, "--once", "--metrics", &at]).out;
    assert!(shown.contains("node 1 slow") && shown.contains("page generations"), "{shown}");
    let text = fs::read_to_string(&metrics).expect("it was written");
    assert!(text.contains("plumb_vm_node_bytes{vm=\"vm\",node=\"1\"}"), "{text}");

    let fast = || top(&sandbox, &file)["fast"].as_f64().expect("it is known") / MIB;
    assert_eq!(fast(), 384.0);
    let down = config(&sandbox, "down.toml", "slow-nodes = [1]\nfloor = \"256MiB\"\nceiling = \"288MiB\"\n");
    let shrinks = || {
        let _ = sandbox.succeed(&["rebalance", &down, "--rounds", "3"]);
        fast() <= 288.0
    };
    assert!(wait_until(PATIENCE, shrinks), "{} MiB", fast());
    assert!(fast() >= 256.0, "a floor is a floor");
    assert_intact(&machine);
}

pub(crate) fn damon_counts_accesses() {
    let sandbox = sandbox();
    let kernel = GuestKernel::with(DAMON).expect("it was installed");
    let _machine = start(&sandbox, &kernel, TWO_NODES);
    let file = config(&sandbox, "vms.toml", "slow-nodes = [1]\n");
    let counted = || {
        let reported = top(&sandbox, &file);
        assert_eq!(reported["source"], "damon", "{reported}");
        let classes =
            |node: usize| reported["nodes"][node]["accesses"].as_array().cloned().unwrap_or_default();
        let of = |node: usize, accessed: bool| -> f64 {
            let classes = classes(node).into_iter();
            let classes = classes.filter(|class| (class["accesses"].as_u64() > Some(0)) == accessed);
            classes.filter_map(|class| class["bytes"].as_f64()).sum::<f64>() / MIB
        };
        // The guest keeps computing the checksum of a 24 MiB file, which may be on either node.
        of(0, true) + of(1, true) > 8.0
            && of(0, false) + of(1, false) > 200.0
            && reported["telemetry_cpu"].is_number()
    };
    assert!(wait_until(PATIENCE, counted), "{}", top(&sandbox, &file));
}

pub(crate) fn only_one_process_moves_memory() {
    let sandbox = sandbox();
    let _machine = start(&sandbox, &GuestKernel::of_test(), TWO_NODES);
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
        // On a busy machine, a monitor may time out, which makes the rebalancer exit.
        let mut mover = mover.borrow_mut();
        if mover.try_wait().expect("it was started here").is_some() {
            *mover = start();
        }
        let (status, error) = second(&[]);
        status == Some(1) && error.contains("another process is moving the memory")
    };
    assert!(wait_until(PATIENCE, refused), "the second is refused while the first moves memory");
    assert!(wait_until(PATIENCE, || second(&["--dry-run"]).0 == Some(0)), "looking is free");
    let mut mover = mover.into_inner();
    mover.kill().expect("it was started here");
    mover.wait().expect("it was started here");
    assert!(wait_until(PATIENCE, || second(&[]).0 == Some(0)), "the lock is released when its holder dies");
}

pub(crate) fn survives_a_kill_while_taking_pages() {
    let sandbox = sandbox();
    let mut machine = start(&sandbox, &GuestKernel::of_test(), ONE_NODE);
    let lines = "method = \"agent\"\nsource = \"none\"\nfloor = \"200MiB\"\nceiling = \"240MiB\"\n";
    let file = config(&sandbox, "vms.toml", lines);
    for _ in 0..3 {
        let mut mover = sandbox.command(&["rebalance", &file]);
        let mut mover = mover.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        let before = machine.resident();
        let _ = wait_until(Duration::from_secs(20), || machine.resident() + 16.0 * MIB < before);
        mover.kill().expect("it runs");
        mover.wait().expect("it was started here");
        assert_intact(&machine);
    }
    // If undisturbed, the rebalancer takes the full amount of memory from a guest that has all its memory
    // back.
    let shown = || sandbox.succeed(&["rebalance", &file, "--rounds", "6"]).out;
    let printed = shown();
    assert!(printed.contains("more DRAM than its ceiling"), "{printed}");
    assert_intact(&machine);

    let mut mover = sandbox.command(&["rebalance", &file]);
    let mut mover = mover.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    std::thread::sleep(Duration::from_secs(3));
    machine.end();
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(mover.try_wait().expect("it was started here"), None, "the daemon outlives a machine");
    mover.kill().expect("it runs");
    mover.wait().expect("it was started here");
}

pub(crate) fn names_what_a_machine_lacks() {
    let sandbox = sandbox();
    for (name, devices, lines, printed) in [
        ("bare", &[][..], "", "neither a virtio-balloon nor a virtio-mem"),
        (
            "balloon",
            &["-device", "virtio-balloon-pci"][..],
            "method = \"virtio-mem\"\n",
            "no device with an ID",
        ),
        ("nodes", &["-device", "virtio-balloon-pci"][..], "slow-nodes = [1]\n", "takes pages from any node"),
        ("agent", &["-device", "virtio-balloon-pci"][..], "method = \"agent\"\n", "`agent` is not set"),
    ] {
        let qmp = sandbox.home().join(name);
        let _machine = Machine::bare(&qmp, devices);
        let text = format!("[vms.{name}]\nqmp = \"{}\"\n{lines}", qmp.display());
        let output = sandbox.plumb(&["rebalance", &sandbox.file("vms.toml", &text), "--rounds", "1"]);
        assert!(output.status == Some(1) && output.err.contains(printed), "{output:?}");
    }
    // Missing values are listed with the reason, next to the available values.
    let qmp = sandbox.home().join("anonymous");
    let _machine = Machine::bare(&qmp, &["-device", "virtio-balloon-pci"]);
    let text = format!(
        "interval = \"1s\"\n[vms.vm]\nqmp = \"{}\"\nsource = \"referenced\"\nagent = \"/nowhere\"\n",
        qmp.display()
    );
    let reported = top(&sandbox, &sandbox.file("vms.toml", &text));
    assert!(reported["fast"].as_u64() > Some(0), "{reported}");
    assert!(
        reported["no_accesses_reason"].as_str().is_some_and(|reason| reason.contains("memory-backend-memfd")),
        "{reported}"
    );
}
