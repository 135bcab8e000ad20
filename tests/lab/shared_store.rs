//! Tests runs in a PostgreSQL database: the server restarts, and several controllers compete for a run.

use std::{
    process::{Child, Stdio},
    thread,
    time::Duration,
};

use plumb_tests::{PostgresServer, Sandbox, trials, wait_until, wire};

use crate::{PATIENCE, sandbox};

fn run(sandbox: &Sandbox, arguments: &[&str], address: &str) -> Child {
    let mut command = sandbox.command(arguments);
    command.env("PLUMB_DB", address).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().expect("plumb was built")
}

fn kept(server: &PostgresServer, database: &str) -> u64 {
    server.sql(database, "SELECT count(*) FROM trial").parse().expect("a number")
}

pub(crate) fn server_that_restarts() {
    let (sandbox, server) = (sandbox(), PostgresServer::new());
    let address = server.database();
    let database = address.rsplit('/').next().expect("it ends in it");
    let file = sandbox.file("wire.toml", &wire(10, "300ms"));
    let run = run(&sandbox, &["run", &file, "--quiet"], &address);
    let has_tables = || server.sql(database, "SELECT to_regclass('trial') IS NOT NULL") == "t";
    assert!(wait_until(PATIENCE, has_tables), "the tables are made");
    for end in [PostgresServer::stop, PostgresServer::crash] {
        let before = kept(&server, database);
        assert!(wait_until(PATIENCE, || kept(&server, database) > before), "no trial was stored");
        end(&server);
        thread::sleep(Duration::from_secs(2));
        server.start(&[]);
    }
    let ended = run.wait_with_output().expect("it was started");
    let printed = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{printed}");
    assert!(printed.contains("cannot reach postgres://") && printed.contains("is stored now"), "{printed}");
    let raw = sandbox.succeed(&["report", "latest", "--format", "raw", "--db", &address]).out;
    let record: serde_json::Value = serde_json::from_str(&raw).expect("a run record is JSON");
    assert_eq!(trials(&record).len(), 20, "{printed}");
    assert_eq!(record["header"]["state"], "complete", "{}", record["header"]);
}

pub(crate) fn two_controllers_of_one_run() {
    let (sandbox, server) = (sandbox(), PostgresServer::new());
    let address = server.database();
    let database = address.rsplit('/').next().expect("it ends in it");
    let file = sandbox.file("wire.toml", &wire(30, "300ms"));
    let mut first = run(&sandbox, &["run", &file, "--quiet"], &address);
    let has_trial = || {
        server.sql(database, "SELECT to_regclass('trial') IS NOT NULL") == "t" && kept(&server, database) > 1
    };
    assert!(wait_until(PATIENCE, has_trial), "no trial was stored");
    let resume = ["run", "--resume", "--quiet", "--db", &address];
    let second = sandbox.plumb(&resume);
    assert_eq!(second.status, Some(1), "{second:?}");
    let owner = format!(" in plumb {}", first.id());
    assert!(second.err.contains(&owner), "{}", second.err);
    let removed = sandbox.plumb(&["runs", "remove", "latest", "--db", &address]);
    assert!(removed.status == Some(64) && removed.err.contains(&owner), "{removed:?}");
    first.kill().expect("SIGKILL can be sent");
    first.wait().expect("it was started");
    let there = kept(&server, database);
    let is_free =
        || server.sql("postgres", "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == "0";
    assert!(wait_until(PATIENCE, is_free), "the server has noticed");
    let mut third = run(&sandbox, &resume[..3], &address);
    assert!(wait_until(PATIENCE, || kept(&server, database) > there), "the run continues");
    third.kill().expect("SIGKILL can be sent");
    third.wait().expect("it was started");
    assert_eq!(server.sql(database, "SELECT count(*) - count(DISTINCT place) FROM trial"), "0");
}
