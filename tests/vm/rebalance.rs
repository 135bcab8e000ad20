//! Moves memory between machines that plumb did not start, following the steps of the guide.

use std::{cell::RefCell, fs, path::Path};

use plumb_tests::{PATIENCE, Sandbox, wait_until};

use crate::{
    by_hand::{GuestKernel, MIB, Machine, gauge, guide, words},
    sandbox,
};

/// The guest allocates and holds this many MiB, as given on the kernel's command line.
const SCRIPT: &str = "dd if=/dev/zero of=/mnt/held bs=1048576 count=$fills
while :; do sleep 1; done
";
const MEMORY: f64 = 288.0;

fn start(folder: &Path, name: &str, fills: u32) -> Machine {
    let mut flags = words(&guide("virtio-balloon-pci,free", folder).replace("/web.", &format!("/{name}.")));
    flags.extend(["-m".to_owned(), MEMORY.to_string()]);
    Machine::start(folder, name, &GuestKernel::of_test(), &format!("fills={fills}"), &flags)
}

pub(crate) fn memory_goes_to_the_machine_that_uses_it() {
    let sandbox = sandbox();
    let folder = sandbox.home();
    GuestKernel::of_test().initrd(folder, SCRIPT, &[], None);
    let idle = start(folder, "build", 1);
    let _busy = start(folder, "web", 160);
    let text = guide("capacity", folder).replace("\"10s\"", "\"1s\"");
    let config = sandbox.file("vms.toml", &text);
    let metrics = folder.join("plumb.prom");
    let args = |step: &str, more: &[&str]| -> Vec<String> {
        let words = words(&guide(step, folder).replace("vms.toml", &config)).into_iter().skip(1);
        words.chain(more.iter().map(|word| (*word).to_owned())).collect()
    };
    let run = |args: &[String]| sandbox.plumb(&args.iter().map(String::as_str).collect::<Vec<_>>());
    let round = |args: &[String]| {
        let output = run(args);
        assert_eq!(output.status, Some(0), "{args:?}: {output:?}");
        output.out
    };
    let metrics_flag = ["--metrics", metrics.to_str().expect("plain")];
    let dry = args("--dry-run", &[&metrics_flag[..], &["--rounds", "2"]].concat());
    let live = |rounds| args("--state", &["--rounds", rounds]);

    // Wait until both guests have booted and their drivers report memory statistics.
    let reported = || {
        let _ = round(&dry);
        ["build", "web"].iter().all(|vm| gauge(&metrics, "plumb_vm_available_bytes", vm).is_some())
            && gauge(&metrics, "plumb_vm_available_bytes", "web") < Some(100.0 * MIB)
    };
    assert!(wait_until(PATIENCE, reported), "{}", fs::read_to_string(&metrics).unwrap_or_default());
    let has = |vm| gauge(&metrics, "plumb_vm_memory_bytes", vm).expect("the gauge exists") / MIB;
    assert_eq!((has("build"), has("web")), (MEMORY, MEMORY), "a dry run moves nothing");
    let would = round(&dry);
    assert!(would.contains("would move build:"), "{would}");

    let printed = RefCell::new(String::new());
    let settled = || {
        printed.borrow_mut().push_str(&round(&live("3")));
        has("build") + has("web") <= 384.0
    };
    let settles = wait_until(PATIENCE, settled);
    let printed = printed.into_inner();
    assert!(settles, "{} and {} MiB: {printed}", has("build"), has("web"));
    assert!(has("web") > has("build") + 32.0, "{} and {} MiB: {printed}", has("build"), has("web"));
    assert!(has("build") >= MEMORY / 4.0, "the floor is respected: {printed}");

    // When one machine ends, the other keeps the memory it has.
    let before = has("web");
    drop(idle);
    let output = run(&live("1"));
    assert!(output.status == Some(1) && output.err.contains("virtual machine `build`"), "{output:?}");
    assert_eq!(has("web"), before);
}

pub(crate) fn refuses_impossible_limits() {
    let sandbox: Sandbox = sandbox();
    for (text, printed) in [
        ("", "missing field `vms`"),
        ("[vms.web]\nqmp = \"/nowhere/web.qmp\"\n", "virtual machine `web`"),
        ("[vms.web]\nqmp = \"/a\"\nflor = \"1GiB\"\n", "unknown field `flor`"),
    ] {
        let output = sandbox.plumb(&["rebalance", &sandbox.file("vms.toml", text), "--rounds", "1"]);
        assert!(output.status != Some(0) && output.err.contains(printed), "{output:?}");
    }
}
