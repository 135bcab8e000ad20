//! Tests that plumb neither trusts nor touches other users' files, processes and labs.
#![expect(clippy::disallowed_macros, reason = "prints why a test returns early")]

use std::{
    fs,
    os::unix::{
        fs::{PermissionsExt, lchown, symlink},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use plumb_tests::{Output, Sandbox, wait_until};
use serde_json::{Value, json};

use crate::{PATIENCE, sandbox};

const PLUMB: &str = env!("CARGO_BIN_EXE_plumb");
const ATTACKER: u32 = 65_534;
const USER: u32 = 65_533;

const DOWN: &[&str] = &["lab", "down", "--all"];
const SHELL: &[&str] = &["lab", "shell", "node1", "--", "true"];
const GC: &[&str] = &["lab", "gc"];
const LIST: &[&str] = &["lab", "list"];

#[derive(Debug, Clone, Copy)]
enum Caller {
    Root,
    RuntimeDir(u32),
    TemporaryDir(u32),
}

impl Caller {
    const fn uid(self) -> u32 {
        match self {
            Self::Root => 0,
            Self::RuntimeDir(uid) | Self::TemporaryDir(uid) => uid,
        }
    }
}

struct Place {
    sandbox: Sandbox,
    caller: Caller,
}

impl Place {
    fn of(caller: Caller) -> Self {
        let place = Self { sandbox: sandbox(), caller };
        mode(place.sandbox.home(), 0o1777);
        fs::create_dir_all(place.folder()).expect("the sandbox can be written");
        mode(&place.folder(), 0o755);
        owner(&place.folder(), caller.uid());
        place
    }

    fn folder(&self) -> PathBuf {
        match self.caller {
            Caller::Root | Caller::RuntimeDir(_) => self.sandbox.run(),
            Caller::TemporaryDir(uid) => self.sandbox.home().join(format!("plumb-{uid}")),
        }
    }

    fn labs(&self) -> PathBuf {
        self.folder().join("plumb/labs")
    }

    fn entry(&self) -> PathBuf {
        self.labs().join("quick.json")
    }

    fn enter(&self, record: &Value) {
        let labs = self.labs();
        fs::create_dir_all(&labs).expect("the sandbox can be written");
        fs::write(self.entry(), record.to_string()).expect("the sandbox can be written");
        for (path, bits) in
            [(labs.parent().expect("it has one"), 0o700), (&labs, 0o700), (&self.entry(), 0o600)]
        {
            mode(path, bits);
            owner(path, self.caller.uid());
        }
    }

    fn plumb(&self, words: &[&str]) -> Output {
        self.run(&[&[PLUMB], words].concat())
    }

    fn run(&self, program: &[&str]) -> Output {
        let mut command = match self.caller {
            Caller::Root => self.sandbox.command(&program[1..]),
            Caller::RuntimeDir(uid) | Caller::TemporaryDir(uid) => by(uid, program),
        };
        match self.caller {
            Caller::Root => {}
            Caller::RuntimeDir(_) => _ = command.env("XDG_RUNTIME_DIR", self.folder()),
            Caller::TemporaryDir(_) => _ = command.env("TMPDIR", self.sandbox.home()),
        }
        command.output().map(Output::from).expect("plumb was built")
    }
}

fn by(uid: u32, program: &[&str]) -> Command {
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).uid(uid).gid(uid).current_dir("/").stdin(Stdio::null());
    command.env_remove("XDG_RUNTIME_DIR").env("NO_COLOR", "1");
    command
}

struct Process(Child);

impl Process {
    fn start(uid: u32, program: &[&str]) -> Self {
        Self(by(uid, program).stdout(Stdio::null()).spawn().expect("every system has it"))
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }

    fn is_alive(&mut self) -> bool {
        self.0.try_wait().expect("a child of this test").is_none()
    }

    fn user_namespace(&self) -> PathBuf {
        fs::read_link(format!("/proc/{}/ns/user", self.pid())).unwrap_or_default()
    }

    fn sleeps(&self) {
        let name = || fs::read_to_string(format!("/proc/{}/comm", self.pid())).unwrap_or_default();
        assert!(wait_until(PATIENCE, || name().trim() == "sleep"), "it is `{}`", name());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const SLEEP: &[&str] = &["sleep", "600"];

fn mode(path: &Path, bits: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(bits)).expect("as root");
}

fn owner(path: &Path, uid: u32) {
    lchown(path, Some(uid), Some(uid)).expect("as root");
}

fn record() -> Value {
    let place = Place::of(Caller::Root);
    let up = place.plumb(&["lab", "up", "quick"]);
    let text = fs::read_to_string(place.entry());
    let down = place.plumb(&["lab", "down", "quick"]);
    assert_eq!((up.status, down.status), (Some(0), Some(0)), "{up:?} {down:?}");
    serde_json::from_str(&text.expect("a running lab is listed")).expect("JSON")
}

fn held_by(record: &Value, process: u32) -> Value {
    let mut record = record.clone();
    let fields = record.as_object_mut().expect("an object").values_mut();
    let holder = { fields }.find(|field| field.get("start_time").is_some()).expect("the holder");
    *holder = json!({ "pid": process, "start_time": start_time(process) });
    record
}

fn start_time(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
    let fields = text[text.rfind(')').expect("a name in brackets")..].split_whitespace();
    { fields }.nth(20).and_then(|field| field.parse().ok()).expect("proc_pid_stat(5)")
}

struct Attack {
    done: fn(&Place),
    reported: &'static str,
}

const ATTACKS: &[Attack] = &[
    Attack { done: |place| hand_over(&place.folder()), reported: "belongs to user 65534" },
    Attack { done: |place| hand_over(&place.folder().join("plumb")), reported: "belongs to user 65534" },
    Attack { done: |place| hand_over(&place.labs()), reported: "belongs to user 65534" },
    Attack { done: |place| mode(&place.labs(), 0o770), reported: "mode 0770" },
    Attack { done: |place| mode(&place.labs(), 0o755), reported: "mode 0755" },
    Attack { done: |place| mode(&place.folder().join("plumb"), 0o777), reported: "mode 0777" },
    Attack { done: |place| planted_link(place, 0o1777, ATTACKER), reported: "link" },
    Attack {
        done: |place| planted_link(place, 0o755, place.caller.uid()),
        reported: "belongs to user 65534",
    },
    Attack { done: linked_entry, reported: "link" },
    Attack { done: |place| hand_over(&place.entry()), reported: "belongs to user 65534" },
    Attack { done: |place| mode(&place.entry(), 0o660), reported: "mode 0660" },
];

fn planted_link(place: &Place, parent: u32, linker: u32) {
    let (there, elsewhere) = (place.folder().join("plumb"), place.folder().join("elsewhere"));
    fs::rename(&there, &elsewhere).expect("as root");
    symlink(&elsewhere, &there).expect("as root");
    owner(&there, linker);
    mode(&place.folder(), parent);
    if linker == place.caller.uid() {
        hand_over(&elsewhere);
    }
}

fn hand_over(path: &Path) {
    mode(path, 0o755);
    owner(path, ATTACKER);
}

fn linked_entry(place: &Place) {
    let elsewhere = place.folder().join("elsewhere");
    fs::rename(place.entry(), &elsewhere).expect("as root");
    symlink(&elsewhere, place.entry()).expect("as root");
}

pub(crate) fn list_that_others_could_write() {
    let record = record();
    for caller in [Caller::Root, Caller::RuntimeDir(USER), Caller::TemporaryDir(USER)] {
        for (at, attack) in ATTACKS.iter().enumerate() {
            let place = Place::of(caller);
            let mut victim = Process::start(caller.uid(), SLEEP);
            place.enter(&held_by(&record, victim.pid()));
            let listed = place.plumb(LIST);
            assert!(listed.out.contains(&victim.pid().to_string()), "the lab is listed: {listed:?}");
            (attack.done)(&place);
            for words in [DOWN, SHELL, GC, LIST] {
                let output = place.plumb(words);
                assert!(victim.is_alive(), "{caller:?} {at} {words:?}: {output:?}");
                assert_eq!(output.status, Some(1), "{caller:?} {at} {words:?}: {output:?}");
                assert!(output.err.contains(attack.reported), "{caller:?} {at} {words:?}: {}", output.err);
                assert!(output.err.contains("plumb"), "the place is named: {}", output.err);
                assert!(place.entry().exists(), "{caller:?} {at} {words:?}: the entry was removed");
            }
        }
    }
}

pub(crate) fn environment_of_another_user() {
    let theirs = Place::of(Caller::RuntimeDir(ATTACKER));
    let up = theirs.plumb(&["lab", "up", "quick"]);
    if is_forbidden(&up) {
        return;
    }
    let lab: Value =
        serde_json::from_str(&fs::read_to_string(theirs.entry()).expect("listed")).expect("JSON");
    let mut victim = Process::start(0, SLEEP);
    let roots = sandbox();
    for variable in ["XDG_RUNTIME_DIR", "TMPDIR"] {
        for (record, words) in
            [(&lab, &[SHELL, LIST][..]), (&held_by(&lab, victim.pid()), &[DOWN, SHELL, GC, LIST])]
        {
            theirs.enter(record);
            for words in words {
                let output = roots.command(words).env(variable, theirs.folder()).output();
                let output = Output::from(output.expect("plumb was built"));
                assert!(victim.is_alive(), "{words:?}: {output:?}");
                let is_shell = *words == SHELL;
                assert_eq!(output.status, Some(i32::from(is_shell)), "{words:?}: {output:?}");
                let reported = if is_shell { &output.err } else { &output.out };
                assert!(
                    !reported.contains("quick") && (reported.contains("no lab is up") || *words != LIST),
                    "{reported}"
                );
            }
        }
    }
    theirs.enter(&lab);
    let down = theirs.plumb(&["lab", "down", "quick"]);
    assert_eq!(down.status, Some(0), "its own user can still remove it: {down:?}");
}

pub(crate) fn holder_of_another_user() {
    let (place, record) = (Place::of(Caller::Root), record());
    let mut theirs = Process::start(ATTACKER, SLEEP);
    place.enter(&held_by(&record, theirs.pid()));
    for words in [DOWN, SHELL] {
        let output = place.plumb(words);
        assert!(theirs.is_alive() && output.status == Some(1), "{words:?}: {output:?}");
        assert!(output.err.contains("belongs to user 65534"), "{words:?}: {}", output.err);
    }
    // Another process has reused this PID.
    let mut victim = Process::start(0, SLEEP);
    let mut later = held_by(&record, victim.pid());
    let start_time = start_time(victim.pid()) - 1;
    *later.pointer_mut("/holder/start_time").expect("the holder") = json!(start_time);
    place.enter(&later);
    let output = place.plumb(SHELL);
    assert!(output.status == Some(1) && output.err.contains("no lab is up"), "{output:?}");
    for words in [DOWN, LIST, GC] {
        let output = place.plumb(words);
        assert!(victim.is_alive() && output.status == Some(0), "{words:?}: {output:?}");
    }
    assert!(!place.entry().exists(), "the entry was removed");
}

pub(crate) fn namespaces_of_another_user() {
    let (place, mut record) = (Place::of(Caller::Root), record());
    let own = fs::read_link("/proc/self/ns/user").expect("Linux");
    let world = ["unshare", "--user", "--map-root-user", "--net", "sleep", "600"];
    let mut theirs = Process::start(ATTACKER, &world);
    let moved = wait_until(PATIENCE, || theirs.user_namespace() != own);
    if moved && !theirs.is_alive() {
        println!("returns early: this host forbids user namespaces");
        return;
    }
    theirs.sleeps();
    // A process of root holds the network namespace. It runs once inside and once outside the user namespace.
    let hold = format!("exec 7</proc/{0}/ns/net; exec", theirs.pid());
    let enter = format!("{hold} nsenter --preserve-credentials --user --target {} sleep 600", theirs.pid());
    for (script, reported) in [(enter, "user namespace"), (format!("{hold} sleep 600"), "network namespace")]
    {
        let holder = Process::start(0, &["sh", "-c", &script]);
        holder.sleeps();
        for host in record["hosts"].as_array_mut().expect("a list") {
            host["descriptor"] = json!(7);
        }
        place.enter(&held_by(&record, holder.pid()));
        let output = place.plumb(SHELL);
        assert_eq!(output.status, Some(1), "{script}: {output:?}");
        assert!(output.err.contains(reported), "{script}: {}", output.err);
    }
}

pub(crate) fn user_without_rights() {
    let life = "set -e; $0 lab up quick; $0 lab list; $0 lab shell node1 -- cat /proc/net/dev; $0 lab down";
    let direct: &[&str] = &["sh", "-c", life, PLUMB];
    let nested: &[&str] = &["unshare", "--user", "--map-root-user", "sh", "-c", life, PLUMB];
    for caller in [Caller::RuntimeDir(USER), Caller::TemporaryDir(USER)] {
        for program in [direct, nested] {
            let output = Place::of(caller).run(program);
            if is_forbidden(&output) {
                return;
            }
            assert_eq!(output.status, Some(0), "{caller:?} {program:?}: {output:?}");
            for reported in [" process ", "eth0", "removed lab quick"] {
                assert!(output.out.contains(reported), "{caller:?} {program:?}: {output:?}");
            }
        }
    }
}

fn is_forbidden(output: &Output) -> bool {
    let settings = ["max_user_namespaces", "unprivileged_userns", "unshare failed"];
    let is_forbidden = output.status != Some(0) && settings.iter().any(|name| output.err.contains(name));
    if is_forbidden {
        println!("returns early: {}", output.err);
    }
    is_forbidden
}
