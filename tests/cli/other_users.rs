//! Tests that plumb does not trust files that another user can write to, or another user's links.

use std::{
    fs::{self, Permissions},
    os::unix::{
        fs::{MetadataExt, PermissionsExt, chown, lchown, symlink},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};

use plumb_tests::{Case, Need, Output, Sandbox, WebServer, certificate};

use crate::{
    sandbox,
    stored_runs::{self, GOLDEN, KINDS},
};

const NEEDS: &[Need] = &[Need::OtherUsers, Need::Program("openssl", "openssl")];

pub(crate) const CASES: &[Case] = &[
    Case {
        name: "refuses_a_configuration_file_that_another_user_could_write",
        needs: NEEDS,
        test: configuration_file,
    },
    Case { name: "refuses_a_fleet_file_that_another_user_could_write", needs: NEEDS, test: fleet_file },
    Case {
        name: "refuses_a_watch_plan_or_hook_that_another_user_could_write",
        needs: NEEDS,
        test: plan_and_hook,
    },
    Case { name: "refuses_secrets_that_other_users_can_read", needs: NEEDS, test: secrets },
    Case { name: "follows_no_link_of_another_user_to_write_a_file", needs: NEEDS, test: planted_links },
    Case {
        name: "follows_no_link_of_another_user_to_write_manual_pages",
        needs: NEEDS,
        test: planted_manual_pages,
    },
    Case {
        name: "takes_no_permissions_or_pipes_from_another_user",
        needs: NEEDS,
        test: planted_files_and_pipes,
    },
    Case {
        name: "writes_through_own_links_pipes_and_standard_output",
        needs: NEEDS,
        test: own_links_and_pipes,
    },
    Case {
        name: "changes_no_file_that_another_user_linked_next_to_a_store",
        needs: NEEDS,
        test: planted_next_to_a_store,
    },
    Case {
        name: "waits_for_no_pipe_that_another_user_made_next_to_a_store",
        needs: NEEDS,
        test: pipes_next_to_a_store,
    },
];

const ATTACKER: u32 = 65_534;
const USER: u32 = 65_533;
const PLUMB: &str = env!("CARGO_BIN_EXE_plumb");

fn mode(path: &Path, bits: u32) {
    fs::set_permissions(path, Permissions::from_mode(bits)).expect("as root");
}

fn give(path: &Path, uid: u32) {
    lchown(path, Some(uid), None).expect("as root");
}

fn folder(sandbox: &Sandbox, name: &str) -> PathBuf {
    mode(sandbox.home(), 0o755);
    let folder = sandbox.home().join(name);
    fs::create_dir_all(&folder).expect("own folder");
    folder
}

fn program(sandbox: &Sandbox) -> PathBuf {
    let copy = folder(sandbox, "bin").join("plumb");
    if !copy.exists() {
        let copied = Command::new("cp").arg(PLUMB).arg(&copy).status();
        assert!(copied.expect("cp starts").success());
    }
    copy
}

fn by(uid: u32, sandbox: &Sandbox, set: &[(&str, &Path)], words: &[&str]) -> Output {
    let mut command = Command::new(program(sandbox));
    command.args(words).env_clear().envs(set.iter().copied()).env("NO_COLOR", "1").stdin(Stdio::null());
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).current_dir("/");
    if uid != 0 {
        command.uid(uid).gid(uid);
    }
    command.output().map(Output::from).expect("plumb was built")
}

/// Changes `plumb/NAME` in a folder. The second part is the command that the error suggests, or `None` if no
/// error is expected.
type Change = (fn(&Path, &str), Option<&'static str>);

const OF_ROOT: &[Change] = &[
    (|_, _| (), None),
    (|top, _| mode(top, 0o1777), None),
    (|top, name| link(top, name, 0), None),
    (|top, name| give(&top.join("plumb").join(name), ATTACKER), Some("chown root ")),
    (|top, _| give(top, ATTACKER), Some("chown root ")),
    (|top, _| give(&top.join("plumb"), USER), Some("chown root ")),
    (|top, name| link(top, name, ATTACKER), Some("chown -h root ")),
    (|top, name| mode(&top.join("plumb").join(name), 0o666), Some("chmod go-w ")),
    (|top, name| mode(&top.join("plumb").join(name), 0o664), Some("chmod go-w ")),
    (|top, _| mode(top, 0o777), Some("chmod go-w ")),
    (|top, _| mode(&top.join("plumb"), 0o775), Some("chmod go-w ")),
];

const OF_USER: &[Change] = &[
    (|_, _| (), None),
    // These permissions result from a umask of 002.
    (|top, name| (mode(top, 0o775), mode(&top.join("plumb").join(name), 0o664)).1, None),
    (|top, name| give(&top.join("plumb").join(name), 0), None),
    (|top, name| give(&top.join("plumb").join(name), ATTACKER), Some("chown 65533 ")),
    (|top, name| mode(&top.join("plumb").join(name), 0o666), Some("chmod o-w ")),
    (|top, name| mode(&top.join("plumb").join(name), 0o646), Some("chmod o-w ")),
];

fn link(top: &Path, name: &str, owner: u32) {
    let (file, moved) = (top.join("plumb").join(name), top.join("moved"));
    fs::rename(&file, &moved).expect("as root");
    symlink(&moved, &file).expect("as root");
    give(&file, owner);
}

fn changes(name: &str, text: &str, run: &dyn Fn(u32, &Sandbox, &Path) -> Output, read: &str) {
    for (uid, cases) in [(0, OF_ROOT), (USER, OF_USER)] {
        for (number, (change, remedy)) in cases.iter().enumerate() {
            let sandbox = sandbox();
            let top = folder(&sandbox, "top");
            let place = folder(&sandbox, "top/plumb");
            fs::write(place.join(name), text).expect("own folder");
            mode(&place.join(name), 0o644);
            [&top, &place, &place.join(name)].iter().for_each(|path| give(path, uid));
            change(&top, name);
            let output = run(uid, &sandbox, &top);
            let case = format!("{name}, user {uid}, case {number}: {output:?}");
            match remedy {
                None => assert!(format!("{}{}", output.out, output.err).contains(read), "{case}"),
                Some(remedy) => {
                    assert_eq!(output.status, Some(64), "{case}");
                    let printed = &output.err;
                    assert!(
                        printed.contains("cannot trust") && printed.contains(&format!("plumb/{name}: ")),
                        "{case}"
                    );
                    assert!(output.err.contains(remedy), "no `{remedy}`: {case}");
                    assert!(!output.out.contains(read), "{case}");
                }
            }
        }
    }
}

fn configuration_file() {
    let text = "pager = \"touch /nowhere/pager\"\n";
    for variable in ["XDG_CONFIG_HOME", "HOME"] {
        let words = ["config", "--json"];
        let run = |uid: u32, sandbox: &Sandbox, top: &Path| {
            if variable == "HOME" {
                let inner = top.join(".config");
                symlink(top, &inner).expect("as root");
                give(&inner, uid);
            }
            by(uid, sandbox, &[(variable, top), ("XDG_DATA_HOME", sandbox.home())], &words)
        };
        changes("config.toml", text, &run, "/nowhere/pager");
    }
    let sandbox = sandbox();
    let top = folder(&sandbox, "top");
    give(&top, ATTACKER);
    let store = sandbox.database();
    let run = |words: &[&str]| by(0, &sandbox, &[("XDG_CONFIG_HOME", &top), ("PLUMB_DB", &store)], words);
    assert_eq!(run(&["runs"]).status, Some(0));
    fs::write(folder(&sandbox, "top/plumb").join("config.toml"), text).expect("as root");
    for words in [&["runs"][..], &["report"], &["run", "quick", "--dry-run"], &["config"]] {
        let output = run(words);
        assert!(output.status == Some(64) && output.err.contains("cannot trust"), "{words:?}: {output:?}");
    }
}

fn fleet_file() {
    let text = "server = \"nats://127.0.0.1:1\"\nname = \"ops\"\n";
    let list = |uid: u32, sandbox: &Sandbox, top: &Path| {
        by(uid, sandbox, &[("XDG_CONFIG_HOME", top), ("XDG_DATA_HOME", sandbox.home())], &["fleet", "list"])
    };
    changes("fleet.toml", text, &list, "127.0.0.1:1");
    let named = |uid: u32, sandbox: &Sandbox, top: &Path| {
        let file = top.join("plumb/named.toml");
        by(uid, sandbox, &[("PLUMB_FLEET", &file), ("HOME", sandbox.home())], &["fleet", "list"])
    };
    changes("named.toml", text, &named, "127.0.0.1:1");
    let authority = |uid: u32, sandbox: &Sandbox, top: &Path| {
        let text = format!("{text}ca = \"{}\"\n", top.join("plumb/ca.pem").display());
        let file = folder(sandbox, "fleet").join("fleet.toml");
        fs::write(&file, text).expect("own folder");
        by(uid, sandbox, &[("PLUMB_FLEET", &file), ("HOME", sandbox.home())], &["fleet", "list"])
    };
    changes("ca.pem", "no certificate", &authority, "127.0.0.1:1");
}

fn plan_and_hook() {
    let plan = "[[measure]]\nscenario = \"quick\"\nevery = \"1h\"\n";
    let dry = |uid: u32, sandbox: &Sandbox, file: &Path| {
        let file = file.to_str().expect("plain names");
        by(uid, sandbox, &[("HOME", sandbox.home())], &["watch", file, "--dry-run"])
    };
    let read = "in the next 24 hours";
    changes("plan.toml", plan, &|uid, sandbox, top| dry(uid, sandbox, &top.join("plumb/plan.toml")), read);
    for is_on_path in [false, true] {
        let hook = |uid: u32, sandbox: &Sandbox, top: &Path| {
            let hook = top.join("plumb/hook");
            let target = fs::canonicalize(&hook).expect("the file exists");
            mode(&target, fs::metadata(&target).expect("the file exists").mode() | 0o111);
            let file = folder(sandbox, "plan").join("plan.toml");
            let name = if is_on_path { "hook".to_owned() } else { hook.display().to_string() };
            fs::write(&file, format!("{plan}[alert]\nhook = [\"{name}\", \"ops\"]\n")).expect("own file");
            if !is_on_path {
                return dry(uid, sandbox, &file);
            }
            let mut command = Command::new(program(sandbox));
            command.args(["watch", file.to_str().expect("plain names"), "--dry-run"]);
            command.env("HOME", sandbox.home()).env("PATH", top.join("plumb")).env("NO_COLOR", "1");
            if uid != 0 {
                command.uid(uid).gid(uid);
            }
            command
                .env_remove("PLUMB_DB")
                .current_dir("/")
                .output()
                .map(Output::from)
                .expect("plumb was built")
        };
        changes("hook", "#!/bin/sh\n", &hook, read);
    }
}

fn bounded(sandbox: &Sandbox, words: &[&str]) -> Output {
    let plumb = sandbox.command(words);
    let mut command = Command::new("timeout");
    command.arg("60").arg(plumb.get_program()).args(plumb.get_args());
    command.envs(plumb.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdin(Stdio::null()).output().map(Output::from).expect("coreutils")
}

fn secrets() {
    let sandbox = sandbox();
    let token = sandbox.file("token", "a-token-that-is-long-enough\n");
    let [cert, key] = certificate(&sandbox, "own", "IP:127.0.0.1");
    let rsa = sandbox.file("rsa.pem", "no key");
    let users = sandbox.file("users.csv", "somebody,0\n");
    let web = ["web", "--listen", "127.0.0.1:0"];
    let commands = [
        (&token, [&web[..], &["--token-file", &token]].concat()),
        (&key, [&web[..], &["--tls-cert", &cert, "--tls-key", &key]].concat()),
        (
            &rsa,
            vec![
                "server",
                "-B",
                "127.0.0.1",
                "--rsa-private-key-path",
                &rsa,
                "--authorized-users-path",
                &users,
            ],
        ),
    ];
    for (secret, words) in &commands {
        let secret = Path::new(secret);
        for bits in [0o644, 0o604, 0o660, 0o606, 0o601, 0o620] {
            mode(secret, bits);
            let output = bounded(&sandbox, words);
            assert_eq!(output.status, Some(64), "{bits:o} {words:?}: {output:?}");
            let remedy = format!("chmod 600 {}", secret.display());
            assert!(output.err.contains(&remedy), "{bits:o} {words:?}: {output:?}");
        }
        mode(secret, 0o600);
        give(secret, ATTACKER);
        let output = bounded(&sandbox, words);
        assert!(output.status == Some(64) && output.err.contains("chown root "), "{words:?}: {output:?}");
        give(secret, 0);
    }
    mode(Path::new(&users), 0o666);
    let output = bounded(&sandbox, &commands[2].1);
    assert!(output.status == Some(64) && output.err.contains("chmod go-w "), "{output:?}");
    for bits in [0o600, 0o400, 0o640] {
        mode(Path::new(&token), bits);
        mode(Path::new(&key), bits);
        WebServer::start(&sandbox, &["--token-file", &token, "--tls-cert", &cert, "--tls-key", &key]).end();
    }
    let mut piped = Command::new("bash");
    let script = "exec timeout 20 \"$0\" web --listen 127.0.0.1:0 --token-file <(echo short)";
    piped.args(["-c", script, PLUMB]).env("PLUMB_DB", sandbox.database()).env("HOME", sandbox.home());
    let output = piped.output().map(Output::from).expect("bash starts");
    assert!(output.err.contains("5 characters"), "{output:?}");
}

/// Commands without the argument of `-o`, and the name of the file that each writes.
const WRITERS: &[(&[&str], &str)] = &[
    (&["report", "latest", "-o"], "report.md"),
    (&["report", "latest", "-o"], "report.html"),
    (&["report", "latest", "--format", "csv", "-o"], "report"),
    (&["compare", "latest", "latest", "-o"], "both.json"),
    (&["runs", "export", "latest", "-o"], "run.json.gz"),
    (&["plot", "latest", "--kind", "results", "-o"], "results.svg"),
    (&["plot", "latest", "--kind", "results", "-o"], "results.png"),
    (&["scenario", "new", "mine", "-o"], "mine.toml"),
];

struct Secret {
    path: PathBuf,
    inode: u64,
}

impl Secret {
    fn of(uid: u32, sandbox: &Sandbox) -> Self {
        let path = folder(sandbox, "own").join("secret");
        fs::write(&path, "secret").expect("own folder");
        mode(&path, 0o600);
        [path.as_path(), path.parent().expect("it has one")].iter().for_each(|path| give(path, uid));
        let inode = fs::metadata(&path).expect("the file exists").ino();
        Self { path, inode }
    }

    fn is_untouched(&self, case: &str) {
        let found = fs::metadata(&self.path).expect("the file exists");
        assert_eq!((found.ino(), found.mode() & 0o7777), (self.inode, 0o600), "{case}");
        assert_eq!(fs::read_to_string(&self.path).expect("the file is readable"), "secret", "{case}");
        let others = fs::read_dir(self.path.parent().expect("it has one")).expect("own file").count();
        assert_eq!(others, 1, "{case}");
    }
}

fn planted_links() {
    for uid in [0, USER] {
        let sandbox = stored_runs::with_run(GOLDEN);
        let store = sandbox.home().join("store");
        fs::create_dir(&store).expect("own folder");
        fs::rename(sandbox.database(), store.join("runs.db")).expect("own folder");
        [&store, &store.join("runs.db")].iter().for_each(|path| give(path, uid));
        let secret = Secret::of(uid, &sandbox);
        let own = secret.path.parent().expect("it has one");
        let folders = [(0o1777, 0), (0o775, 0), (0o777, 0), (0o755, ATTACKER)];
        for ((words, name), (shared_mode, owner)) in WRITERS.iter().zip(folders.iter().cycle()) {
            for (at, target) in [(*name, secret.path.as_path()), (*name, &own.join("none")), ("folder", own)]
            {
                let shared = folder(&sandbox, "shared");
                let link = shared.join(at);
                symlink(target, &link).expect("as root");
                give(&link, ATTACKER);
                chown(&shared, Some(*owner), Some(ATTACKER)).expect("as root");
                mode(&shared, *shared_mode);
                let path = if at == "folder" { link.join(name) } else { link };
                let path = path.to_str().expect("plain names");
                let set = [("PLUMB_DB", &*store.join("runs.db")), ("HOME", &*store)];
                let output = by(uid, &sandbox, &set, &[words, &[path][..]].concat());
                let case = format!("{words:?} {path} {shared_mode:o} as {uid}: {output:?}");
                let is_named = ["link", "exists"].iter().any(|word| output.err.contains(word));
                assert!(output.status != Some(0) && is_named, "{case}");
                secret.is_untouched(&case);
                fs::remove_dir_all(&shared).expect("as root");
            }
        }
    }
}

fn planted_manual_pages() {
    let sandbox = sandbox();
    let secret = Secret::of(0, &sandbox);
    for name in ["plumb-run.1", "plumb.1"] {
        let shared = folder(&sandbox, "shared");
        mode(&shared, 0o1777);
        symlink(&secret.path, shared.join(name)).expect("as root");
        give(&shared.join(name), ATTACKER);
        let output = by(0, &sandbox, &[], &["man", "-o", shared.to_str().expect("plain names")]);
        assert!(output.status == Some(1) && output.err.contains(name), "{output:?}");
        secret.is_untouched(name);
        fs::remove_dir_all(&shared).expect("as root");
    }
}

fn planted_files_and_pipes() {
    let sandbox = stored_runs::with_run(GOLDEN);
    let shared = folder(&sandbox, "shared");
    let path = shared.join("report.md");
    let text = path.to_str().expect("plain names");
    mode(&shared, 0o1777);
    fs::write(&path, "planted").expect("as root");
    mode(&path, 0o666);
    give(&path, ATTACKER);
    let _ = sandbox.succeed(&["report", "latest", "-o", text]);
    let written = fs::metadata(&path).expect("it was written");
    assert_eq!((written.uid(), written.mode() & 0o022), (0, 0));
    fs::remove_file(&path).expect("as root");
    assert!(Command::new("mkfifo").arg(&path).status().expect("coreutils").success());
    give(&path, ATTACKER);
    let output = sandbox.plumb(&["report", "latest", "-o", text]);
    assert!(output.status == Some(1) && output.err.contains("user 65534 created it"), "{output:?}");
}

fn own_links_and_pipes() {
    let sandbox = stored_runs::with_run(GOLDEN);
    let home = sandbox.home();
    let of = |path: &Path| fs::read_to_string(path).expect("it was written");
    let (target, link) = (home.join("target.md"), home.join("link.md"));
    fs::write(&target, "old").expect("own file");
    mode(&target, 0o640);
    symlink("target.md", &link).expect("own file");
    let _ = sandbox.succeed(&["report", "latest", "-o", link.to_str().expect("plain names")]);
    assert!(fs::symlink_metadata(&link).expect("it stays").is_symlink() && of(&target).len() > 100);
    assert_eq!(fs::metadata(&target).expect("it stays").mode() & 0o7777, 0o640);
    let written = of(&target);
    let report = ["report", "latest", "-f", "markdown", "-o"];
    assert_eq!(sandbox.succeed(&[&report[..], &["/dev/stdout"]].concat()).out, written);
    assert_eq!(sandbox.succeed(&[&report[..], &["/dev/fd/1"]].concat()).out, written);
    let _ = sandbox.succeed(&[&report[..], &["/dev/null"]].concat());
    let shell = |script: &str| {
        let mut command = Command::new("bash");
        command.args(["-c", script, PLUMB]).env("PLUMB_DB", sandbox.database()).env("HOME", home);
        let output = command.env("NO_COLOR", "1").current_dir(home).output().map(Output::from);
        let output = output.expect("bash starts");
        assert_eq!(output.status, Some(0), "{script}: {output:?}");
    };
    shell(
        "\"$0\" report latest -f markdown -o >(cat > process); wait $!; while [ ! -s process ]; do sleep 0.05; done",
    );
    shell("echo before > appended; \"$0\" report latest -f markdown -o /dev/stdout >> appended");
    assert_eq!(of(&home.join("appended")), format!("before\n{written}"));
    let pipe = home.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("coreutils").success());
    let reader = thread::spawn({
        let pipe = pipe.clone();
        move || fs::read_to_string(pipe).expect("text")
    });
    let _ = sandbox.succeed(&[&report[..], &[pipe.to_str().expect("plain names")]].concat());
    assert_eq!(reader.join().expect("it reads"), written);
    let left = fs::read_dir(home).expect("own file").filter_map(Result::ok);
    let left: Vec<_> =
        left.map(|entry| entry.file_name()).filter(|name| name.to_string_lossy().contains("part")).collect();
    assert!(left.is_empty(), "{left:?}");
}

fn planted_next_to_a_store() {
    for (name, is_hard_link, shared_mode, owner) in [
        ("runs.db.plan.watch", false, 0o775, 0),
        ("runs.db.plan.watch", false, 0o755, ATTACKER),
        ("runs.db.plan.watch-lock", false, 0o1777, 0),
        ("runs.db.plan.watch-lock", true, 0o775, 0),
    ] {
        let sandbox = stored_runs::with_run(KINDS);
        let record = sandbox.succeed(&["report", "latest:kinds", "--format", "raw"]).out;
        let record: serde_json::Value = serde_json::from_str(&record).expect("a record is JSON");
        let _ = sandbox.file("kinds.toml", record["header"]["scenario"]["text"].as_str().expect("a text"));
        let plan =
            "[[measure]]\nscenario = \"kinds.toml\"\nevery = \"1h\"\n[budget]\nbytes_per_day = \"1kB\"\n";
        let plan = sandbox.file("plan.toml", plan);
        let secret = Secret::of(0, &sandbox);
        let shared = folder(&sandbox, "shared");
        fs::rename(sandbox.database(), shared.join("runs.db")).expect("own file");
        if is_hard_link {
            fs::hard_link(&secret.path, shared.join(name)).expect("as root");
        } else {
            symlink(&secret.path, shared.join(name)).expect("as root");
            give(&shared.join(name), ATTACKER);
        }
        chown(&shared, Some(owner), Some(ATTACKER)).expect("as root");
        mode(&shared, shared_mode);
        let store = shared.join("runs.db");
        let output =
            by(0, &sandbox, &[("PLUMB_DB", &store), ("HOME", sandbox.home())], &["watch", &plan, "--once"]);
        let case = format!("{name} {shared_mode:o} {owner}: {output:?}");
        assert!(output.status == Some(65) && output.err.contains(name), "{case}");
        secret.is_untouched(&case);
    }
}

fn pipes_next_to_a_store() {
    for name in ["runs.db.plan.watch", "runs.db.plan.watch-lock", "runs.db.other.lock"] {
        let sandbox = stored_runs::with_run(KINDS);
        let shared = folder(&sandbox, "shared");
        fs::rename(sandbox.database(), shared.join("runs.db")).expect("own file");
        mode(&shared, 0o1777);
        let plan = sandbox.file(
            "plan.toml",
            "[[measure]]\nscenario = \"quick\"\nevery = \"1h\"\n[budget]\nbytes_per_day = \"1kB\"\n",
        );
        let pipe = shared.join(name);
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("coreutils").success());
        give(&pipe, ATTACKER);
        let mut command = Command::new("timeout");
        command.args(["120", PLUMB, "watch", &plan, "--once"]).env("PLUMB_DB", shared.join("runs.db"));
        let output = command.env("HOME", sandbox.home()).output().map(Output::from).expect("coreutils");
        // Status 124 would mean that the command waited for the other end of the pipe.
        assert_ne!(output.status, Some(124), "{name}: {output:?}");
    }
}
