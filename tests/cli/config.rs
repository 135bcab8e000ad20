//! Tests the user's configuration: the precedence of its settings, and errors in the file.

use std::fs;

use plumb_tests::{Output, Sandbox, wire};
use serde_json::Value;

use crate::sandbox;

fn configured(sandbox: &Sandbox, file: &str, set: &[(&str, &str)], words: &[&str]) -> Output {
    let folder = sandbox.home().join("config/plumb");
    fs::create_dir_all(&folder).expect("own folder");
    fs::write(folder.join("config.toml"), file).expect("own folder");
    let mut command = sandbox.command(words);
    for name in ["PLUMB_DB", "NO_COLOR", "PAGER", "PLUMB_PLAIN", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command.env("XDG_CONFIG_HOME", sandbox.home().join("config")).env("XDG_DATA_HOME", sandbox.home());
    command.envs(set.iter().copied()).output().map(Output::from).expect("plumb was built")
}

fn shown(output: &Output, key: &str) -> (String, String) {
    let rows: Value = serde_json::from_str(&output.out).expect("JSON");
    let row = rows.as_array().expect("a list").iter().find(|row| row["key"] == key).expect("every key");
    let text = |of: &str| row[of].as_str().expect("a text").to_owned();
    (text("value"), text("from"))
}

pub(crate) fn precedence_of_flag_environment_and_file() {
    let sandbox = sandbox();
    let file =
        "db = \"~/file.db\"\nplain = true\npager = \"more\"\ntrials = 7\nprobe = \"cpu\"\ncolour = false\n";
    let (flag, variable) = (
        &["config", "--json", "--db", "flag.db"][..],
        &[("PLUMB_DB", "env.db"), ("PAGER", "most"), ("PLUMB_PLAIN", "0"), ("NO_COLOR", "1")][..],
    );
    let plain = &flag[..2];
    for (file, set, words, rows) in [
        ("", &[][..], plain, [("pager", "less", "built in"), ("trials", "the scenario's", "built in")]),
        (file, &[], plain, [("pager", "more", "file"), ("trials", "7", "file")]),
        (file, &[], plain, [("plain", "true", "file"), ("probe", "cpu", "file")]),
        (file, &[], plain, [("colour", "false", "file"), ("plain", "true", "file")]),
        (
            file,
            variable,
            plain,
            [("pager", "most", "environment PAGER"), ("db", "env.db", "environment PLUMB_DB")],
        ),
        (
            file,
            variable,
            plain,
            [("plain", "0", "environment PLUMB_PLAIN"), ("colour", "false", "environment NO_COLOR")],
        ),
        (file, variable, flag, [("db", "flag.db", "flag --db"), ("trials", "7", "file")]),
    ] {
        let output = configured(&sandbox, file, set, words);
        assert_eq!(output.status, Some(0), "{output:?}");
        for (key, value, from) in rows {
            assert_eq!(
                shown(&output, key),
                (value.to_owned(), from.to_owned()),
                "{file:?} {set:?} {words:?}"
            );
        }
    }
    for set in [&[][..], &[("PLUMB_DB", "")]] {
        let (db, from) = shown(&configured(&sandbox, file, set, plain), "db");
        assert_eq!(
            (db, from.as_str()),
            (sandbox.home().join("file.db").display().to_string(), "file"),
            "{set:?}"
        );
    }
}

pub(crate) fn applies_the_file() {
    let sandbox = sandbox();
    let scenario = sandbox.file("wire.toml", &wire(3, "1s"));
    let planned = |file: &str, words: &[&str]| {
        configured(&sandbox, file, &[], &[&["run", &scenario, "--dry-run"], words].concat()).out
    };
    assert!(planned("", &[]).contains("each of 3 blocks"), "{}", planned("", &[]));
    assert!(planned("trials = 8", &[]).contains("each of 8 blocks"));
    assert!(planned("trials = 8", &["--trials", "4"]).contains("each of 4 blocks"));
    assert!(planned("probe = \"cpu\"", &[]).contains("probes (cpu)"));
    let _ = configured(&sandbox, "db = \"~/other.db\"", &[], &["runs"]);
    assert!(sandbox.home().join("other.db").exists());
}

pub(crate) fn shows_the_line_of_an_error() {
    let sandbox = sandbox();
    for (file, printed) in [
        (
            "plain = true\ntrails = 7\n",
            &["config.toml:2:1", "unknown field `trails`", "plumb config --help"][..],
        ),
        ("trials = 0\n", &["config.toml:1:10", "use 1 to 10000 trials"]),
        ("probe = \"strace\"\n", &["config.toml:1:9", "no probe `strace`"]),
        ("plain = \n", &["config.toml:1:"]),
    ] {
        let output = configured(&sandbox, file, &[], &["runs"]);
        assert_eq!(output.status, Some(64), "{output:?}");
        for word in printed {
            assert!(output.err.contains(word), "{file:?}: no `{word}` in {}", output.err);
        }
    }
}
