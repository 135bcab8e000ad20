//! Tests a monitor's privileges while its guest runs, as the kernel reports them.

use std::{collections::BTreeSet, fs, ops::RangeInclusive};

use plumb_tests::{PATIENCE, wait_until};

use crate::{remains::monitor, sandbox};

/// UIDs that no account or service uses, not even `plumb server`.
const UNASSIGNED: RangeInclusive<u32> = 60_578..=61_183;

pub(crate) fn monitor_has_little() {
    let sandbox = sandbox();
    let arguments = [
        "vm", "run", "--json", "--accel", "tcg", "--board", "microvm", "--probe", "none", "--memory", "256M",
    ];
    let mut command = sandbox.command(&arguments);
    let mut controller = command.env("SECRET", "of the user").spawn().expect("plumb was built");
    assert!(wait_until(PATIENCE, || monitor(&sandbox).is_some()), "no monitor");
    let pid = monitor(&sandbox).expect("the monitor runs");
    let read = |file: &str| fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
    // Waits, because QEMU installs its filter only after it has parsed its arguments.
    let lines = || -> BTreeSet<String> {
        read("status").lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    };
    assert!(wait_until(PATIENCE, || lines().contains("Seccomp: 2")), "{:?}", lines());
    let (status, devices, environment) = (lines(), read("net/dev"), read("environ"));
    let namespaces = ["mnt", "pid", "ipc", "net"].map(|kind| {
        let of = |process: &str| fs::read_link(format!("/proc/{process}/ns/{kind}")).expect("it runs");
        (kind, of(&pid.to_string()) != of("self"))
    });
    let processes = fs::read_dir(format!("/proc/{pid}/root/proc")).expect("it runs").filter_map(Result::ok);
    let processes: Vec<u32> =
        processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    let image = fs::read_dir(format!("/proc/{pid}/fd")).expect("it runs").filter_map(Result::ok);
    let image = image
        .filter(|entry| {
            fs::read_link(entry.path()).is_ok_and(|to| to.to_string_lossy().contains("plumb-guest-image"))
        })
        .map(|entry| fs::OpenOptions::new().write(true).open(entry.path()).and_then(|file| file.set_len(0)))
        .next();
    assert_eq!(controller.wait().expect("it was started").code(), Some(0), "the guest ran all the same");
    for line in ["CapEff: 0000000000000000", "NoNewPrivs: 1"] {
        assert!(status.contains(line), "{line}: {status:?}");
    }
    for kind in ["Uid:", "Gid:"] {
        let line = status.iter().find_map(|line| line.strip_prefix(kind)).expect("in every status");
        let numbers: BTreeSet<u32> = line.split_whitespace().filter_map(|it| it.parse().ok()).collect();
        let first = *numbers.first().expect("four numbers");
        assert!(numbers.len() == 1 && UNASSIGNED.contains(&first), "{kind}{line}");
    }
    assert!(namespaces.iter().all(|(_, own)| *own), "{namespaces:?}");
    assert_eq!(processes, [1], "it sees only itself");
    let variables: Vec<_> = environment.split('\0').filter(|variable| !variable.is_empty()).collect();
    assert!(matches!(variables[..], [path] if path.starts_with("PATH=")), "{variables:?}");
    let devices: Vec<_> =
        devices.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim()).collect();
    assert_eq!(devices, ["lo"]);
    assert!(image.is_none_or(|changed| changed.is_err()), "the image can be changed");
}
