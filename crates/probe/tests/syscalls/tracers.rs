//! The same calls of the same process, counted by us and by strace or perf at once.

use std::collections::BTreeMap;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use samples::SyscallCount;

use crate::roles::KNOWN;
use crate::watched::{finish, pids, probe_or_skip, seen, waiting};

const PATIENCE: Duration = Duration::from_secs(20);

/// Calls and errors by name.
type Table = BTreeMap<String, (u64, u64)>;
/// Name, calls and errors.
type Row = (String, u64, u64);

pub(crate) fn strace() -> Result<(), Failed> {
    let Some(mut probe) = probe_or_skip("strace") else { return Ok(()) };
    let child = waiting(KNOWN, &[]);
    let pid = child.id();
    let mut strace = Command::new("strace");
    strace.args(["-c", "-f", "-U", "name,calls,errors", "-p", &pid.to_string()]);
    let Some(tracer) = begin(strace, "strace") else { return finished(child) };
    if !until(|| status(pid, "TracerPid").is_some_and(|tracer| tracer != "0")) {
        println!("skipped: strace: it may not trace here");
        stop(tracer);
        return finished(child);
    }
    probe.start(&pids(&[pid])).expect("it could be loaded");
    finish(child);
    let told = table(&end(tracer), of_strace);
    compare(told, ours(&mut *probe, |_| true));
    Ok(())
}

/// Whether perf already looks cannot be seen; on a busy machine it may begin too late.
const ATTEMPTS: usize = 4;

pub(crate) fn perf() -> Result<(), Failed> {
    let Some(mut probe) = probe_or_skip("perf trace") else { return Ok(()) };
    for attempt in 1..=ATTEMPTS {
        let Some((told, ours)) = perf_once(&mut *probe)? else { return Ok(()) };
        if attempt == ATTEMPTS || without_edges(told.clone()) == without_edges(ours.clone()) {
            compare(told, ours);
            break;
        }
    }
    Ok(())
}

/// What both counted of the first thread: `perf trace -p` does not follow what a process starts. `None`, and a word
/// why, where perf cannot tell.
fn perf_once(probe: &mut dyn probe::Probe) -> Result<Option<(Table, Table)>, Failed> {
    let child = waiting(KNOWN, &[]);
    let pid = child.id();
    let mut perf = Command::new("perf");
    perf.args(["trace", "-s", "-m", "16M", "-p", &pid.to_string()]);
    let Some(tracer) = begin(perf, "perf trace") else { return finished(child).map(|()| None) };
    let tracing = tracer.id();
    if !until(|| holds_events(tracing)) {
        println!("skipped: perf trace: it may not trace here");
        stop(tracer);
        return finished(child).map(|()| None);
    }
    // The last of its descriptors is a moment before it looks.
    std::thread::sleep(Duration::from_millis(500));
    probe.start(&pids(&[pid])).expect("it could be loaded");
    finish(child);
    let said = end(tracer);
    if said.contains("LOST") {
        println!("skipped: perf trace: it lost events");
        return Ok(None);
    }
    Ok(Some((table(&said, of_perf), ours(probe, |count| count.tid == Some(pid)))))
}

/// Equal but for calls that one saw begin or end and the other did not: the first read, and the tracer's own stop.
fn compare(told: Table, ours: Table) {
    let (told, ours) = (without_edges(told), without_edges(ours));
    assert!(told.len() > 5, "{told:?}");
    assert_eq!(told, ours);
}

fn without_edges(mut table: Table) -> Table {
    table.remove("read");
    table.remove("restart_syscall");
    table
}

fn ours(probe: &mut dyn probe::Probe, of: impl Fn(&SyscallCount) -> bool) -> Table {
    let mut table = Table::new();
    for count in seen(probe).syscalls.iter().filter(|count| count.calls > 0 && of(count)) {
        let sum = table.entry(count.call.clone()).or_default();
        sum.0 += count.calls;
        sum.1 += count.errors.unwrap_or(0);
    }
    table
}

/// The lines of strace's table: name, calls, and errors where there were any.
fn of_strace(words: &[&str]) -> Option<Row> {
    let [name, calls, errors @ ..] = words else { return None };
    let errors = errors.first().map_or(Some(0), |text| text.parse().ok())?;
    (*name != "total").then_some(((*name).to_owned(), calls.parse().ok()?, errors))
}

/// The lines of perf's tables, one for each thread: name, calls, errors and five times.
fn of_perf(words: &[&str]) -> Option<Row> {
    let [name, calls, errors, _, _, _, _, _] = words else { return None };
    Some(((*name).to_owned(), calls.parse().ok()?, errors.parse().ok()?))
}

fn table(said: &str, line: fn(&[&str]) -> Option<Row>) -> Table {
    let mut table = Table::new();
    let words = |text: &str| line(&text.split_whitespace().collect::<Vec<_>>());
    for (name, calls, errors) in said.lines().filter_map(words) {
        let sum = table.entry(name).or_default();
        sum.0 += calls;
        sum.1 += errors;
    }
    table
}

fn begin(mut command: Command, name: &str) -> Option<Child> {
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    if child.is_err() {
        println!("skipped: {name}: it is not installed");
    }
    child.ok()
}

/// What it printed; it ends with the process that it watches.
fn end(mut tracer: Child) -> String {
    let mut said = String::new();
    tracer.stderr.take().expect("piped").read_to_string(&mut said).expect("text");
    tracer.wait().expect("own child");
    said
}

fn stop(mut tracer: Child) {
    let _ = tracer.kill();
    let _ = tracer.wait();
}

fn finished(child: Child) -> Result<(), Failed> {
    finish(child);
    Ok(())
}

fn until(done: impl Fn() -> bool) -> bool {
    let until = Instant::now() + PATIENCE;
    while !done() {
        if Instant::now() > until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

/// Whether a process has opened events of the kernel.
fn holds_events(pid: u32) -> bool {
    let Ok(descriptors) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    let targets = descriptors.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    targets.into_iter().any(|target| target.to_string_lossy().contains("perf_event"))
}

fn status(pid: u32, field: &str) -> Option<String> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    Some(line.trim().to_owned())
}
