//! Tests known work by a known owner on the real kernel. Without permissions, the tests are skipped.

mod shell;

use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;

use protocol::Subject;
use samples::{AttributedCpu, CpuConsumer, ProbeResults};

use super::{kernel::Kernel, kernel_sums::KernelSums, proc_sampling::ProcSampling};
use crate::{
    bpf::Subjects,
    observe::{Probe, ProbeError, Watch},
};
use shell::Shell;

const MS: u64 = 1_000_000;

const SPIN: &str = "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done";

#[expect(clippy::disallowed_macros, reason = "reports skipped tests")]
fn traced() -> Option<KernelSums> {
    match KernelSums::new() {
        Ok(probe) => Some(probe),
        Err(ProbeError::Unavailable { reason, .. }) if sys::bpf::try_load().is_err() => {
            println!("skipped: {reason}");
            None
        }
        Err(error) => panic!("programs can be loaded here, but not these: {error}"),
    }
}

fn subject(consumer: CpuConsumer, pid: u32) -> Subject {
    Subject::of(consumer, vec![pid], false)
}

fn watch(consumer: CpuConsumer, pid: u32) -> Watch {
    Watch { subjects: vec![subject(consumer, pid)], latency_breakdown: None }
}

fn read(probe: &mut dyn Probe) -> AttributedCpu {
    let mut seen = ProbeResults::default();
    probe.read(&mut seen).expect("started");
    assert_eq!(seen.overflowed, [], "every task has a bucket");
    let cpu = seen.cpu.expect("started");
    assert_eq!(seen.elapsed, cpu.elapsed);
    cpu
}

fn time_of(cpu: &AttributedCpu, consumer: CpuConsumer) -> u64 {
    cpu.shares.iter().filter(|share| share.consumer == consumer).map(|share| share.time.0).sum()
}

fn sum(cpu: &AttributedCpu) -> u64 {
    cpu.shares.iter().map(|share| share.time.0).sum()
}

/// Repeats a test, because the times of tasks include steal time immediately, but /proc/stat includes it later or
/// never.
fn in_one_of_five(test: impl Fn()) {
    for _ in 0..4 {
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(&test)).is_ok() {
            return;
        }
    }
    test();
}

fn assert_time(cpu: &AttributedCpu, consumer: CpuConsumer, known: u64, percent: u64) {
    let found = time_of(cpu, consumer);
    let apart = time_of(cpu, CpuConsumer::Softirq) + time_of(cpu, CpuConsumer::Irq) + cpu.steal.0;
    let allowed = known * percent / 100 + apart;
    assert!(found.abs_diff(known) <= allowed, "{found} ns, known {known} ± {allowed}: {cpu:#?}");
}

fn spin(time: u64) {
    let until = sys::clock::thread_cpu() + time;
    while sys::clock::thread_cpu() < until {
        std::hint::spin_loop();
    }
}

#[test]
fn cpu_of_spinning_process_is_exact_to_one_percent() {
    in_one_of_five(|| {
        let Some(mut probe) = traced() else { return };
        let shell = Shell::new(SPIN, None);
        probe.start(&watch(CpuConsumer::Client, shell.pid())).expect("watched");
        let before = shell.time();
        shell.run();
        let known = shell.time() - before;
        assert_time(&read(&mut probe), CpuConsumer::Client, known, 1);
    });
}

#[test]
fn cpu_of_children_counts_for_their_parent() {
    in_one_of_five(|| {
        let Some(mut probe) = traced() else { return };
        let shell = Shell::new(&format!("({SPIN}) & ({SPIN}; ({SPIN})) & wait"), None);
        probe.start(&watch(CpuConsumer::Server, shell.pid())).expect("watched");
        shell.run();
        assert_time(&read(&mut probe), CpuConsumer::Server, shell.family_time(), 5);
    });
}

#[test]
fn keeps_cpu_time_of_ended_process() {
    in_one_of_five(|| {
        let Some(mut probe) = traced() else { return };
        let shell = Shell::new(SPIN, None);
        probe.start(&watch(CpuConsumer::Client, shell.pid())).expect("watched");
        shell.run();
        let known = shell.time();
        drop(shell);
        assert_time(&read(&mut probe), CpuConsumer::Client, known, 3);
    });
}

#[test]
fn cpu_counts_ten_thousand_short_processes() {
    in_one_of_five(|| {
        let Some(mut probe) = traced() else { return };
        let shell = Shell::new("i=0; while [ $i -lt 10000 ]; do (:); i=$((i+1)); done", None);
        probe.start(&watch(CpuConsumer::Client, shell.pid())).expect("watched");
        shell.run();
        let cpu = read(&mut probe);
        assert_time(&cpu, CpuConsumer::Client, shell.family_time(), 5);
        let shares = cpu.shares.iter().filter(|share| share.consumer == CpuConsumer::Client).count();
        assert!(shares <= 2, "one name: {cpu:#?}");
    });
}

#[test]
fn cpu_uses_names_that_threads_set() {
    in_one_of_five(|| {
        let Some(mut probe) = traced() else { return };
        probe.start(&watch(CpuConsumer::Client, std::process::id())).expect("watched");
        let thread = std::thread::Builder::new().name("named-later".into());
        thread.spawn(|| spin(150 * MS)).expect("a thread").join().expect("no panic");
        let cpu = read(&mut probe);
        let named = cpu.shares.iter().find(|share| share.thread.as_deref() == Some("named-later"));
        let time = named.map_or(0, |share| share.time.0);
        let apart = time_of(&cpu, CpuConsumer::Softirq) + time_of(&cpu, CpuConsumer::Irq) + cpu.steal.0;
        assert!(time + apart >= 148 * MS, "{cpu:#?}");
    });
}

#[test]
fn cpu_of_namespace_or_control_group_belongs_to_its_owner() {
    in_one_of_five(|| {
        let Some(mut probe) = traced() else { return };
        let Ok(namespace) = sys::netns::NetNs::create("of a test") else { return };
        let shell = Shell::new(SPIN, Some(&namespace));
        let inode = std::fs::metadata(format!("/proc/{}/ns/net", shell.pid())).expect("alive").ino();
        let of_namespace =
            Subject { pids: Vec::new(), namespaces: vec![inode], ..subject(CpuConsumer::Server, 0) };
        let group = std::fs::read_to_string("/proc/self/cgroup").expect("Linux");
        let group = group.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or_default();
        let group = std::fs::metadata(format!("/sys/fs/cgroup{group}")).map(|folder| folder.ino());
        let cgroups = group.into_iter().collect();
        let of_group = Subject { pids: Vec::new(), cgroups, ..subject(CpuConsumer::Client, 0) };
        let grouped = !of_group.cgroups.is_empty();
        probe
            .start(&Watch { subjects: vec![of_namespace, of_group], latency_breakdown: None })
            .expect("watched");
        shell.run();
        spin(50 * MS);
        let cpu = read(&mut probe);
        assert_time(&cpu, CpuConsumer::Server, shell.time(), 5);
        assert!(!grouped || time_of(&cpu, CpuConsumer::Client) >= 45 * MS, "{cpu:#?}");
    });
}

#[test]
fn cpu_of_loopback_flood_is_softirq_time() {
    let Some(mut probe) = traced() else { return };
    let Ok(namespace) = sys::netns::NetNs::create("of a test") else { return };
    probe.start(&Watch::default()).expect("watched");
    let spent = namespace.run_in(flood).and_then(|sent| sent).expect("new namespace");
    let cpu = read(&mut probe);
    assert!(time_of(&cpu, CpuConsumer::Softirq) >= spent / 20, "sent for {spent} ns: {cpu:#?}");
    let by_cpu = cpu
        .shares
        .iter()
        .filter(|share| share.consumer == CpuConsumer::Softirq)
        .all(|share| share.cpu.is_some());
    assert!(by_cpu || time_of(&cpu, CpuConsumer::Softirq) == 0, "{cpu:#?}");
}

fn flood() -> sys::Result<u64> {
    plumb_tests::bring_loopback_up();
    let to = std::net::UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
    let from = std::net::UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
    let server = to.local_addr().expect("bound");
    let before = sys::clock::thread_cpu();
    while sys::clock::thread_cpu() - before < 300 * MS {
        from.send_to(&[7; 64], server).expect("loopback accepts all");
    }
    Ok(sys::clock::thread_cpu() - before)
}

#[test]
fn cpu_attribution_adds_up_to_busy_time() {
    assert_closure(|| {
        std::thread::scope(|scope| {
            scope.spawn(|| spin(1000 * MS));
            spin(1000 * MS);
        });
    });
}

/// With idle wake-ups, most of the work happens while a CPU switches from idle to a task.
#[test]
fn cpu_attribution_adds_up_with_idle_wakeups() {
    let [one, other, ..] = sys::affinity::available()[..] else { return };
    assert_closure(|| {
        let (mut here, mut there) = std::os::unix::net::UnixStream::pair().expect("Linux");
        let until = sys::clock::monotonic() + 800 * MS;
        std::thread::scope(|scope| {
            scope.spawn(move || {
                sys::affinity::pin_thread(&[other]).expect("available CPU");
                let mut byte = [0];
                while there.read_exact(&mut byte).is_ok() && there.write_all(&byte).is_ok() {}
            });
            scope.spawn(move || {
                sys::affinity::pin_thread(&[one]).expect("available CPU");
                while sys::clock::monotonic() < until {
                    here.write_all(&[1]).and_then(|()| here.read_exact(&mut [0])).expect("replies");
                }
            });
        });
    });
}

/// Checks that in one of three attempts, the total is within 5 % of the busy time.
fn assert_closure(work: impl Fn()) {
    let Some(mut probe) = traced() else { return };
    let mut rests = Vec::new();
    while rests.len() < 3 {
        probe.start(&Watch::default()).expect("watched");
        work();
        let cpu = read(&mut probe);
        rests.push((cpu.busy.0.abs_diff(sum(&cpu)) as f64 / cpu.busy.0 as f64, cpu));
        if rests.iter().any(|(rest, _)| *rest <= 0.05) {
            return;
        }
    }
    panic!("{rests:#?}");
}

#[test]
fn cpu_is_equal_in_two_probes() {
    in_one_of_five(|| {
        let (Some(mut one), Some(mut other)) = (traced(), traced()) else { return };
        let shell = Shell::new(SPIN, None);
        one.start(&watch(CpuConsumer::Client, shell.pid())).expect("watched");
        other.start(&watch(CpuConsumer::Server, shell.pid())).expect("watched");
        shell.run();
        one.stop();
        let (one, other) = (read(&mut one), read(&mut other));
        assert_time(&one, CpuConsumer::Client, time_of(&other, CpuConsumer::Server), 1);
        assert_time(&other, CpuConsumer::Server, shell.time(), 1);
    });
}

#[test]
fn cpu_results_are_readable_and_constant_after_stop() {
    let Some(mut probe) = traced() else { return };
    probe.start(&watch(CpuConsumer::Client, std::process::id())).expect("watched");
    spin(50 * MS);
    probe.stop();
    let stopped = read(&mut probe);
    assert!(time_of(&stopped, CpuConsumer::Client) >= 45 * MS, "{stopped:#?}");
    spin(50 * MS);
    assert_eq!(read(&mut probe), stopped);
    probe.start(&Watch::default()).expect("watched again");
    let again = read(&mut probe);
    assert_eq!(time_of(&again, CpuConsumer::Client), 0, "a restart discards earlier times: {again:#?}");
}

#[test]
fn cpu_programs_do_not_run_after_stop() {
    if traced().is_none() {
        return;
    }
    let mut kernel = Kernel::load().expect("loaded before");
    kernel.start(&Subjects::default()).expect("a start");
    let wait = || std::thread::sleep(std::time::Duration::from_millis(50));
    let begun = kernel.changes();
    wait();
    assert!(kernel.changes() > begun, "this thread slept and woke up");
    kernel.stop();
    let stopped = kernel.changes();
    wait();
    assert_eq!(kernel.changes(), stopped);
}

#[test]
fn cpu_probe_without_programs_finds_spinning_process() {
    in_one_of_five(|| {
        let mut probe = ProcSampling::new("the kernel has no BTF; use another".to_owned()).expect("/proc");
        let shell = Shell::new(&format!("({SPIN}) & {SPIN}; wait"), None);
        probe.start(&watch(CpuConsumer::Client, shell.pid())).expect("watched");
        let before = shell.family_time();
        shell.run();
        let known = shell.family_time() - before;
        probe.stop();
        let cpu = read(&mut probe);
        assert_eq!(cpu.reason.as_deref(), Some("the kernel has no BTF; use another"));
        // The ticks include the ended child, but not the current tick of the running task.
        assert!(
            time_of(&cpu, CpuConsumer::Client).abs_diff(known) <= known / 50 + 40 * MS,
            "{known}: {cpu:#?}"
        );
    });
}
