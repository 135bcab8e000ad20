//! Measures virtual machines that plumb did not start, and compares the results with their command lines.

use std::{
    fs,
    io::{self, BufRead as _, BufReader, Write as _},
    os::unix::net::UnixStream,
    process::{Child, Command, Stdio},
    time::Duration,
};

use plumb_tests::{Sandbox, wait_until};
use serde_json::{Value, json};

use crate::sandbox;

const NAME: &str = "plumb-test-web";
const FOR: &str = "300ms";

/// A machine stopped before the guest's first instruction, with its tap device in a private network namespace.
struct Standing(Child);

impl Standing {
    fn start(sandbox: &Sandbox, monitor: &str) -> Self {
        let script = format!(
            "ip link set lo up && ip link add br0 type bridge && ip tuntap add dev tap7 mode tap multi_queue \
             vnet_hdr && ip link set tap7 master br0 up && ip link set br0 mtu 9000 && exec qemu-system-x86_64 -name guest={NAME},debug-threads=on \
             -nodefaults -no-user-config -display none -S -machine q35,accel=tcg -cpu EPYC -smp 3 -m 96 -object \
             iothread,id=disks -netdev tap,id=net0,ifname=tap7,script=no,downscript=no,queues=2,vhost=off -device \
             virtio-net-pci,netdev=net0,mq=on,vectors=6,rx_queue_size=512,host_tso4=off -netdev user,id=net1 -qmp \
             unix:{monitor},server=on,wait=off"
        );
        let mut command = Command::new("unshare");
        command.args(["--net", "sh", "-c", &script]).env("HOME", sandbox.home());
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("util-linux has it");
        let standing = Self(child);
        let there = || UnixStream::connect(monitor).is_ok_and(|monitor| answers(&monitor).is_ok());
        assert!(wait_until(Duration::from_secs(60), there), "QEMU opens its monitor");
        standing
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }
}

fn answers(monitor: &UnixStream) -> io::Result<()> {
    monitor.set_read_timeout(Some(Duration::from_secs(60)))?;
    (&mut &*monitor).write_all(b"{\"execute\":\"qmp_capabilities\"}{\"execute\":\"query-status\"}\n")?;
    for line in BufReader::new(monitor).lines() {
        if line?.contains("prelaunch") {
            return Ok(());
        }
    }
    Err(io::ErrorKind::UnexpectedEof.into())
}

impl Drop for Standing {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn measured(sandbox: &Sandbox, named: &str) -> Value {
    let output = sandbox.succeed(&["measure", "--qemu", named, "--for", FOR, "--json"]);
    serde_json::from_str(&output.out).expect("JSON")
}

fn ids(document: &Value) -> Vec<&str> {
    let claims = document["findings"].as_array().expect("a list");
    claims.iter().filter_map(|claim| claim["id"].as_str()).collect()
}

pub(crate) fn describes_a_running_machine() {
    let sandbox = sandbox();
    let monitor = sandbox.home().join("monitor").display().to_string();
    let standing = Standing::start(&sandbox, &monitor);
    for named in [&standing.pid(), NAME] {
        let document = measured(&sandbox, named);
        let vm = &document["vm"];
        check_machine(vm);
        assert_eq!(vm["monitor"], Value::Null, "no name was given");
        assert_eq!(vm["devices"][0]["model"], "virtio-net-pci", "{vm}");
        for id in ["emulated", "vhost-off", "mtu-mismatch"] {
            assert!(ids(&document).contains(&id), "no {id} in {}", document["findings"]);
        }
        assert_eq!(document["trace"]["target"]["name"], NAME);
    }
}

fn check_machine(vm: &Value) {
    assert_eq!(vm["guest"], NAME, "{vm}");
    assert_eq!((&vm["accelerator"], &vm["board"]), (&json!("emulation"), &json!("q35")), "{vm}");
    assert_eq!((&vm["cpus"], &vm["memory"]), (&json!(3), &json!(96 << 20)), "{vm}");
    assert_eq!(vm["unread"], json!([]), "root sees everything");
    let threads = vm["threads"].as_array().expect("a list");
    let of = |role: &str| threads.iter().filter(|thread| thread["role"] == role).count();
    // The monitor has its own iothread in addition to the configured one.
    assert_eq!((of("cpu"), of("main"), of("vhost")), (3, 1, 0), "{threads:?}");
    assert!(
        threads.iter().any(|thread| thread["name"] == "IO disks" && thread["role"] == "io"),
        "{threads:?}"
    );
    let [tap, user] = &vm["devices"].as_array().expect("a list")[..] else { panic!("two devices: {vm}") };
    assert_eq!((&tap["tap"], &tap["netdev"]), (&json!("tap7"), &json!("net0")), "{tap}");
    assert_eq!(
        (&tap["queues"], &tap["vhost"], &tap["header"]),
        (&json!(2), &json!(false), &json!(true)),
        "{tap}"
    );
    assert_eq!(tap["master"], json!({ "name": "br0", "kind": "bridge", "mtu": 9000 }), "{tap}");
    assert_eq!((&tap["state"]["kind"], &tap["state"]["mtu"]), (&json!("tap"), &json!(1500)), "{tap}");
    assert!(tap["state"]["features"]["tx-tcp-segmentation"].is_boolean(), "{tap}");
    assert_eq!((&user["backend"], &user["tap"], &user["queues"]), (&json!("user"), &Value::Null, &json!(0)));
}

pub(crate) fn free_monitor_adds_details_and_is_released() {
    let sandbox = sandbox();
    let monitor = sandbox.home().join("monitor").display().to_string();
    let standing = Standing::start(&sandbox, &monitor);
    for _ in 0..2 {
        let document = measured(&sandbox, &monitor);
        let vm = &document["vm"];
        check_machine(vm);
        assert_eq!(vm["pid"].to_string(), standing.pid());
        assert_eq!(vm["monitor"]["status"], "prelaunch", "it was not touched: {vm}");
        assert_eq!((&vm["monitor"]["kvm"], &vm["monitor"]["io_threads"]), (&json!(false), &json!(["disks"])));
        let printed = &vm["devices"][0]["negotiated"];
        for (name, value) in [("mq", "on"), ("vectors", "6"), ("rx_queue_size", "512"), ("host_tso4", "off")]
        {
            assert_eq!(printed["set"][name], value, "{printed}");
        }
        assert_eq!(printed["driver"], false, "{printed}");
        assert!(!ids(&document).contains(&"offload-off"), "no driver has taken anything yet");
    }
    let _client = UnixStream::connect(&monitor).expect("it is free");
    let output = sandbox.plumb(&["measure", "--qemu", &monitor, "--for", FOR]);
    assert_eq!(output.status, Some(1), "{output:?}");
    assert!(output.err.contains("accepts one client at a time"), "{}", output.err);
    assert!(output.err.contains("by PID"), "the error suggests an alternative: {}", output.err);
    let page = sandbox.succeed(&["measure", "--qemu", NAME, "--for", FOR]).out;
    for part in [
        NAME,
        "3 CPUs, model EPYC, emulated",
        "Findings",
        "vhost is off for tap7",
        "CPU time by role",
        "br0 (bridge)",
    ] {
        assert!(page.contains(part), "no `{part}` in:\n{page}");
    }
}

pub(crate) fn refuses_what_is_not_a_machine() {
    let sandbox = sandbox();
    let own = std::process::id().to_string();
    let no_monitor = sandbox.home().join("socket").display().to_string();
    for (named, status, printed) in [
        ("4194999", 64, "no process with PID 4194999"),
        (own.as_str(), 64, "is not QEMU"),
        ("no-such-guest", 64, "no QEMU virtual machine `no-such-guest`"),
        (no_monitor.as_str(), 1, "cannot connect to the monitor"),
    ] {
        let output = sandbox.plumb(&["measure", "--qemu", named, "--for", FOR]);
        assert_eq!(output.status, Some(status), "{named}: {output:?}");
        assert!(output.err.contains(printed), "{named}: no `{printed}` in: {}", output.err);
    }
}

fn watches(pid: u32) -> bool {
    let held = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().filter_map(Result::ok);
    let mut links = held.filter_map(|entry| fs::read_link(entry.path()).ok());
    links.any(|link| link.to_string_lossy() == "anon_inode:bpf_link")
}

pub(crate) fn keeps_results_of_a_machine_that_ends() {
    let sandbox = sandbox();
    let monitor = sandbox.home().join("monitor").display().to_string();
    let standing = Standing::start(&sandbox, &monitor);
    let mut command = sandbox.command(&["measure", "--qemu", &standing.pid(), "--for", "60s", "--json"]);
    let measuring = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("plumb was built");
    // The start of the measurement is not observable without eBPF.
    let _ = wait_until(Duration::from_secs(20), || watches(measuring.id()));
    drop(standing);
    let output = measuring.wait_with_output().expect("it was started");
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(printed.contains("exited during the measurement"), "{printed}");
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(document["vm"]["guest"], NAME);
    assert_eq!(document["trace"]["ended"]["reason"], "target-ended", "{}", document["trace"]);
}
