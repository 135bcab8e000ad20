//! Counts instructions in an emulated machine.

use std::{
    collections::BTreeMap,
    os::fd::AsRawFd,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use machine::{GuestSymbols, InstructionCounter, Symbols};
use plumb_tests::{COUNTED_SCENARIO, Sandbox, kills::kept, trials, wait_until};
use serde_json::Value;

use crate::{measured::number, sandbox};

const COUNTED_TRIAL: Duration = Duration::from_secs(300);
/// The largest difference between the medians of two runs.
const SPREAD: f64 = 0.01;

pub(crate) fn counts_repeat() {
    let sandbox = sandbox();
    let file = sandbox.file("counted.toml", COUNTED_SCENARIO);
    let mut counts: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let mut runs = Vec::new();
    for is_killed in [true, false] {
        let run = ["run", &file, "--count", "--trials", "3", "--plain", "--quiet"];
        if is_killed {
            kill_after_a_trial(&sandbox, &run);
            runs.push(sandbox.succeed(&["run", "--resume", "--plain", "--quiet"]).out.trim().to_owned());
        } else {
            runs.push(sandbox.succeed(&run).out.trim().to_owned());
        }
        let blocks: Vec<u64> =
            trials(&sandbox.record()).iter().map(|trial| number(&trial["block"])).collect();
        assert!(blocks.is_sorted() && (0..3).all(|block| blocks.contains(&block)), "{blocks:?}");
        for result in results(&sandbox) {
            let median = result["value"]["estimate"].as_f64().expect("a number");
            counts.entry(result["id"].to_string()).or_default().push(median);
            adds_up(&result);
        }
        for trial in trials(&sandbox.record()) {
            let counted = &trial["instructions"];
            let functions = counted["functions"].as_array().expect("a list").iter();
            let named: u64 = functions.map(|it| number(&it["instructions"])).sum();
            let total = number(&counted["total"]);
            assert!(named <= total && named as f64 > 0.95 * total as f64, "{named} of {total}");
        }
    }
    for (result, medians) in counts {
        let difference = (medians[1] / medians[0] - 1.0).abs();
        assert!(difference <= SPREAD, "{result}: {medians:?}");
    }
    let same = sandbox.plumb(&["check", &runs[1], "--against", &runs[0]]);
    assert_ne!(same.status, Some(1), "{same:?}");
    let page = sandbox.succeed(&["report", "latest", "--full"]).out;
    assert!(page.contains("Instructions per GB") && page.contains("veth_xmit"), "{page}");
}

fn kill_after_a_trial(sandbox: &Sandbox, arguments: &[&str]) {
    let mut run = sandbox.start(arguments);
    assert!(wait_until(COUNTED_TRIAL, || kept(sandbox) > 0), "no trial was stored");
    run.kill().expect("SIGKILL can be sent");
    run.wait().expect("it was started");
}

fn results(sandbox: &Sandbox) -> Vec<Value> {
    sandbox.findings("latest")["results"].as_array().expect("a list").clone()
}

fn adds_up(result: &Value) {
    let groups = result["instructions"].as_array().expect("a list");
    let share: f64 = groups.iter().filter_map(|group| group["share"].as_f64()).sum();
    assert!((share - 1.0).abs() < 1e-9, "{groups:#?}");
    let has = |name: &str| groups.iter().any(|group| group["name"] == name);
    assert!(["veth", "bridge", "plumb"].into_iter().all(has), "{groups:#?}");
}

/// Two loops of two instructions each, after a Multiboot header (Multiboot specification 0.6.96): 75,000 times in
/// `waits` and 25,000 times in `works`.
const TWO_LOOPS: [&[u8]; 10] = [
    &[0x02, 0xb0, 0xad, 0x1b, 0, 0, 1, 0, 0xfe, 0x4f, 0x51, 0xe4],
    &[0, 0, 0x10, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x20, 0, 0x10, 0],
    b"\x0f\x1f\x84\x00PLB1",
    &[0xb9, 0xf8, 0x24, 0x01, 0], // mov ecx, 75000
    &[0x49, 0x75, 0xfd],          // dec ecx; jnz -3
    &[0xb9, 0xa8, 0x61, 0, 0],    // mov ecx, 25000
    &[0x49, 0x75, 0xfd],
    b"\x0f\x1f\x84\x00PLB2",
    b"\x0f\x1f\x84\x00PLB3",
    &[0xfa, 0xf4], // cli; hlt
];

pub(crate) fn functions_have_their_known_share() {
    let sandbox = sandbox();
    let image = sandbox.home().join("two-loops");
    std::fs::write(&image, TWO_LOOPS.concat()).expect("the folder exists");
    let (plugin, counter) = InstructionCounter::new().expect("a memory file and a pipe");
    let [plugin, output] = plugin.descriptors().expect("two descriptors");
    let mut qemu = Command::new("qemu-system-x86_64")
        .args(["-nodefaults", "-display", "none", "-icount", "shift=0,sleep=off", "-kernel"])
        .arg(&image)
        .arg("-plugin")
        .arg(format!("/proc/{}/fd/{},output=1", std::process::id(), plugin.as_raw_fd()))
        .stdin(Stdio::null())
        .stdout(output)
        .spawn()
        .expect("it is installed");
    let kernel = "100028 t waits\n100030 t works\n".to_owned();
    let symbols = GuestSymbols { kernel, program: 0 };
    let symbols = Symbols::read(&symbols, Path::new("/dev/null")).expect("an empty program");
    let counted = counter.next(&symbols);
    qemu.kill().and_then(|()| qemu.wait()).expect("it was started");
    let counted = counted.expect("a window with instructions");
    let total: u64 = counted.values().sum();
    let share = |name: &str| counted[&("kernel".to_owned(), name.to_owned())] as f64 / total as f64;
    assert!((200_000 - 20..200_000 + 20).contains(&total), "{counted:?}");
    assert!((share("works") - 0.25).abs() < 0.001 && (share("waits") - 0.75).abs() < 0.001, "{counted:?}");
}

pub(crate) fn refuses_what_it_cannot_count() {
    let sandbox = sandbox();
    let refused = sandbox.plumb(&["run", "vhost", "--count"]);
    assert_eq!(refused.status, Some(64), "{refused:?}");
    assert!(refused.err.contains("is a virtual machine"), "{}", refused.err);
    let probed = sandbox.plumb(&["run", "quick", "--count", "--probe", "cpu"]);
    assert_eq!(probed.status, Some(64), "{probed:?}");
}
