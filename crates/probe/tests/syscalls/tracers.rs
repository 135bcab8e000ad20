//! The same calls of the same process, counted by us and by strace or perf at once.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use samples::SyscallCount;

use crate::roles::KNOWN;
use crate::watched::{finish, pids, probe_or_skip, seen, waiting};

const PATIENCE: Duration = Duration::from_secs(20);
/// What perf's child does between its fork and its execve, where perf does not look yet.
const BEFORE_THE_PROGRAM: &[&str] =
    &["close", "execve", "fcntl", "prctl", "read", "rt_sigaction", "set_robust_list"];

/// Calls and errors by name.
pub(crate) type Table = BTreeMap<String, (u64, u64)>;
/// Name, calls and errors.
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
    probe.start(&pids(&[pid])).expect("it could be loaded");
    finish(child);
    let told = table(&end(tracer), of_strace);
    compare(told, ours(&mut *probe, |_| true));
    Ok(())
}

/// Every thread's calls, by its number. perf starts the program, so that it follows what that starts in turn; we watch
/// perf from before, and so all of it too.
///
/// perf loses calls now and then without a word, the more the busier the machine is: it has seen all in one of a few
/// times, or cannot tell. What it saw and we did not is a fault each time.
pub(crate) fn perf() -> Result<(), Failed> {
    let Some(mut probe) = probe_or_skip("perf trace") else { return Ok(()) };
    let mut lost = String::new();
    for _ in 0..5 {
        match perf_once(&mut *probe)? {
            Told::Nothing(because) => {
                println!("skipped: perf trace: {because}");
                return Ok(());
            }
            Told::Less(what) => lost = what,
            Told::All => return Ok(()),
        }
    }
    println!("skipped: perf trace: it lost calls each time, at last {lost}");
    Ok(())
}

/// What perf told.
enum Told {
    /// What we counted.
    All,
    /// Less of a call than we counted.
    Less(String),
    /// Nothing to compare with.
    Nothing(String),
}

fn perf_once(probe: &mut dyn probe::Probe) -> Result<Told, Failed> {
    let program = std::env::current_exe().expect("Linux");
    let mut shell = Command::new("sh");
    shell.args(["-c", "read go; exec perf trace -s -m 16M -- \"$0\" \"$1\""]).arg(program).arg(KNOWN);
    let mut tracer = shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let started = tracer.id();
    probe.start(&pids(&[started])).expect("it could be loaded");
    // A line for the shell, and a byte for the program.
    tracer.stdin.take().expect("piped").write_all(b"\ng")?;
    let said = end(tracer);
    let mut told = tables_of_perf(&said);
    if told.is_empty() || said.contains("LOST") {
        return Ok(Told::Nothing(format!(
            "it is not installed, may not trace here, or lost events: {said:.200}"
        )));
    }
    assert!(told.len() >= 8, "a first thread, four others and three children: {said}");
    // Numbers start again from below: the first is the next one after the tracer's.
    let first = *told.keys().min_by_key(|thread| thread.wrapping_sub(started)).expect("it is not empty");
    let ours = ours_by_thread(probe);
    let mut lost = None;
    for (thread, told) in &mut told {
        if *thread != first {
            // perf takes the return of `clone` in the new thread for a call.
            told.remove("clone");
        }
        let none = Table::new();
        let ours = ours.get(thread).unwrap_or(&none);
        for (call, told) in &*told {
            let counted = ours.get(call).copied().unwrap_or_default();
            let fault =
                format!("thread {thread}, the first is {first}: {call} {counted:?}, and perf saw {told:?}");
            assert!(counted.0 >= told.0 && counted.1 >= told.1, "{fault}");
        }
        for (call, counted) in ours {
            let before = *thread == first && BEFORE_THE_PROGRAM.contains(&call.as_str());
            let told = told.get(call).copied().unwrap_or_default();
            if told != *counted && !before {
                lost = Some(format!("{call} of thread {thread}: {told:?} of {counted:?}"));
            }
        }
    }
    Ok(lost.map_or(Told::All, Told::Less))
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

pub(crate) fn ours(probe: &mut dyn probe::Probe, of: impl Fn(&SyscallCount) -> bool) -> Table {
    let mut table = Table::new();
    for count in seen(probe).syscalls.iter().filter(|count| count.calls > 0 && of(count)) {
        let sum = table.entry(count.call.clone()).or_default();
        sum.0 += count.calls;
        sum.1 += count.errors.unwrap_or(0);
    }
    table
}

/// The lines of strace's table: name, calls, and errors where there were any.
pub(crate) fn of_strace(words: &[&str]) -> Option<Row> {
    let [name, calls, errors @ ..] = words else { return None };
    let errors = errors.first().map_or(Some(0), |text| text.parse().ok())?;
    (*name != "total").then_some(((*name).to_owned(), calls.parse().ok()?, errors))
}

/// The tables of perf, one for each thread: ` name (number), ...`, then a line a call with its name, calls, errors and
/// five times.
fn tables_of_perf(said: &str) -> BTreeMap<u32, Table> {
    let mut tables: BTreeMap<u32, Table> = BTreeMap::new();
    let mut thread = None;
    for line in said.lines() {
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
        let thread = count.tid.expect("few enough threads to be told one by one");
        let calls = (count.calls, count.errors.unwrap_or(0));
        tables.entry(thread).or_default().insert(count.call.clone(), calls);
    }
    tables
}

pub(crate) fn table(said: &str, line: fn(&[&str]) -> Option<Row>) -> Table {
    let mut table = Table::new();
    let words = |text: &str| line(&text.split_whitespace().collect::<Vec<_>>());
    for (name, calls, errors) in said.lines().filter_map(words) {
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

/// What it printed; it ends with the process that it watches.
pub(crate) fn end(mut tracer: Child) -> String {
    let mut said = String::new();
    tracer.stderr.take().expect("piped").read_to_string(&mut said).expect("text");
    tracer.wait().expect("own child");
    said
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

/// Whether it is in `read` of its standard input.
pub(crate) fn reads_its_input(pid: u32) -> bool {
    let call = std::fs::read_to_string(format!("/proc/{pid}/syscall"));
    call.is_ok_and(|call| call.starts_with("0 0x0 "))
}

pub(crate) fn status(pid: u32, field: &str) -> Option<String> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    Some(line.trim().to_owned())
}
