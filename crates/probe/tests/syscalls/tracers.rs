//! Compares plumb's call counts with strace's or perf's for the same process at the same time.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use samples::SyscallCount;

use crate::roles::KNOWN;
use crate::watched::{finish, pids, probe_or_skip, seen, waiting};

const PATIENCE: Duration = Duration::from_secs(20);
/// Calls that perf's child makes between fork and execve. Perf does not count them.
const BEFORE_THE_PROGRAM: &[&str] =
    &["close", "execve", "fcntl", "prctl", "read", "rt_sigaction", "set_robust_list"];

pub(crate) type Table = BTreeMap<String, (u64, u64)>;
pub(crate) type Row = (String, u64, u64);

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
    probe.start(&pids(&[pid])).expect("loaded");
    finish(child);
    let perf_table = table(&end(tracer), of_strace);
    compare(perf_table, ours(&mut *probe, |_| true));
    Ok(())
}

/// The probe observes the program from before perf starts it. perf sometimes loses calls without an error, so only
/// one of several attempts has to match fully.
pub(crate) fn perf() -> Result<(), Failed> {
    let Some(mut probe) = probe_or_skip("perf trace") else { return Ok(()) };
    let mut lost = String::new();
    for _ in 0..5 {
        match perf_once(&mut *probe)? {
            PerfResult::Nothing(reason) => {
                println!("skipped: perf trace: {reason}");
                return Ok(());
            }
            PerfResult::Less(what) => lost = what,
            PerfResult::All => return Ok(()),
        }
    }
    println!("skipped: perf trace: it lost calls in every attempt, most recently {lost}");
    Ok(())
}

enum PerfResult {
    All,
    Less(String),
    Nothing(String),
}

fn perf_once(probe: &mut dyn probe::Probe) -> Result<PerfResult, Failed> {
    let program = std::env::current_exe().expect("Linux");
    let mut shell = Command::new("sh");
    shell.args(["-c", "read go; exec perf trace -s -m 16M -- \"$0\" \"$1\""]).arg(program).arg(KNOWN);
    let mut tracer = shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let started = tracer.id();
    probe.start(&pids(&[started])).expect("loaded");
    tracer.stdin.take().expect("piped").write_all(b"\ng")?;
    let output = end(tracer);
    let mut perf_table = tables_of_perf(&output);
    if perf_table.is_empty() || output.contains("LOST") {
        return Ok(PerfResult::Nothing(format!(
            "it is not installed, may not trace here, or lost events: {output:.200}"
        )));
    }
    assert!(perf_table.len() >= 8, "a first thread, four others and three children: {output}");
    // Thread ids wrap around, so the program's first thread is the one with the next id after the tracer's.
    let first = *perf_table.keys().min_by_key(|thread| thread.wrapping_sub(started)).expect("not empty");
    let ours = ours_by_thread(probe);
    let mut lost = None;
    for (thread, perf_table) in &mut perf_table {
        if *thread != first {
            perf_table.remove("clone");
        }
        let none = Table::new();
        let ours = ours.get(thread).unwrap_or(&none);
        for (call, perf_table) in &*perf_table {
            let counted = ours.get(call).copied().unwrap_or_default();
            let fault = format!(
                "thread {thread}, the first is {first}: {call} {counted:?}, but perf saw {perf_table:?}"
            );
            assert!(counted.0 >= perf_table.0 && counted.1 >= perf_table.1, "{fault}");
        }
        for (call, counted) in ours {
            let before = *thread == first && BEFORE_THE_PROGRAM.contains(&call.as_str());
            let perf_table = perf_table.get(call).copied().unwrap_or_default();
            if perf_table != *counted && !before {
                lost = Some(format!("{call} of thread {thread}: {perf_table:?} of {counted:?}"));
            }
        }
    }
    Ok(lost.map_or(PerfResult::All, PerfResult::Less))
}

fn compare(perf_table: Table, ours: Table) {
    let (perf_table, ours) = (without_edges(perf_table), without_edges(ours));
    assert!(perf_table.len() > 5, "{perf_table:?}");
    assert_eq!(perf_table, ours);
}

fn without_edges(mut table: Table) -> Table {
    table.remove("read");
    table.remove("restart_syscall");
    table
}

pub(crate) fn ours(probe: &mut dyn probe::Probe, of: impl Fn(&SyscallCount) -> bool) -> Table {
    let mut table = Table::new();
    for count in seen(probe).syscalls.iter().filter(|count| count.calls > 0 && of(count)) {
        let sum = table.entry(count.call.clone()).or_default();
        sum.0 += count.calls;
        sum.1 += count.errors.unwrap_or(0);
    }
    table
}

pub(crate) fn of_strace(words: &[&str]) -> Option<Row> {
    let [name, calls, errors @ ..] = words else { return None };
    let errors = errors.first().map_or(Some(0), |text| text.parse().ok())?;
    (*name != "total").then_some(((*name).to_owned(), calls.parse().ok()?, errors))
}

/// Parses one table per thread: ` name (number), ...`, followed by a line per call with its name, its number of calls
/// and errors, and five times.
fn tables_of_perf(output: &str) -> BTreeMap<u32, Table> {
    let mut tables: BTreeMap<u32, Table> = BTreeMap::new();
    let mut thread = None;
    for line in output.lines() {
        if line.contains(" events, ") {
            thread = line.rsplit_once('(').and_then(|(_, rest)| rest.split(')').next()?.parse().ok());
        }
        let words: Vec<_> = line.split_whitespace().collect();
        let [name, calls, errors, _, _, _, _, _] = words[..] else { continue };
        if let (Some(thread), Ok(calls), Ok(errors)) = (thread, calls.parse(), errors.parse()) {
            tables.entry(thread).or_default().insert(name.to_owned(), (calls, errors));
        }
    }
    tables
}

fn ours_by_thread(probe: &mut dyn probe::Probe) -> BTreeMap<u32, Table> {
    let mut tables: BTreeMap<u32, Table> = BTreeMap::new();
    for count in seen(probe).syscalls.iter().filter(|count| count.calls > 0) {
        let thread = count.tid.expect("few enough threads for separate rows");
        let calls = (count.calls, count.errors.unwrap_or(0));
        tables.entry(thread).or_default().insert(count.call.clone(), calls);
    }
    tables
}

pub(crate) fn table(output: &str, line: fn(&[&str]) -> Option<Row>) -> Table {
    let mut table = Table::new();
    let words = |text: &str| line(&text.split_whitespace().collect::<Vec<_>>());
    for (name, calls, errors) in output.lines().filter_map(words) {
        let sum = table.entry(name).or_default();
        sum.0 += calls;
        sum.1 += errors;
    }
    table
}

pub(crate) fn begin(mut command: Command, name: &str) -> Option<Child> {
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    if child.is_err() {
        println!("skipped: {name}: it is not installed");
    }
    child.ok()
}

pub(crate) fn end(mut tracer: Child) -> String {
    let mut output = String::new();
    tracer.stderr.take().expect("piped").read_to_string(&mut output).expect("text");
    tracer.wait().expect("own child");
    output
}

pub(crate) fn stop(mut tracer: Child) {
    let _ = tracer.kill();
    let _ = tracer.wait();
}

fn finished(child: Child) -> Result<(), Failed> {
    finish(child);
    Ok(())
}

pub(crate) fn until(done: impl Fn() -> bool) -> bool {
    let until = Instant::now() + PATIENCE;
    while !done() {
        if Instant::now() > until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

pub(crate) fn reads_its_input(pid: u32) -> bool {
    let call = std::fs::read_to_string(format!("/proc/{pid}/syscall"));
    call.is_ok_and(|call| call.starts_with("0 0x0 "))
}

pub(crate) fn status(pid: u32, field: &str) -> Option<String> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    Some(line.trim().to_owned())
}
