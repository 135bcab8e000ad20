//! Files that another user can write, and links that another user made: none is trusted, and none is followed to a file of root's.

use std::{
    fs::{self, Permissions},
    os::unix::{
        fs::{PermissionsExt, lchown, symlink},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use plumb_tests::{Output, Sandbox, WebServer, certificate};

use crate::sandbox;

const ATTACKER: u32 = 65_534;
const USER: u32 = 65_533;
const PLUMB: &str = env!("CARGO_BIN_EXE_plumb");

fn mode(path: &Path, bits: u32) {
    fs::set_permissions(path, Permissions::from_mode(bits)).expect("root may");
}

fn give(path: &Path, uid: u32) {
    lchown(path, Some(uid), None).expect("root may");
}

/// A folder for a case below a home that every user can pass.
fn folder(sandbox: &Sandbox, name: &str) -> PathBuf {
    mode(sandbox.home(), 0o755);
    let folder = sandbox.home().join(name);
    fs::create_dir_all(&folder).expect("the sandbox is ours");
    folder
}

/// A copy of the program that every user can start.
fn program(sandbox: &Sandbox) -> PathBuf {
    let copy = folder(sandbox, "bin").join("plumb");
    if !copy.exists() {
        let copied = Command::new("cp").arg(PLUMB).arg(&copy).status();
        assert!(copied.expect("cp is there").success());
    }
    copy
}

/// `plumb` as this user, with nothing in its environment but this.
fn by(uid: u32, sandbox: &Sandbox, set: &[(&str, &Path)], words: &[&str]) -> Output {
    let mut command = Command::new(program(sandbox));
    command.args(words).env_clear().envs(set.iter().copied()).env("NO_COLOR", "1").stdin(Stdio::null());
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).current_dir("/");
    if uid != 0 {
        command.uid(uid).gid(uid);
    }
    command.output().map(Output::from).expect("plumb was built")
}

/// What is done to `plumb/NAME` in a folder of root's or a user's, and the command that the error names; nothing where
/// the file is read.
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
    // As a umask of 002 leaves them.
    (|top, name| (mode(top, 0o775), mode(&top.join("plumb").join(name), 0o664)).1, None),
    (|top, name| give(&top.join("plumb").join(name), 0), None),
    (|top, name| give(&top.join("plumb").join(name), ATTACKER), Some("chown 65533 ")),
    (|top, name| mode(&top.join("plumb").join(name), 0o666), Some("chmod o-w ")),
    (|top, name| mode(&top.join("plumb").join(name), 0o646), Some("chmod o-w ")),
];

/// Moves the file away, and leaves a link of this owner to it.
fn link(top: &Path, name: &str, owner: u32) {
    let (file, moved) = (top.join("plumb").join(name), top.join("moved"));
    fs::rename(&file, &moved).expect("root may");
    symlink(&moved, &file).expect("root may");
    give(&file, owner);
}

/// Does each change to a file of root's and of a user's, and holds what `plumb` prints against it.
fn changes(name: &str, text: &str, run: &dyn Fn(u32, &Sandbox, &Path) -> Output, read: &str) {
    for (uid, cases) in [(0, OF_ROOT), (USER, OF_USER)] {
        for (number, (change, remedy)) in cases.iter().enumerate() {
            let sandbox = sandbox();
            let top = folder(&sandbox, "top");
            let place = folder(&sandbox, "top/plumb");
            fs::write(place.join(name), text).expect("the sandbox is ours");
            mode(&place.join(name), 0o644);
            [&top, &place, &place.join(name)].iter().for_each(|path| give(path, uid));
            change(&top, name);
            let output = run(uid, &sandbox, &top);
            let case = format!("{name}, user {uid}, case {number}: {output:?}");
            match remedy {
                None => assert!(format!("{}{}", output.out, output.err).contains(read), "{case}"),
                Some(remedy) => {
                    assert_eq!(output.status, Some(64), "{case}");
                    let said = &output.err;
                    assert!(
                        said.contains("cannot trust") && said.contains(&format!("plumb/{name}: ")),
                        "{case}"
                    );
                    assert!(output.err.contains(remedy), "no `{remedy}`: {case}");
                    assert!(!output.out.contains(read), "{case}");
                }
            }
        }
    }
}

pub(crate) fn configuration_file() {
    let text = "pager = \"touch /nowhere/pager\"\n";
    for variable in ["XDG_CONFIG_HOME", "HOME"] {
        let words = ["config", "--json"];
        let run = |uid: u32, sandbox: &Sandbox, top: &Path| {
            if variable == "HOME" {
                let inner = top.join(".config");
                symlink(top, &inner).expect("root may");
                give(&inner, uid);
            }
            by(uid, sandbox, &[(variable, top), ("XDG_DATA_HOME", sandbox.home())], &words)
        };
        changes("config.toml", text, &run, "/nowhere/pager");
    }
    // Every command reads it, and one that is missing is missed nowhere.
    let sandbox = sandbox();
    let top = folder(&sandbox, "top");
    give(&top, ATTACKER);
    let store = sandbox.database();
    let run = |words: &[&str]| by(0, &sandbox, &[("XDG_CONFIG_HOME", &top), ("PLUMB_DB", &store)], words);
    assert_eq!(run(&["runs"]).status, Some(0));
    fs::write(folder(&sandbox, "top/plumb").join("config.toml"), text).expect("root may");
    for words in [&["runs"][..], &["report"], &["run", "quick", "--dry-run"], &["config"]] {
        let output = run(words);
        assert!(output.status == Some(64) && output.err.contains("cannot trust"), "{words:?}: {output:?}");
    }
}

pub(crate) fn fleet_file() {
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
    // Whom the server must be certified by is in a file, too.
    let authority = |uid: u32, sandbox: &Sandbox, top: &Path| {
        let text = format!("{text}ca = \"{}\"\n", top.join("plumb/ca.pem").display());
        let file = folder(sandbox, "fleet").join("fleet.toml");
        fs::write(&file, text).expect("the sandbox is ours");
        by(uid, sandbox, &[("PLUMB_FLEET", &file), ("HOME", sandbox.home())], &["fleet", "list"])
    };
    changes("ca.pem", "no certificate", &authority, "127.0.0.1:1");
}

pub(crate) fn plan_and_hook() {
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
            let target = fs::canonicalize(&hook).expect("it is there");
            mode(&target, fs::metadata(&target).expect("it is there").mode() | 0o111);
            let file = folder(sandbox, "plan").join("plan.toml");
            let name = if is_on_path { "hook".to_owned() } else { hook.display().to_string() };
            fs::write(&file, format!("{plan}[alert]\nhook = [\"{name}\", \"ops\"]\n")).expect("ours");
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

/// `plumb`, ended where it would serve.
fn bounded(sandbox: &Sandbox, words: &[&str]) -> Output {
    let plumb = sandbox.command(words);
    let mut command = Command::new("timeout");
    command.arg("60").arg(plumb.get_program()).args(plumb.get_args());
    command.envs(plumb.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdin(Stdio::null()).output().map(Output::from).expect("coreutils")
}

pub(crate) fn secrets() {
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
    // Who may log in to a server is read from a file, too.
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
    let output = piped.output().map(Output::from).expect("bash is there");
    assert!(output.err.contains("5 characters"), "{output:?}");
}
