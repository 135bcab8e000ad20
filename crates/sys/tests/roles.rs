//! Tests that need whole processes. The program restarts itself in one of the roles below.
#![expect(clippy::disallowed_methods, clippy::disallowed_macros, reason = "tests wait, read and print")]

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};
use sys::child::{spawn_detached, spawn_in};
use sys::netns::NetNs;
use sys::process::{Process, is_alive, start_time};
use sys::userns::{self, UserNs};

const START_A_CHILD: &str = "role-start-a-child";
const START_DETACHED: &str = "role-start-detached";
const BECOME_ROOT: &str = "role-become-root";
const HOLD_A_NAMESPACE: &str = "role-hold-a-namespace";
const JOIN_A_CHILD: &str = "role-join-a-child";

/// Less than the lifetime of [`sleeper`].
const SOON: Duration = Duration::from_secs(30);

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some(START_A_CHILD) => start_a_child(),
        Some(START_DETACHED) => start_detached(),
        Some(BECOME_ROOT) => return become_root(),
        Some(HOLD_A_NAMESPACE) => hold_a_namespace(),
        Some(JOIN_A_CHILD) => join_a_child(),
        _ => return libtest_mimic::run(&Arguments::from_args(), trials()).exit_code(),
    }
    ExitCode::SUCCESS
}

fn trials() -> Vec<Trial> {
    vec![
        Trial::test("child_and_its_namespace_end_when_the_parent_is_killed", child_dies),
        Trial::test("detached_process_survives_when_the_parent_is_killed", detached_survives),
        Trial::test("unprivileged_process_becomes_root_of_its_own_namespaces", unprivileged),
        Trial::test("unprivileged_process_joins_the_user_namespace_of_its_child", joined),
    ]
}

fn sleeper() -> Command {
    let mut command = Command::new("sleep");
    command.arg("60").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn start_a_child() {
    let ns = NetNs::create("the child").ok();
    let mut child = spawn_in(&mut sleeper(), ns.as_ref(), "sleeper").expect("sleep exists");
    println!("{}", child.id());
    child.wait().expect("own child");
}

fn start_detached() {
    let mut child = spawn_detached(&mut sleeper(), "sleeper").expect("sleep exists");
    println!("{}", child.id());
    child.wait().expect("own child");
}

fn become_root() -> ExitCode {
    if userns::has_net_admin() {
        println!("already privileged");
        return ExitCode::FAILURE;
    }
    if let Err(error) = userns::enter_as_root() {
        println!("refused: {error}");
        return ExitCode::SUCCESS;
    }
    let ns = NetNs::create("test").and_then(|ns| ns.enter().map(|()| ns));
    let up = Command::new("ip").args(["link", "set", "lo", "up"]).status();
    assert!(up.is_ok_and(|status| status.success()), "may bring the loopback up");
    let answer = (effective_uid(), userns::has_net_admin(), userns::is_nested(), ns.map(|_| ()));
    println!("{answer:?}");
    ExitCode::SUCCESS
}

fn effective_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn hold_a_namespace() {
    match userns::enter_as_root() {
        Ok(()) => println!("ready"),
        Err(error) => println!("refused: {error}"),
    }
    std::thread::sleep(Duration::from_secs(60));
}

fn join_a_child() {
    let (mut child, line) = in_role(HOLD_A_NAMESPACE).expect("this program runs again");
    if line == "ready" {
        let started = start_time(child.id()).expect("running");
        let process = Process::own(child.id(), started).expect("own child").expect("running");
        let done = UserNs::of(&process).and_then(|namespace| namespace.join());
        println!("{:?}", (done, effective_uid(), userns::has_net_admin(), userns::is_nested()));
    } else {
        println!("{line}");
    }
    child.kill().expect("own child");
    child.wait().expect("own child");
}

fn in_role(role: &str) -> Result<(Child, String), Failed> {
    let mut parent = Command::new(std::env::current_exe()?).arg(role).stdout(Stdio::piped()).spawn()?;
    let mut line = String::new();
    BufReader::new(parent.stdout.take().ok_or("stdout is piped")?).read_line(&mut line)?;
    Ok((parent, line.trim().to_owned()))
}

fn outlived(role: &str, within: Duration) -> Result<(u32, bool), Failed> {
    let (mut parent, line) = in_role(role)?;
    let pid: u32 = line.parse()?;
    let started = start_time(pid)?;
    assert!(is_alive(pid, started), "the child runs while its parent does");
    parent.kill()?;
    parent.wait()?;
    let begin = Instant::now();
    while is_alive(pid, started) && begin.elapsed() < within {
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok((pid, is_alive(pid, started)))
}

fn kill(pid: u32) -> Result<(), Failed> {
    Process::own(pid, start_time(pid)?)?.map_or(Ok(()), |process| process.kill()).map_err(Failed::from)
}

fn child_dies() -> Result<(), Failed> {
    let (pid, alive) = outlived(START_A_CHILD, SOON)?;
    if alive {
        kill(pid)?;
        return Err("the child outlived its parent".into());
    }
    Ok(())
}

fn detached_survives() -> Result<(), Failed> {
    let (pid, alive) = outlived(START_DETACHED, Duration::from_millis(300))?;
    kill(pid)?;
    if alive { Ok(()) } else { Err("the detached process died with its parent".into()) }
}

fn unprivileged() -> Result<(), Failed> {
    without_rights(BECOME_ROOT, "(0, true, true, Ok(()))")
}

fn joined() -> Result<(), Failed> {
    without_rights(JOIN_A_CHILD, "(Ok(()), 0, true, true)")
}

fn without_rights(role: &str, expected: &str) -> Result<(), Failed> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(role);
    if effective_uid() == 0 {
        command.uid(65_534).gid(65_534);
    }
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            println!("returns early: an unprivileged user cannot run the test program: {error}");
            return Ok(());
        }
    };
    let answer = String::from_utf8(output.stdout)?;
    if answer.starts_with("refused: ") {
        println!("returns early: {}", answer.trim());
        // A host can forbid this in two ways. Any other error is a bug.
        let forbidden = ["cannot create user namespace", "apparmor_restrict_unprivileged_userns = 1"];
        return if forbidden.iter().any(|way| answer.contains(way)) { Ok(()) } else { Err(answer.into()) };
    }
    if answer.trim() != expected {
        return Err(format!("{answer}{}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(())
}
