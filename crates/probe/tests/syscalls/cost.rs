//! Measures the overhead of observing a system call. Needs a quiet machine: `cargo test --release -p probe --test
//! syscalls -- --ignored --nocapture`

use aya::Ebpf;
use aya::programs::{Program, RawTracePoint};
use libtest_mimic::Failed;
use probe::Probe;
use samples::ProbeKind;

use crate::watched::{pids, probe_or_skip};

const CALLS: u32 = 1000;
const REPEATS: usize = 200;
const ROUNDS: usize = 15;

pub(crate) fn per_call() -> Result<(), Failed> {
    let (Some(mut own), Some(mut others)) = (probe_or_skip("the cost"), probe_or_skip("the cost")) else {
        return Ok(());
    };
    sys::affinity::pin_thread(&sys::affinity::available()[..1])?;
    let mut arms: [Vec<f64>; 4] = Default::default();
    for _ in 0..ROUNDS {
        arms[0].push(nanos_per_call());
        let empty = empty_pair();
        arms[1].push(nanos_per_call());
        drop(empty);
        arms[2].push(watching(&mut *own, std::process::id()));
        arms[3].push(watching(&mut *others, std::process::id() + 1));
    }
    let quarter = |arm: &mut Vec<f64>| {
        arm.sort_by(f64::total_cmp);
        arm[ROUNDS / 4]
    };
    let [nothing, empty, watched, unwatched] = arms.each_mut().map(quarter);
    let floor = empty - nothing;
    println!("ns per getpid: {nothing:.0} without probes; added:");
    println!("  {floor:.0} by an empty pair of raw tracepoints");
    println!("  {:.0} if observed ({:.2} x the pair)", watched - nothing, (watched - nothing) / floor);
    println!("  {:.0} if another process is observed", unwatched - nothing);
    Ok(())
}

fn watching(probe: &mut dyn Probe, pid: u32) -> f64 {
    assert_eq!(probe.kind(), ProbeKind::Syscalls);
    probe.start(&pids(&[pid])).expect("loaded");
    let nanos = nanos_per_call();
    probe.stop();
    nanos
}

fn nanos_per_call() -> f64 {
    let mut measured: Vec<u64> = (0..REPEATS)
        .map(|_| {
            let begin = sys::clock::monotonic();
            (0..CALLS).for_each(|_| _ = std::hint::black_box(std::process::id()));
            sys::clock::monotonic() - begin
        })
        .collect();
    measured.sort_unstable();
    measured[REPEATS / 10] as f64 / f64::from(CALLS)
}

fn empty_pair() -> Ebpf {
    let object = aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/empty.bpf.o"));
    let mut loaded = Ebpf::load(object).expect("an empty program");
    for (name, tracepoint) in [("entered", "sys_enter"), ("left", "sys_exit")] {
        let Some(Program::RawTracePoint(program)) = loaded.program_mut(name) else { panic!("it has {name}") };
        RawTracePoint::load(program).and_then(|()| program.attach(tracepoint)).expect("loaded");
    }
    loaded
}
