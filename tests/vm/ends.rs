//! Tests how guests end when they are disturbed.

use std::{
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use plumb_tests::{Sandbox, cpu_time, signal, wait_until};

use crate::{
    boots::{boot, ready},
    remains::{Remains, monitor, processes},
    sandbox,
};

/// Shorter than a guest's boot timeout, because that also stops the controller.
const SOON: Duration = Duration::from_secs(20);
/// A monitor starts within this time, but a guest takes longer to boot.
const WELL_BEGUN: Duration = Duration::from_millis(500);

fn booting(sandbox: &Sandbox) -> (Child, u32) {
    let mut command = sandbox.command(&["vm", "run"]);
    let controller = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("plumb was built");
    assert!(wait_until(Duration::from_secs(20), || monitor(sandbox).is_some()), "no monitor was started");
    (controller, monitor(sandbox).expect("it boots for seconds"))
}

fn well_begun(sandbox: &Sandbox) -> (Child, u32) {
    let (controller, monitor) = booting(sandbox);
    assert!(wait_until(SOON, || cpu_time(monitor) >= WELL_BEGUN), "its monitor gets no CPU");
    (controller, monitor)
}

pub(crate) fn killed_controller_leaves_no_monitor() {
    let before = Remains::now();
    let sandbox = sandbox();
    // By then, the agent is ready but still checks the probes.
    let booted = ready(&boot(&sandbox, &["--probe", "none"])) + Duration::from_millis(300);
    for moment in [Duration::ZERO, Duration::from_millis(700), booted] {
        let (mut controller, _) = booting(&sandbox);
        thread::sleep(moment);
        controller.kill().expect("SIGKILL can be sent");
        controller.wait().expect("it was started");
        assert!(
            wait_until(SOON, || processes(&sandbox).is_empty()),
            "left {moment:?} after the start: {:?}",
            processes(&sandbox)
        );
    }
    before.is_all_there_is(&sandbox);
}

pub(crate) fn killed_monitor() {
    let sandbox = sandbox();
    let (controller, monitor) = well_begun(&sandbox);
    signal(monitor, "KILL");
    let killed = Instant::now();
    let output = controller.wait_with_output().expect("it was started");
    assert!(killed.elapsed() < SOON, "{:?}", killed.elapsed());
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(printed.contains("lost the agent of host guest"), "{printed}");
    assert!(printed.contains("QEMU was killed by signal 9") && !printed.contains("--resume"), "{printed}");
    assert!(processes(&sandbox).is_empty());
}

pub(crate) fn ctrl_c_ends_a_boot() {
    let before = Remains::now();
    let sandbox = sandbox();
    for name in ["INT", "TERM"] {
        let (controller, _) = well_begun(&sandbox);
        let asked = Instant::now();
        signal(controller.id(), name);
        let output = controller.wait_with_output().expect("it was started");
        assert_eq!(output.status.code(), Some(130), "{name}: {output:?}");
        assert!(asked.elapsed() < SOON, "{:?}", asked.elapsed());
        assert!(output.stdout.is_empty(), "it waited for its guest: {output:?}");
        assert!(!String::from_utf8_lossy(&output.stderr).contains("--resume"), "{output:?}");
        assert!(processes(&sandbox).is_empty(), "a monitor outlives its controller");
    }
    before.is_all_there_is(&sandbox);
}
