//! Tests hostile files, addresses and SSH hosts, which plumb must refuse early and with bounded memory.

use std::{
    fmt::Write as _,
    fs::{self, File},
    io::Write,
    os::unix::fs::PermissionsExt,
    process::{Command, Stdio},
    time::Duration,
};

use flate2::{Compression, write::GzEncoder};
use plumb_tests::{Output, Sandbox, signal, wait_until};

use super::{
    memory, sandbox,
    stored_runs::{self, GOLDEN},
};

const SECRET: &str = "s3cr3t";
/// The limit on the address space, in KiB.
const READING_KIB: u32 = 3 << 20;

pub(super) fn mistaken_addresses() {
    for address in [
        format!("host=h password={SECRET}"),
        format!("password='{SECRET}' host=h dbname=runs"),
        format!("postgres:/u:{SECRET}@h/runs"),
        format!("postgresql:u:{SECRET}@h/runs"),
        format!("u:{SECRET}@h:5432/runs"),
        format!("//u:{SECRET}@h/runs"),
        format!("\"postgres://u:{SECRET}@h/runs\""),
        format!("Server=h;Uid=u;Pwd={SECRET}"),
    ] {
        for words in [
            &["runs"][..],
            &["report", "latest"],
            &["import", "log.txt"],
            &["run", "quick", "--quiet"],
            &["watch", "--dry-run", "plan.toml"],
            &["scenario", "show", "nothing"],
            &["config"],
        ] {
            for by_option in [false, true] {
                let sandbox = sandbox();
                let folder = sandbox.home().join("here");
                fs::create_dir(&folder).expect("own file");
                let mut command = sandbox.command(words);
                command.current_dir(&folder);
                match by_option {
                    true => command.args(["--db", &address]).env_remove("PLUMB_DB"),
                    false => command.env("PLUMB_DB", &address),
                };
                let output = Output::from(command.output().expect("plumb was built"));
                let shown = format!("{words:?} {address}: {output:?}");
                assert!(words == ["config"] || output.status != Some(0), "{shown}");
                assert!(!format!("{}{}", output.out, output.err).contains(SECRET), "{shown}");
                assert_eq!(
                    fs::read_dir(&folder).expect("own file").count(),
                    0,
                    "a file was created: {shown}"
                );
                if words == ["runs"] {
                    let form = "postgres://USER@HOST:PORT/DATABASE";
                    assert!(output.err.contains(form), "{shown}");
                }
            }
        }
    }
}

fn limited(sandbox: &Sandbox, words: &[&str], most: u32) -> Output {
    let plumb = sandbox.command(words);
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -v {most} && exec \"$@\""), "sh"]);
    command.arg(plumb.get_program()).args(plumb.get_args());
    for (name, value) in plumb.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    Output::from(command.output().expect("sh is installed"))
}

fn packed(sandbox: &Sandbox, name: &str, [begin, piece, end]: [&str; 3], length: usize) -> String {
    let path = sandbox.home().join(name);
    let mut packer = GzEncoder::new(File::create(&path).expect("own file"), Compression::fast());
    let pieces = piece.repeat((1 << 20) / piece.len() + 1);
    packer.write_all(begin.as_bytes()).expect("own file");
    for _ in 0..length / pieces.len() {
        packer.write_all(pieces.as_bytes()).expect("own file");
    }
    packer.write_all(end.as_bytes()).and_then(|()| packer.finish().map(drop)).expect("own file");
    path.to_str().expect("temporary folders have plain names").to_owned()
}

pub(super) fn large_when_decoded() {
    let sandbox = stored_runs::with_run(GOLDEN);
    let record = sandbox.succeed(&["report", "latest", "-f", "raw"]).out;
    let value: serde_json::Value = serde_json::from_str(&record).expect("a record");
    let (header, trial) = (value["header"].to_string(), value["trials"][0].to_string());
    let begin = |header: &str, rest: &str| format!("{{\"header\":{header},{rest}");
    let trials = [begin(&header, "\"trials\":["), format!("{trial},"), format!("{trial}]}}")];
    let objects = [begin(&header, "\"trials\":[],\"other\":["), "{},".to_owned(), "{}]}".to_owned()];
    for (name, words, parts, length) in [
        ("trials", &["report", "-f", "raw"][..], &trials, 300 << 20),
        ("objects", &["compare", "latest"], &objects, 64 << 20),
    ] {
        let parts = parts.each_ref().map(String::as_str);
        let file = packed(&sandbox, &format!("{name}.json.gz"), parts, length);
        let output = limited(&sandbox, &[words, &[&file]].concat(), READING_KIB);
        assert!(output.status.is_some_and(|status| status != 0), "{name} {words:?}: {output:?}");
        assert!(output.err.contains("more than 1024 MiB of memory"), "{name} {words:?}: {output:?}");
        fs::remove_file(file).expect("own file");
    }
}

pub(super) fn endless_records() {
    let sandbox = sandbox();
    let config = sandbox.file("vms.toml", memory::CONFIG);
    let looks = sandbox.file("looks", &"{\"schema\":1,\"vms\":[{}]}\n".repeat(3 << 20));
    for file in ["/dev/zero", &looks] {
        for words in [&["memory", "report"][..], &["rebalance", &config, "--replay"]] {
            let output = limited(&sandbox, &[words, &[file]].concat(), READING_KIB);
            assert!(output.status.is_some_and(|status| status != 0), "{words:?} {file}: {output:?}");
            assert!(output.err.contains("more than 1024 MiB of memory"), "{words:?} {file}: {output:?}");
        }
    }
    let address = "postgres://u@127.0.0.1:9/runs?sslmode=verify-full&sslrootcert=/dev/zero";
    let output = limited(&sandbox, &["runs", "--db", address], READING_KIB);
    assert!(output.status == Some(1) && output.err.contains("longer than 4194304 bytes"), "{output:?}");
}

fn pairs(hosts: usize, rest: &str) -> String {
    let mut text = "schema = 1\nname = \"many\"\ntitle = \"Many\"\npairs = \"all\"\n".to_owned();
    (0..hosts).for_each(|host| writeln!(text, "[hosts.h{host}]\nat = \"ssh:h{host}\"").expect("text"));
    text + "[workloads.tcp]\nkind = \"stream\"\n" + rest
}

pub(super) fn many_pairs() {
    let sandbox = sandbox();
    let many = sandbox.file("many.toml", &pairs(500, "[schedule]\ntrials = 1000\n"));
    for words in [&["scenario", "check"][..], &["run", "--dry-run"]] {
        let output = limited(&sandbox, &[words, &[&many]].concat(), 1 << 20);
        assert_eq!(output.status, Some(64), "{words:?}: {output:?}");
        let words = output.err.split_whitespace().filter(|word| *word != "│");
        let printed = "249500 results with 1000 trials each are 249500000 trials; the limit is 5000000";
        assert!(words.collect::<Vec<_>>().join(" ").contains(printed), "{output:?}");
    }
    let few = sandbox.file("few.toml", &pairs(100, ""));
    let output = limited(&sandbox, &["run", &few, "--dry-run", "--trials", "10000"], 1 << 20);
    assert_eq!(output.status, Some(64), "{output:?}");
    assert!(output.err.contains("9900 results with 10000 trials each are 99000000 trials"), "{output:?}");
    let all = sandbox.file("all.toml", &pairs(500, ""));
    let output = sandbox.succeed(&["scenario", "check", &all]).out;
    assert_eq!(output.matches("  h499-to-h498").count(), 2, "its path and its result");
    assert!(output.contains("249500 results"), "{}", output.lines().last().unwrap_or_default());
}

const HOSTILE_HOSTS: [(&str, &str, &str); 5] = [
    ("silent", "exec sleep 1000", "exec sleep 1000"),
    ("closes its output", "exec >&-; exec sleep 1000", "exec sleep 1000"),
    ("does not read the program", "echo plumb: absent", "exec sleep 1000"),
    ("does not reply to the program", "echo plumb: absent", "cat >/dev/null; exec sleep 1000"),
    ("closes its output and does not read", "echo plumb: absent", "exec >&-; exec sleep 1000"),
];

fn with_host(sandbox: &Sandbox, at_login: &str, at_copy: &str) -> Command {
    let folder = sandbox.home().join("bin");
    fs::create_dir_all(&folder).expect("own file");
    let started = sandbox.home().join("started");
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *\"cat >\"*) touch {0}.copy; {at_copy};; *) touch {0}; {at_login};; esac\n",
        started.display()
    );
    fs::write(folder.join("ssh"), script).expect("own file");
    fs::set_permissions(folder.join("ssh"), fs::Permissions::from_mode(0o755)).expect("own file");
    let mut command = sandbox.command(&["doctor", "--host", "h"]);
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", folder.display()));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub(super) fn hosts_that_block_a_start() {
    for (what, at_login, at_copy) in HOSTILE_HOSTS {
        for name in ["INT", "TERM"] {
            let sandbox = sandbox();
            let mut child = with_host(&sandbox, at_login, at_copy).spawn().expect("plumb was built");
            let last = if at_login.starts_with("echo") { "started.copy" } else { "started" };
            let reached = wait_until(plumb_tests::PATIENCE, || sandbox.home().join(last).exists());
            signal(child.id(), name);
            let ended = wait_until(Duration::from_secs(60), || {
                fs::read_to_string(format!("/proc/{}/stat", child.id()))
                    .map_or(true, |stat| stat.contains(") Z "))
            });
            if !ended {
                child.kill().expect("it runs");
            }
            let output = Output::from(child.wait_with_output().expect("a child of this test"));
            assert!(reached && ended, "{what}, {name}: it does not exit: {output:?}");
            assert_eq!(output.status, Some(130), "{what}, {name}: {output:?}");
        }
    }
}

pub(super) fn hosts_with_endless_output() {
    for (at_login, at_copy) in [
        ("exec cat /dev/zero", "true"),
        ("exec yes", "true"),
        ("echo plumb: absent", "exec cat /dev/zero"),
        ("echo plumb: absent", "cat >/dev/null; exec yes"),
    ] {
        let sandbox = sandbox();
        let plumb = with_host(&sandbox, at_login, at_copy);
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -v 700000 && exec \"$@\"", "sh"]);
        command.arg(plumb.get_program()).args(plumb.get_args());
        for (name, value) in plumb.get_envs() {
            command.env(name, value.unwrap_or_default());
        }
        let output = Output::from(command.output().expect("sh is installed"));
        assert_eq!(output.status, Some(1), "{at_login}, {at_copy}: {output:?}");
        assert!(output.err.contains("sent more than 65536 bytes"), "{at_login}, {at_copy}: {output:?}");
    }
}
