//! The observed programs. They make a known number of calls, or calls of known duration, and use `getppid`
//! only for these.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::parent_id;
use std::process::{Command, Stdio};
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use probe::probe;
use samples::ProbeKind;

use crate::watched::pids;

pub(crate) const KNOWN_CALLS: [u64; 3] = [1000, 2000, 700];
pub(crate) const KNOWN: &str = "role-known";
pub(crate) const CHILD: &str = "role-child";
pub(crate) const CALLS: &str = "role-calls";
pub(crate) const SPLIT: &str = "role-split";
pub(crate) const CROWD: &str = "role-crowd";
pub(crate) const COME_AND_GO: &str = "role-come-and-go";
pub(crate) const TRACE: &str = "role-trace";
pub(crate) const GUEST: &str = "role-guest";

const NAP: Duration = Duration::from_millis(200);

type Role = fn(&[String]);

pub(crate) fn role(name: &str) -> Option<Role> {
    Some(match name {
        KNOWN => |_| known(),
        CHILD => |_| call(KNOWN_CALLS[2]),
        CALLS => |arguments| {
            wait_for_go();
            call(number(arguments));
        },
        SPLIT => |_| split(),
        CROWD => |arguments| crowd(number(arguments)),
        COME_AND_GO => |arguments| come_and_go(number(arguments)),
        GUEST => |_| {
            wait_for_go();
            // The probe's results show whether the guest could run.
            let _ = sys::kvm::try_run();
        },
        TRACE => |arguments| trace(number(arguments)),
        _ => return None,
    })
}

fn number(arguments: &[String]) -> u64 {
    arguments.first().and_then(|text| text.parse().ok()).expect("the tests pass a number")
}

fn wait_for_go() {
    std::io::stdin().lock().read_exact(&mut [0]).expect("sent by the test");
}

fn call(times: u64) {
    for _ in 0..times {
        std::hint::black_box(parent_id());
    }
}

fn known() {
    wait_for_go();
    let threads: Vec<_> = (0..4)
        .map(|n| thread::Builder::new().name(format!("caller {n}")).spawn(|| call(KNOWN_CALLS[1])))
        .collect();
    call(KNOWN_CALLS[0]);
    let (mut zero, mut null) = (open("/dev/zero"), File::create("/dev/null").expect("Linux"));
    for _ in 0..300 {
        zero.read_exact(&mut [0; 64]).expect("Linux");
    }
    for _ in 0..500 {
        null.write_all(&[0; 100]).expect("Linux");
    }
    for _ in 0..50 {
        assert!(File::open("/no/such/file").is_err());
    }
    for _ in 0..3 {
        let mut child = Command::new(std::env::current_exe().expect("Linux"));
        let status = child.arg(CHILD).stdin(Stdio::null()).status().expect("own executable");
        assert!(status.success());
    }
    for thread in threads {
        thread.expect("a thread").join().expect("cannot fail");
    }
}

fn open(path: &str) -> File {
    File::open(path).expect("Linux")
}

fn split() {
    wait_for_go();
    let mut output = String::new();
    let mut timed = |kind: &str, act: &mut dyn FnMut()| {
        let (wall, cpu) = (sys::clock::monotonic(), sys::clock::thread_cpu());
        act();
        let (wall, cpu) = (sys::clock::monotonic() - wall, sys::clock::thread_cpu() - cpu);
        output.push_str(&format!("{kind} {wall} {cpu}\n"));
    };
    timed("sleep", &mut || (0..4).for_each(|_| thread::sleep(NAP / 2)));
    let mut buffer = vec![1; 16 << 20];
    timed("random", &mut || (0..10).for_each(|_| getrandom::fill(&mut buffer).expect("Linux")));
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let other = Arc::clone(&pair);
    let waker = thread::spawn(move || {
        thread::sleep(NAP);
        *other.0.lock().expect("no panic") = true;
        other.1.notify_one();
    });
    timed("futex", &mut || {
        let held = pair.0.lock().expect("no panic");
        drop(pair.1.wait_while(held, |done| !*done).expect("no panic"));
    });
    waker.join().expect("cannot fail");
    let (mut reader, mut writer) = std::io::pipe().expect("Linux");
    let reporter = thread::spawn(move || {
        thread::sleep(NAP);
        writer.write_all(b"x").expect("is read");
    });
    timed("pipe", &mut || reader.read_exact(&mut [0]).expect("is written"));
    reporter.join().expect("cannot fail");
    print!("{output}");
}

fn crowd(threads: u64) {
    wait_for_go();
    let all = Arc::new(Barrier::new(threads as usize));
    let started: Vec<_> = (0..threads)
        .map(|_| {
            let all = Arc::clone(&all);
            let work = move || {
                call(10);
                all.wait();
            };
            thread::Builder::new().stack_size(16 << 10).spawn(work).expect("a thread")
        })
        .collect();
    for thread in started {
        thread.join().expect("cannot fail");
    }
}

fn come_and_go(threads: u64) {
    wait_for_go();
    for _ in 0..threads {
        thread::spawn(|| call(10)).join().expect("cannot fail");
    }
}

fn trace(pid: u64) {
    let mut probe = probe(ProbeKind::Syscalls).expect("tried by the test");
    probe.start(&pids(&[pid as u32])).expect("loaded");
    for entry in std::fs::read_dir("/proc/self/fdinfo").expect("Linux") {
        let text = std::fs::read_to_string(entry.expect("Linux").path()).unwrap_or_default();
        for id in text.lines().filter_map(|line| line.strip_prefix("prog_id:")) {
            println!("{}", id.trim());
        }
    }
    println!("ready");
    wait_for_go();
}
