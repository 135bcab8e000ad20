//! Tests the check, repair, export and removal of stored runs, and unusable files.

use std::{fs, path::Path, process::Stdio};

use plumb_tests::{PATIENCE, Sandbox, trials, wait_until, wire};

use super::{
    sandbox,
    stored_runs::{self, GOLDEN},
};

fn with_a_flipped_digit() -> Sandbox {
    let sandbox = stored_runs::with_run(GOLDEN);
    let mut bytes = fs::read(sandbox.database()).expect("the database is readable");
    // Also flips stale copies that SQLite left in the file.
    let needle = b"{\"index\":0,";
    let places: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(needle)).collect();
    assert!(!places.is_empty(), "there is a trial 0");
    places.iter().for_each(|at| bytes[at + needle.len() - 2] = b'9');
    fs::write(sandbox.database(), bytes).expect("own file");
    sandbox
}

pub(super) fn checked_and_repaired() {
    let sandbox = with_a_flipped_digit();
    let checked = sandbox.plumb(&["runs", "check"]);
    assert_eq!(checked.status, Some(1), "{checked:?}");
    for printed in ["59 readable trials", "trial ", "checksum", "plumb runs repair"] {
        assert!(checked.out.contains(printed), "no `{printed}` in {}", checked.out);
    }
    let claims = sandbox.findings("latest")["findings"].to_string();
    assert!(claims.contains("1 part of the run cannot be read"), "{claims}");
    let repaired = sandbox.succeed(&["runs", "repair"]).out;
    assert!(repaired.contains("59 trials") && repaired.contains("before-repair"), "{repaired}");
    let again = sandbox.succeed(&["runs", "check"]).out;
    assert!(again.contains("1 of 1 runs are intact (59 trials)"), "{again}");
    let listed = sandbox.succeed(&["runs", "--json"]).out;
    assert!(listed.contains("unfinished"), "the lost trial can be repeated: {listed}");
}

pub(super) fn exported_and_imported() {
    let (from, to) = (stored_runs::with_run(GOLDEN), sandbox());
    let [file, page, raw] = ["run.json.gz", "run.html", "run.json"]
        .map(|name| from.home().join(name).to_str().expect("plain").to_owned());
    let printed = from.succeed(&["runs", "export", "latest", "-o", &file]).out;
    assert!(printed.contains("with 60 trials"), "{printed}");
    let _ = from.succeed(&["report", "latest", "-o", &page]);
    let _ = from.succeed(&["report", "latest", "--format", "raw", "-o", &raw]);
    let before = from.succeed(&["report", "latest", "--format", "raw"]).out;
    for form in [&file, &page, &raw] {
        let there = to.succeed(&["report", form, "--format", "raw"]).out;
        assert_eq!(there, before, "{form}");
        let kept = to.succeed(&["runs", "import", form]).out;
        assert!(kept.contains("small-20261121-113015"), "{kept}");
        assert_eq!(to.succeed(&["report", "latest", "--format", "raw"]).out, before, "{form}");
    }
    let listed = to.succeed(&["runs", "--json"]).out;
    assert_eq!(listed.matches("\"run\"").count(), 1, "the run is stored only once: {listed}");

    let mut bytes = fs::read(&file).expect("the file is readable");
    let (middle, length) = (bytes.len() / 2, bytes.len());
    bytes[middle] ^= 1;
    for (name, bytes) in
        [("flipped", &bytes[..]), ("cut", &bytes[..length / 3]), ("empty", &[]), ("log", b"[ ID]")]
    {
        let path = to.home().join(name);
        fs::write(&path, bytes).expect("own file");
        let refused = to.plumb(&["runs", "import", path.to_str().expect("plain")]);
        assert!(refused.status != Some(0) && refused.err.contains(name), "{name}: {refused:?}");
    }
    assert_eq!(to.succeed(&["runs", "--json"]).out, listed, "no damaged trial is imported");
}

fn has_trials(sandbox: &Sandbox) -> bool {
    let listed = sandbox.plumb(&["runs", "--json"]).out;
    let runs: serde_json::Value = serde_json::from_str(&listed).unwrap_or_default();
    runs[0]["trials"].as_u64().is_some_and(|trials| trials > 0)
}

pub(super) fn active_run() {
    let sandbox = sandbox();
    let file = sandbox.file("two.toml", &wire(40, "300ms"));
    let mut command = sandbox.command(&["run", &file, "--quiet"]);
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("plumb was built");
    assert!(wait_until(PATIENCE, || has_trials(&sandbox)), "a trial is made");
    let process = format!("process {}", run.id());
    let name = sandbox.record()["header"]["id"].as_str().expect("it is called something").to_owned();
    for named in ["latest", "latest:two-hosts", &name, &name[..name.len() - 2]] {
        let refused = sandbox.plumb(&["runs", "remove", named]);
        assert_eq!(refused.status, Some(64), "{named}: {refused:?}");
        for printed in [process.as_str(), "run ", "--force"] {
            assert!(refused.err.contains(printed), "{named}: no `{printed}` in {}", refused.err);
        }
    }
    let _ = sandbox.succeed(&["runs", "remove", "latest", "--force"]);
    assert!(!run.wait().expect("a child").success(), "the run was removed");
}

pub(super) fn resumed_elsewhere() {
    let first = sandbox();
    let file = first.file("two.toml", &wire(3, "300ms"));
    let mut run = first.start(&["run", &file]);
    assert!(wait_until(PATIENCE, || has_trials(&first)), "a trial is made");
    run.kill().expect("SIGKILL can be sent");
    run.wait().expect("it was started");
    let record = first.record();
    for (key, value) in [
        ("kernel", "6.1.0-32-cloud-amd64".into()),
        ("cpus", serde_json::Value::from(96)),
        ("cpu_model", "Another".into()),
        ("load_average", serde_json::Value::Null),
    ] {
        let (elsewhere, is_other) = (sandbox(), key != "load_average");
        let mut record = record.clone();
        record["header"]["environment"][key] = value;
        let file = elsewhere.file("run.json", &record.to_string());
        let _ = elsewhere.succeed(&["runs", "import", &file]);
        let resumed = elsewhere.succeed(&["run", "--resume"]);
        assert_eq!(resumed.err.contains("another machine or kernel"), is_other, "{key}: {}", resumed.err);
        assert_eq!(trials(&elsewhere.record()).len(), 6, "{key}");
        let findings = elsewhere.findings("latest").to_string();
        assert_eq!(findings.contains("\"machine-change\""), is_other, "{key}");
        let page = elsewhere.succeed(&["report", "--full"]).out;
        assert_eq!(page.contains("resumed on another machine or kernel"), is_other, "{key}: {page}");
    }
}

pub(super) fn deleted_database() {
    let sandbox = sandbox();
    let file = sandbox.file("two.toml", &wire(8, "300ms"));
    let mut command = sandbox.command(&["run", &file, "--quiet"]);
    let run = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("plumb was built");
    assert!(wait_until(PATIENCE, || has_trials(&sandbox)), "a trial is made");
    fs::remove_file(sandbox.database()).expect("the database exists");
    let ended = run.wait_with_output().expect("a child");
    let printed = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success() && printed.contains("was deleted or moved"), "{printed}");
    let record = sandbox.record();
    // Each block has two baseline trials.
    assert_eq!(trials(&record).len(), 16, "{printed}");
    assert_eq!(sandbox.succeed(&["runs", "check"]).status, Some(0));
}

pub(super) fn printed_commands() {
    let sandbox = stored_runs::with_run(GOLDEN);
    let other = sandbox.home().join("my runs.db");
    fs::copy(sandbox.database(), &other).expect("own files");
    let other = other.to_str().expect("plain");
    let flag = format!("--db '{other}' ");
    let in_other = |words: &[&str]| {
        let printed = sandbox.succeed(&[&["--db", other], words].concat()).out;
        printed.split_whitespace().filter(|word| *word != "\\").collect::<Vec<_>>().join(" ")
    };
    for words in [&["report"][..], &["report", "--full"], &["explain", "latest"]] {
        let printed = in_other(words);
        for reader in ["plumb run ", "plumb report ", "plumb explain "] {
            assert!(!printed.contains(reader), "{reader}: {printed}");
        }
        assert!(printed.contains(&flag), "{printed}");
        let without = sandbox.succeed(words).out;
        assert!(!without.contains("--db"), "{without}");
    }
    let narrow = sandbox.command(&["--db", other, "explain", "latest"]).env("COLUMNS", "60").output();
    let narrow = String::from_utf8(narrow.expect("plumb was built").stdout).expect("text");
    assert!(narrow.lines().any(|line| line.contains(flag.trim_end())), "the path is on one line: {narrow}");
    let printed = in_other(&["report"]);
    let (_, command) = printed.split_once(&format!("plumb {flag}report ")).expect("names all sections");
    let run = command.split(' ').next().expect("a run");
    assert!(in_other(&["report", run, "--full"]).contains("Environment"), "{run}");
    let error = sandbox.plumb(&["--db", other, "report", "nothing"]).err;
    assert!(error.contains(&format!("`plumb {flag}runs`")), "{error}");
}

pub(super) fn no_file_named() {
    let sandbox = sandbox();
    let say = |words: &[&str]| {
        let mut command = sandbox.command(words);
        command.env("PLUMB_DB", "").env("XDG_DATA_HOME", sandbox.home().join("data"));
        plumb_tests::Output::from(command.output().expect("plumb was built"))
    };
    for (words, status) in [
        (&["runs"][..], 0),
        (&["config"], 0),
        (&["baseline", "list"], 0),
        (&["runs", "check"], 0),
        (&["report", "latest"], 1),
        (&["compare", "latest", "latest"], 1),
    ] {
        let printed = say(words);
        assert_eq!(printed.status, Some(status), "{words:?}: {printed:?}");
        assert!(!printed.err.contains("--db is empty"), "{words:?}: {printed:?}");
    }
    for words in [&["runs"][..], &["config"]] {
        assert!(say(words).out.contains("data/plumb/runs.db"), "{words:?}");
    }
    let mut service = sandbox.command(&["runs"]);
    service.env_remove("HOME").env_remove("XDG_DATA_HOME").env_remove("PLUMB_DB");
    service.env("STATE_DIRECTORY", sandbox.home());
    let printed = plumb_tests::Output::from(service.output().expect("plumb was built"));
    assert!(printed.status == Some(0) && printed.out.contains("/runs.db"), "{printed:?}");
    for refused in [sandbox.plumb(&["runs", "--db", ""]), say(&["runs", "--db", ""])] {
        assert!(refused.status == Some(64) && refused.err.contains("--db is empty"), "{refused:?}");
    }
}

pub(super) fn endless_documents() {
    let sandbox = sandbox();
    let array = format!("schema = 1\nx = [{}]\n", "1,".repeat(25 << 20));
    let long = sandbox.secret("long.toml", &array);
    let token = ["web", "--listen", "127.0.0.1:0", "--token-file"];
    let key = ["client", "127.0.0.1", "--username", "a", "--rsa-public-key-path"];
    let keys =
        ["server", "-B", "127.0.0.1", "--authorized-users-path", "/dev/null", "--rsa-private-key-path"];
    for file in ["/dev/zero", &long] {
        for words in [
            &["scenario", "check"][..],
            &["run", "--dry-run"],
            &["watch", "--dry-run"],
            &["memory", "top", "--once"],
            &["rebalance", "--dry-run"],
            &token,
            &key,
            &keys,
        ] {
            let mut command = std::process::Command::new("sh");
            command.args(["-c", "ulimit -v 500000 && exec \"$@\"", "sh"]);
            let plumb = sandbox.command(&[words, &[file]].concat());
            command.arg(plumb.get_program()).args(plumb.get_args()).env("PLUMB_DB", sandbox.database());
            command.env("IPERF3_PASSWORD", "b");
            let output = plumb_tests::Output::from(command.output().expect("sh starts"));
            assert!(matches!(output.status, Some(1 | 64)), "{words:?} {file}: {output:?}");
            assert!(output.err.contains("longer than 1048576 bytes"), "{words:?} {file}: {output:?}");
        }
    }
}

pub(super) fn full_disk() {
    let sandbox = stored_runs::with_run(GOLDEN);
    let disk = sandbox.home().join("disk");
    fs::create_dir(&disk).expect("own file");
    let script = "name=$1; shift; mount -t tmpfs -o size=16k tmpfs \"$0\" && \
                  { [ \"$name\" = new ] || echo old > \"$0/$name\"; } && head -c 16k /dev/zero > \"$0/full\" 2>/dev/null; \
                  ! \"$@\" \"$0/$name\" && cd \"$0\" && rm full && ls -A && cat * 2>/dev/null";
    for (name, words) in [
        ("report.html", &["report", "latest", "-o"][..]),
        ("report.md", &["report", "latest", "-o"]),
        ("report.json", &["report", "latest", "-o"]),
        ("both.html", &["compare", "latest", "latest", "-o"]),
        ("run.json.gz", &["runs", "export", "latest", "-o"]),
        ("new", &["report", "latest", "--format", "markdown", "-o"]),
        ("new", &["runs", "export", "latest", "-o"]),
        ("new", &["scenario", "new", "mine", "-o"]),
    ] {
        let plumb = sandbox.command(words);
        let mut command = std::process::Command::new("unshare");
        command.args(["--mount", "sh", "-c", script]).arg(Path::new(&disk)).arg(name);
        command.arg(plumb.get_program()).args(plumb.get_args()).env("PLUMB_DB", sandbox.database());
        let output = plumb_tests::Output::from(command.output().expect("unshare starts"));
        let left = if name == "new" { String::new() } else { format!("{name}\nold\n") };
        assert_eq!(output.out, left, "{name} {words:?}: {output:?}");
        assert!(
            output.err.contains("cannot write") && output.err.contains("No space"),
            "{words:?}: {output:?}"
        );
    }
}
