//! Tests clients, pings and servers that are interrupted, refused or limited.

use std::{
    fs::{self, File},
    process::{Child, Command, Stdio},
    time::Duration,
};

use plumb_tests::{OtherWork, Output, PATIENCE, Sandbox, cpu_time, trials, wait_until};
use serde_json::Value;

use super::{free_port, sandbox};

/// The CPU time that a client uses before sending.
const WELL_BEGUN: Duration = Duration::from_millis(500);

pub(crate) struct Server {
    pub(crate) child: Child,
    port: String,
    log: String,
}

impl Server {
    pub(crate) fn start(sandbox: &Sandbox, options: &[&str]) -> Self {
        let port = free_port();
        let log = sandbox.file(&format!("{port}.log"), "");
        let to = || Stdio::from(File::create(&log).expect("the sandbox can be written"));
        let mut command = sandbox.command(&["server", "-p", &port, "-B", "127.0.0.1"]);
        let child =
            command.args(options).stdout(to()).stderr(Stdio::null()).spawn().expect("plumb was built");
        let server = Self { child, port, log };
        assert!(wait_until(PATIENCE, || server.printed("serving ")), "the server listens");
        server
    }

    fn log(&self) -> String {
        fs::read_to_string(&self.log).expect("the file exists")
    }

    fn printed(&self, words: &str) -> bool {
        self.log().contains(words)
    }

    pub(crate) fn words<'a>(&'a self, words: &[&'a str]) -> Vec<&'a str> {
        [words, &["127.0.0.1", "-p", &self.port]].concat()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().expect("it runs");
        let _ = self.child.wait();
    }
}

fn interrupted(sandbox: &Sandbox, server: &Server, words: &[&str]) -> Output {
    let lines = sandbox.file("lines", "");
    let file = File::create(&lines).expect("the sandbox can be written");
    let mut command = sandbox.command(&server.words(words));
    command.args(["-t", "60", "-i", "100ms"]).stdout(file).stderr(Stdio::piped());
    let client = command.spawn().expect("plumb was built");
    let printed = || fs::read_to_string(&lines).expect("the file exists");
    // Watches the server, because the client prints no lines with --json.
    let json = words.contains(&"--json");
    let sends = || cpu_time(client.id()) >= WELL_BEGUN;
    let flows = || if json { server.printed("#1 ") && sends() } else { printed().lines().count() >= 3 };
    assert!(wait_until(PATIENCE, flows), "{words:?}: it measures");
    interrupt(&client);
    let output = client.wait_with_output().expect("a child of this test");
    Output { out: printed(), ..output.into() }
}

fn interrupt(child: &Child) {
    let status = Command::new("/bin/kill").args(["-INT", &child.id().to_string()]).status();
    assert!(status.is_ok_and(|status| status.success()), "it runs");
}

pub(super) fn interrupted_clients() {
    for words in [
        &["client"][..],
        &["client", "--reverse", "--udp", "-b", "10M"],
        &["ping", "--warmup", "0"],
        &["ping", "--warmup", "0", "--tcp", "--rate", "1k"],
        &["ping", "--warmup", "0", "--connect"],
        &["ping", "--warmup", "0", "--under", "10M"],
    ] {
        let sandbox = sandbox();
        let server = Server::start(&sandbox, &[]);
        let output = interrupted(&sandbox, &server, words);
        assert_eq!(output.status, Some(130), "{words:?}: {output:?}");
        assert!(output.out.contains("\nResult\n"), "{words:?}: no result in {}", output.out);
        assert!(output.out.contains("interrupted"), "{words:?}: {}", output.out);
        assert!(!server.printed("failed"), "{words:?}: {}", server.log());
    }
}

/// Runs more busy loops than CPUs. The client must report only its own CPU time and name the competing process.
pub(super) fn under_competing_load() {
    let sandbox = sandbox();
    let server = Server::start(&sandbox, &[]);
    let cpus = std::thread::available_parallelism().map_or(2, usize::from);
    let noise = OtherWork::on_cpus(cpus, sandbox.home());
    let output = sandbox.succeed(&server.words(&["client", "-t", "2", "--json"]));
    drop(noise);
    let document: Value = serde_json::from_str(&output.out).expect("one document");
    let warnings = document["plumb"]["warnings"].as_array().expect("warnings");
    let disturbed = warnings.iter().find(|warning| warning["kind"] == "disturbed");
    let by = disturbed.expect("it was disturbed")["processes"].to_string();
    assert!(by.contains(OtherWork::NAME), "{by}");
}

pub(super) fn explained() {
    let sandbox = sandbox();
    let server = Server::start(&sandbox, &[]);
    let _ = sandbox.succeed(&server.words(&["client", "-t", "300ms"]));
    let stolen = || serde_json::json!({ "kind": "stolen", "share": 0.25 });
    let other = sandbox.as_undisturbed(|record| record["trials"][0]["warnings"] = vec![stolen(); 4].into());
    let all = other.succeed(&["explain", "latest"]).out;
    assert_eq!(all.matches("the hypervisor took 25.0 %").count(), 4, "{all}");
    let unknown = other.plumb(&["explain", "offlod-off"]);
    assert!(unknown.status == Some(64) && unknown.err.contains("no finding or run"), "{unknown:?}");
}

pub(super) fn interrupted_documents() {
    for words in [&["client", "--json"][..], &["ping", "--warmup", "0", "--json"]] {
        let sandbox = sandbox();
        let server = Server::start(&sandbox, &[]);
        let output = interrupted(&sandbox, &server, words);
        assert_eq!(output.status, Some(130), "{words:?}: {output:?}");
        let document: Value = serde_json::from_str(&output.out).expect("one document");
        let own = if words[0] == "client" { &document["plumb"] } else { &document };
        assert!(own["outcome"].is_object(), "{own}");
        let warnings = own["warnings"].as_array().expect("warnings");
        assert!(warnings.iter().any(|warning| warning["kind"] == "interrupted"), "{warnings:?}");
        let marked = document["error"].as_str().is_some_and(|error| error.contains("interrupt"));
        assert_eq!(marked, words[0] == "client", "{document}");
    }
}

pub(super) fn two_servers_are_measured_in_turn() {
    let sandbox = sandbox();
    let servers = [Server::start(&sandbox, &[]), Server::start(&sandbox, &[])];
    let [a, b] = servers.each_ref().map(|server| format!("127.0.0.1:{}", server.port));
    let output = sandbox.succeed(&["vs", &a, &b, "--trials", "2", "--", "-t", "0.3"]);
    let answer = output.out.trim_end().lines().rev().take(3).collect::<String>();
    assert!(answer.contains(&a) && answer.contains(&b) && answer.contains("undecided"), "{}", output.out);
    let record = sandbox.record();
    let order: Vec<&str> =
        trials(&record).iter().map(|trial| trial["result"].as_str().expect("an id")).collect();
    let [a, b] = [a, b].map(|peer| format!("{peer}/throughput"));
    assert_eq!(order, [&a, &b, &b, &a]);
    let blocks: Vec<&Value> = trials(&record).iter().map(|trial| &trial["block"]).collect();
    assert_eq!(blocks, [0, 0, 1, 1]);
    let baselines = |place: usize| &record["header"]["results"][place]["baseline"];
    assert_eq!([baselines(0), baselines(1)], [true, false]);
    let output = sandbox.plumb(&["vs", "127.0.0.1:1", "127.0.0.1:2", "--", "--no-such"]);
    assert!(output.status == Some(64) && output.err.contains("--no-such"), "{output:?}");
}

fn check_refused(sandbox: &Sandbox, server: &Server, words: &[&str], printed: &str) {
    let before = server.log().matches("refused").count();
    let output = sandbox.plumb(&server.words(words));
    assert_eq!(output.status, Some(1), "{words:?}: {output:?}");
    assert!(output.err.contains(printed), "{words:?}: no `{printed}` in {}", output.err);
    let lines = || server.log().matches("refused").count() - before;
    assert!(wait_until(PATIENCE, || lines() == 1), "{words:?}: {}", server.log());
}

const KINDS: [&[&str]; 4] = [&["client"], &["ping", "--udp"], &["ping", "--tcp"], &["ping", "--connect"]];

pub(super) fn refused_by_address() {
    let sandbox = sandbox();
    let server = Server::start(&sandbox, &["--allow", "198.18.0.0/15"]);
    for words in KINDS {
        check_refused(&sandbox, &server, words, "--allow");
    }
}

pub(super) fn refused_by_a_busy_server() {
    let sandbox = sandbox();
    let server = Server::start(&sandbox, &["--max-clients", "1"]);
    let mut first = sandbox.start(&server.words(&["ping", "-t", "120"]));
    assert!(wait_until(PATIENCE, || server.printed("#1 ")), "the first is served");
    for words in KINDS {
        check_refused(&sandbox, &server, words, "try again later");
    }
    first.kill().expect("it runs");
    let _ = first.wait();
}

pub(super) fn ended_by_a_limit() {
    let sandbox = sandbox();
    let limits = ["--max-duration", "1", "--max-rate", "100M"];
    let server = Server::start(&sandbox, &limits);
    for (words, printed) in [
        (&["client", "-t", "5"][..], "--max-duration of 1.00 s"),
        (&["client", "-t", "1", "-b", "200M"], "--max-rate of 100 Mbit/s"),
        (&["ping", "-t", "60"], "--max-duration"),
        (&["ping", "-t", "60", "--connect"], "--max-duration"),
        (&["ping", "-t", "60", "--tcp"], "the server ended"),
    ] {
        let output = sandbox.plumb(&server.words(words));
        assert_eq!(output.status, Some(1), "{words:?}: {output:?}");
        assert!(output.err.contains(printed), "{words:?}: no `{printed}` in {}", output.err);
        assert!(!output.out.contains("Failed"), "{words:?}: {}", output.out);
    }
}

pub(crate) fn reader_that_leaves_early() {
    let sandbox = sandbox();
    let print = || sandbox.command(&["schema", "findings"]);
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = print().stdout(writer).output().expect("plumb was built");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let output = print().stdout(full).output().expect("plumb was built");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(printed.contains("standard output"), "{printed}");
}
