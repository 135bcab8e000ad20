//! Tests that every command that reads stored runs also works with a PostgreSQL database.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Stdio},
};

use plumb_tests::{PostgresServer, Sandbox};

use super::{
    sandbox,
    stored_runs::{self, GOLDEN},
};

struct Page(Child);

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(super) fn every_command_accepts_it() {
    let server = PostgresServer::new();
    let address = server.database();
    let from = stored_runs::with_run(GOLDEN);
    let before = from.succeed(&["report", "latest", "--format", "raw"]).out;
    let file = from.home().join("run.json.gz").to_str().expect("plain").to_owned();
    let _ = from.succeed(&["runs", "export", "latest", "-o", &file]);

    let sandbox = sandbox();
    let plumb = |arguments: &[&str]| sandbox.succeed(&[arguments, &["--db", &address]].concat()).out;
    assert!(plumb(&["runs"]).contains(&format!("no runs stored in {address}")));
    assert!(plumb(&["runs", "import", &file]).contains("small-20261121-113015"));
    assert_eq!(plumb(&["report", "latest", "--format", "raw"]), before);
    let findings = from.succeed(&["report", "latest", "--format", "json"]).out;
    assert_eq!(plumb(&["report", "small-2026", "--format", "json"]), findings);
    assert!(plumb(&["runs", "check"]).contains("1 of 1 runs are intact (60 trials)"));
    let _ = plumb(&["baseline", "set", "main", "latest"]);
    let _ = plumb(&[
        "import",
        concat!(env!("CARGO_MANIFEST_DIR"), "/../import/tests/data/iperf3/bytes.client.txt"),
    ]);
    let listed: serde_json::Value = serde_json::from_str(&plumb(&["runs", "--json"])).expect("is JSON");
    assert_eq!(listed.as_array().map(Vec::len), Some(2), "{listed}");
    assert_eq!(plumb(&["report", "baseline:main", "--format", "raw"]), before);

    page_lists_both(&sandbox, &address);

    let kept = sandbox.plumb(&["runs", "remove", "small-2026", "--db", &address]);
    assert!(kept.status == Some(1) && kept.err.contains("`main`"), "{kept:?}");
    let repaired = sandbox.plumb(&["runs", "repair", "--db", &address]);
    assert!(repaired.status == Some(1) && repaired.err.contains("restoring a backup"), "{repaired:?}");
    let _ = plumb(&["baseline", "remove", "main"]);
    let _ = plumb(&["runs", "remove", "small-2026"]);
    assert!(!sandbox.database().exists(), "a file was created");
}

pub(super) fn never_shows_the_password() {
    let server = PostgresServer::new();
    let sandbox = sandbox();
    let address = server.database().replace("plumb@", "plumb:s3cret@");
    let configured = sandbox.succeed(&["config", "--db", &address]).out;
    assert!(configured.contains("postgres://plumb@") && !configured.contains("s3cret"), "{configured}");
    let listed = sandbox.succeed(&["runs", "--db", &address]).out;
    assert!(listed.contains("postgres://plumb@") && !listed.contains("s3cret"), "{listed}");
    server.stop();
    for wrong in [
        address.as_str(),
        "postgres://u:s3cret",
        "postgres://u:s3/cret@h/runs",
        "postgres://u:s3cret@h:x/runs",
        "postgress://u:s3cret@h/runs",
    ] {
        let output = sandbox.plumb(&["runs", "--db", wrong]);
        assert!(output.status.is_some_and(|status| status != 0), "{wrong}: {output:?}");
        assert!(!output.err.contains("s3cret") && !output.err.contains("cret@"), "{wrong}: {output:?}");
    }
    let folder = sandbox.home().join(".config/plumb");
    fs::create_dir_all(&folder).expect("own file");
    for slip in ["bd = \"postgres://u:s3cret@h/runs\"", "trials = \"postgres://u:s3cret@h/runs\""] {
        fs::write(folder.join("config.toml"), slip).expect("own file");
        let output = sandbox.plumb(&["runs"]);
        assert!(output.status != Some(0) && output.err.contains("postgres://***"), "{output:?}");
        assert!(!output.err.contains("s3cret"), "{output:?}");
    }
    fs::remove_file(folder.join("config.toml")).expect("the file exists");
    let away = sandbox.plumb(&["report", "--db", &address]);
    assert!(away.err.contains("cannot reach postgres://plumb@"), "{away:?}");
}

fn page_lists_both(sandbox: &Sandbox, address: &str) {
    let mut command = sandbox.command(&["web", "--listen", "127.0.0.1:0"]);
    command.env("PLUMB_DB", address).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut page = Page(command.spawn().expect("plumb was built"));
    let lines = BufReader::new(page.0.stdout.take().expect("is piped")).lines();
    let place = lines
        .map_while(Result::ok)
        .find_map(|line| Some(line.strip_prefix("plumb web: http://")?.split('/').next()?.to_owned()))
        .expect("it serves");
    for path in ["/", "/runs/small-20261121-113015"] {
        let mut stream = TcpStream::connect(&place).expect("it serves");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n\r\n")
            .expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("text");
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
        assert!(answer.contains("small-20261121-113015"), "{path}: {answer}");
    }
}
