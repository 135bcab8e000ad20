//! Tests the driver with simulated guests and failures.

use std::{
    fs,
    io::{Read, Write},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use machine::{Channel, Firecracker, Image, Kernel, Machine, NamedTap, Vmlinux};
use scenario::{HostName, Monitor, Vm};
use sys::netns::NetNs;

use crate::stand_in::{Behaviour, LAST_WORDS, REFUSAL};

const SOON: Duration = Duration::from_secs(60);

struct Setup {
    folder: tempfile::TempDir,
    kernel: Arc<Vmlinux>,
    image: Arc<Image>,
}

impl Setup {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let own = std::env::current_exe().expect("a test is a file");
        for behaviour in Behaviour::ALL {
            symlink(&own, folder.path().join(behaviour.name())).expect("writable");
        }
        let kernel = Kernel { image: folder.path().join("vmlinuz"), modules: folder.path().to_owned() };
        fs::write(&kernel.image, b"\x7fELF and so on").expect("writable");
        fs::write(kernel.modules.join("modules.dep"), "").expect("writable");
        let image = Image::build(&kernel, &own, &[], &[]).expect("nothing is missing");
        let kernel = kernel.uncompressed().expect("it is an ELF file");
        Self { folder, kernel: Arc::new(kernel), image: Arc::new(image) }
    }

    fn machine(&self, behaviour: Behaviour) -> Firecracker {
        self.of_program(self.folder.path().join(behaviour.name()))
    }

    fn of_program(&self, program: PathBuf) -> Firecracker {
        let vm = Vm { monitor: Monitor::Firecracker, ..Vm::default() };
        let (kernel, image) = (Arc::clone(&self.kernel), Arc::clone(&self.image));
        Firecracker::new(HostName::new("vm0"), vm, kernel, image).program(Some(program))
    }
}

fn tap(device: &str) -> NamedTap {
    let namespace = NetNs::create("test").expect("the right to mount includes it");
    let made = namespace.run_in(|| sys::tap::create_for_another("vm0", 7)).expect("it can be entered");
    made.expect("Linux has tap devices");
    NamedTap { device: device.to_owned(), namespace, mac: [2, 86, 198, 18, 0, 7] }
}

fn echoes(channel: &mut Channel, text: &str) {
    channel.to_agent.write_all(text.as_bytes()).expect("the channel is open");
    let mut echo = vec![0; text.len()];
    channel.from_agent.read_exact(&mut echo).expect("the guest echoes");
    assert_eq!(echo, text.as_bytes());
}

fn wait_until(holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < SOON, "timed out");
        thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn guest_boots() {
    let setup = Setup::new();
    let mut machine = setup.machine(Behaviour::Obeys);
    assert_eq!(machine.pids(), [0; 0]);
    let mut channel = machine.start().unwrap_or_else(|error| panic!("{error}"));
    echoes(&mut channel, "hello");
    echoes(&mut channel, "and again");
    wait_until(|| machine.condition().booted_within.is_some());
    assert_eq!(machine.pids().len(), 1);
    assert!(machine.start().expect_err("it runs").to_string().contains("vm0 is already running"));
    assert_eq!(machine.condition().last_output, "", "the boot message is left out");
    drop(channel.to_agent);
    let mut rest = Vec::new();
    channel.from_agent.read_to_end(&mut rest).expect("hanging up ends the stream");
}

pub(crate) fn tap_is_found() {
    let setup = Setup::new();
    let mut machine = setup.machine(Behaviour::Obeys).with_tap(tap("vm0"));
    echoes(&mut machine.start().unwrap_or_else(|error| panic!("{error}")), "hello");
    let mut machine = setup.machine(Behaviour::Obeys).with_tap(tap("vm1"));
    let error = machine.start().expect_err("there is no such device").to_string();
    assert!(error.contains("PUT /network-interfaces/eth0 ") && error.contains("no vm1:"), "{error}");
}

pub(crate) fn refusal_is_shown() {
    let error = Setup::new().machine(Behaviour::Refuses).with_tap(tap("vm0")).start();
    let error = error.expect_err("it refuses").to_string();
    for expected in ["cannot start virtual machine vm0", "\"host_dev_name\":\"vm0\"", "status 400", REFUSAL] {
        assert!(error.contains(expected), "`{expected}` is not in {error}");
    }
}

pub(crate) fn end_is_quoted() {
    let error = Setup::new().machine(Behaviour::Ends).start().expect_err("it ends").to_string();
    assert!(error.contains("exited with status 1") && error.contains("Failed to bind"), "{error}");
}

pub(crate) fn panic_is_quoted() {
    let setup = Setup::new();
    let mut machine = setup.machine(Behaviour::Panics);
    let mut channel = machine.start().unwrap_or_else(|error| panic!("{error}"));
    let mut output = Vec::new();
    channel.from_agent.read_to_end(&mut output).expect("the stream ends");
    assert_eq!((output.len(), machine.condition().booted_within), (0, None));
    wait_until(|| machine.condition().last_output.contains(LAST_WORDS));
}

pub(crate) fn stopping_ends_it() {
    let setup = Setup::new();
    let mut machine = setup.machine(Behaviour::Obeys);
    let mut channel = machine.start().unwrap_or_else(|error| panic!("{error}"));
    echoes(&mut channel, "hello");
    let [pid] = machine.pids()[..] else { panic!("it is one process") };
    machine.stop();
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
    let mut rest = Vec::new();
    let _ = channel.from_agent.read_to_end(&mut rest);
    assert_eq!(machine.pids(), [0; 0]);
    assert_eq!(fs::read_dir(setup.folder.path()).expect("it is there").count(), Behaviour::ALL.len() + 2);
}

pub(crate) fn absence_is_named() {
    let setup = Setup::new();
    let error =
        setup.of_program("/nonexistent/firecracker".into()).start().expect_err("not there").to_string();
    for expected in
        ["/nonexistent/firecracker is not installed", "/firecracker/releases", "--firecracker PATH"]
    {
        assert!(error.contains(expected), "`{expected}` is not in {error}");
    }
    let error =
        Firecracker::unusable(Some(Path::new("/bin/true"))).expect("it is not Firecracker").to_string();
    assert!(error.contains("/bin/true is not Firecracker"), "{error}");
}

/// The kernel is invalid, so Firecracker refuses to start, as it would without KVM.
pub(crate) fn real_one_takes_all() {
    let error = Setup::new().of_program("firecracker".into()).with_tap(tap("vm0")).start();
    let error = error.expect_err("the kernel is invalid").to_string();
    assert!(error.contains("refused `PUT /actions {\"action_type\":\"InstanceStart\"}`"), "{error}");
}
