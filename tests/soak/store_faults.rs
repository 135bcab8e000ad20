//! Tests full disks and locked stores: no stored trial is lost, and every run completes.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::PathBuf,
    process::{Child, ChildStdin, Command, Stdio},
    thread::sleep,
    time::Duration,
};

use plumb_tests::{Output, ProcessGuard, Random, Sandbox, trials, wire};
use serde_json::Value;

use crate::{rounds, sandbox};

const WITHIN: Duration = Duration::from_secs(3);
/// SQLite itself waits up to five seconds.
const LONGEST_LOCK: Duration = Duration::from_secs(8);

pub(crate) fn full_disks() {
    let (sandbox, count) = (sandbox(), rounds(100));
    let file = sandbox.file("wire.toml", &wire(40, "100ms"));
    let (disk, mut random) = (Disk::of(&sandbox), Random::of(0x2545_f491));
    let (mut kept, mut full, mut complete): (Vec<Value>, usize, usize) = (Vec::new(), 0, 0);
    while full < count {
        let words = if kept.is_empty() { ["run", &file] } else { ["run", "--resume"] };
        let run = disk.begin(&words);
        sleep(WITHIN.mul_f64(random.fraction()));
        disk.fill();
        let ended = Output::from(run.wait_with_output().expect("it was started"));
        disk.clear();
        let now = disk.kept();
        let lost = kept.iter().filter(|trial| !now.contains(trial)).count();
        assert_eq!(lost, 0, "stored trials are lost: {ended:?}");
        match ended.status {
            Some(1) => {
                assert!(ended.err.contains("no space left"), "{ended:?}");
                full += 1;
                kept = now;
            }
            // The last trial was stored before the disk was full.
            Some(0 | 64) => {
                assert_eq!(now.len(), 80, "{ended:?}");
                complete += 1;
                kept = Vec::new();
            }
            _ => panic!("{ended:?}"),
        }
    }
    println!("  {full} full disks, {complete} complete runs");
}

struct Disk<'a> {
    sandbox: &'a Sandbox,
    path: PathBuf,
    holder: ProcessGuard,
}

impl<'a> Disk<'a> {
    fn of(sandbox: &'a Sandbox) -> Self {
        let path = sandbox.home().join("disk");
        fs::create_dir(&path).expect("the sandbox can be written");
        let script = "mount -t tmpfs -o size=64m tmpfs \"$0\" && echo mounted && exec sleep infinity";
        let mut holder = Command::new("unshare");
        let _ = holder
            .args(["--mount", "sh", "-c", script])
            .arg(&path)
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let mut holder = ProcessGuard(holder.spawn().expect("unshare starts"));
        let mut printed = String::new();
        let _ = BufReader::new(holder.0.stdout.take().expect("it is a pipe")).read_line(&mut printed);
        assert_eq!(printed, "mounted\n");
        Self { sandbox, path, holder }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let plumb = self.sandbox.command(arguments);
        let mut command = Command::new("nsenter");
        let _ = command.arg(format!("--mount=/proc/{}/ns/mnt", self.holder.0.id()));
        let _ = command.arg("--").arg(plumb.get_program()).args(plumb.get_args());
        let _ = command.envs(plumb.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let _ = command.env("PLUMB_DB", self.path.join("runs.db")).stdin(Stdio::null());
        command
    }

    fn begin(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("nsenter starts")
    }

    fn kept(&self) -> Vec<Value> {
        let output = self.command(&["report", "latest", "--format", "raw"]).output().map(Output::from);
        let record: Option<Value> = serde_json::from_str(&output.expect("nsenter starts").out).ok();
        record.map(|record| trials(&record).to_vec()).unwrap_or_default()
    }

    fn filler(&self) -> PathBuf {
        let inside = self.path.strip_prefix("/").expect("a temporary folder's place is whole");
        PathBuf::from(format!("/proc/{}/root", self.holder.0.id())).join(inside).join("filler")
    }

    fn fill(&self) {
        let mut file = fs::File::create(self.filler()).expect("own file");
        while file.write_all(&[1; 4096]).is_ok() {}
    }

    fn clear(&self) {
        fs::remove_file(self.filler()).expect("the file exists");
    }
}

pub(crate) fn locked_stores() {
    let (sandbox, count) = (sandbox(), rounds(100));
    let file = sandbox.file("wire.toml", &wire(40, "100ms"));
    let mut random = Random::of(0x1234_5678);
    let (mut locks, mut complete) = (0, 0);
    while locks < count {
        let mut run = sandbox.start(&["run", &file]);
        let ended = loop {
            sleep(WITHIN.mul_f64(random.fraction()));
            if let Some(ended) = run.try_wait().expect("it was started") {
                break ended;
            }
            // A write transaction blocks writers, and a read transaction blocks checkpoints.
            let begins = ["BEGIN IMMEDIATE;", "BEGIN; SELECT count(*) FROM trial;"];
            let lock = Lock::take(&sandbox, begins[random.below(begins.len())]);
            sleep(LONGEST_LOCK.mul_f64(random.fraction()));
            drop(lock);
            locks += 1;
        };
        assert!(ended.success(), "{ended} after {locks} locks");
        assert_eq!(trials(&sandbox.record()).len(), 80);
        complete += 1;
    }
    println!("  {locks} locks, {complete} complete runs");
}

/// Another program's lock. It is released when the program's standard input is closed.
struct Lock {
    _input: ChildStdin,
    _program: ProcessGuard,
}

impl Lock {
    fn take(sandbox: &Sandbox, begin: &str) -> Self {
        let mut program = Command::new("sqlite3");
        let _ = program
            .arg(sandbox.database())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut program = ProcessGuard(program.spawn().expect("it is installed"));
        let mut input = program.0.stdin.take().expect("it is a pipe");
        writeln!(input, ".timeout 10000\n{begin}\nSELECT 'has begun';").expect("it reads");
        let output = BufReader::new(program.0.stdout.take().expect("it is a pipe"));
        let has_begun = output.lines().map_while(Result::ok).any(|line| line == "has begun");
        assert!(has_begun, "sqlite3 takes a lock");
        Self { _input: input, _program: program }
    }
}
