//! What the world does to a store: a killed writer, several writers, a full disk, a read-only place.
//!
//! Children are this test binary again, run for one ignored test; what they work on is named by STORE_PATH.
#![expect(clippy::disallowed_methods, reason = "tells children what to do, and waits for them")]

mod record;

use std::{
    env,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use record::{header, place, trial};
use samples::Sink;
use store::{Store, StoreError};

const NEVER_ENDS: u32 = 1_000_000;

#[test]
fn a_writer_killed_in_the_middle_leaves_finished_trials_whole() {
    for kept in [1, 7, 23, 40] {
        let (_folder, path) = place();
        let mut writer = child("writes_until_it_is_killed", &path, "quick-20261121-1");
        let lines = BufReader::new(writer.stdout.take().expect("is piped")).lines();
        let said: u32 = lines
            .map_while(Result::ok)
            .filter_map(|line| line.strip_prefix("kept ")?.parse().ok())
            .find(|&index| index >= kept)
            .expect("the child keeps trials");
        writer.kill().expect("is killed");
        writer.wait().expect("is gone");

        let store = Store::open(&path).expect("opens without repair");
        let run = store.resolve("latest").expect("the run is there");
        let trials = store.load(&run).expect("loads").trials;
        let expected: Vec<_> = (0..u32::try_from(trials.len()).expect("few")).map(trial).collect();
        assert!(trials.len() > said as usize, "{} trials are left, {said} was said to be kept", trials.len());
        assert_eq!(trials, expected);
        assert_eq!(store.unfinished("digest of quick").expect("lists").len(), 1);
    }
}

#[test]
fn processes_that_write_different_runs_do_not_disturb_each_other() {
    let (_folder, path) = place();
    let ids = ["quick-20261121-1", "quick-20261121-2", "quick-20261121-3"];
    let writers = ids.map(|id| child("writes_fifty_trials", &path, id));
    for writer in writers {
        let output = writer.wait_with_output().expect("ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let store = Store::open(&path).expect("opens");
    let expected: Vec<_> = (0..50).map(trial).collect();
    for listed in store.runs().expect("lists") {
        assert_eq!(store.load(&listed.id).expect("loads").trials, expected);
    }
    assert_eq!(store.runs().expect("lists").len(), ids.len());
}

#[test]
fn a_full_disk_loses_only_the_trial_that_did_not_fit() {
    on_a_mount("size=400k", "fills_its_disk");
}

#[test]
fn a_read_only_place_can_be_read_and_is_named_when_written() {
    on_a_mount("size=4m", "finds_its_place_read_only");
}

#[test]
#[ignore = "a child of a_writer_killed_in_the_middle_leaves_finished_trials_whole"]
fn writes_until_it_is_killed() {
    write(NEVER_ENDS);
}

#[test]
#[ignore = "a child of processes_that_write_different_runs_do_not_disturb_each_other"]
fn writes_fifty_trials() {
    write(50);
}

#[test]
#[ignore = "a child of a_full_disk_loses_only_the_trial_that_did_not_fit"]
fn fills_its_disk() {
    let Some(path) = told("STORE_PATH").map(PathBuf::from) else { return };
    let header = header("quick-20261121-1", 1);
    let mut store = Store::open(&path).expect("opens");
    store.begin(&header).expect("begins");
    let (full, error) = (0..10_000)
        .find_map(|index| store.trial(&header.id, &trial(index)).err().map(|error| (index, error)))
        .expect("the disk becomes full");
    assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
    assert!(full > 3, "only {full} trials fitted");
    drop(store);
    let store = Store::open(&path).expect("opens on a full disk");
    let kept = store.load(&header.id).expect("loads on a full disk").trials;
    assert_eq!(kept, (0..full).map(trial).collect::<Vec<_>>());
}

#[test]
#[ignore = "a child of a_read_only_place_can_be_read_and_is_named_when_written"]
fn finds_its_place_read_only() {
    let Some(path) = told("STORE_PATH").map(PathBuf::from) else { return };
    let header = header("quick-20261121-1", 1);
    Store::open(&path).expect("opens").begin(&header).expect("begins");
    let folder = path.parent().expect("has one");
    let done = Command::new("mount").args(["-o", "remount,ro"]).arg(folder).status().expect("mount runs");
    assert!(done.success(), "the mount became read-only");

    let mut store = Store::open(&path).expect("opens for reading");
    assert_eq!(store.load(&header.id).expect("loads").header, header);
    let error = store.trial(&header.id, &trial(0)).expect_err("cannot be written");
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
    let new_file = Store::open(folder.join("other.db")).expect_err("cannot be made");
    assert!(matches!(new_file, StoreError::CannotOpen { .. }), "{new_file:?}");
    let new_folder = Store::open(folder.join("other/runs.db")).expect_err("cannot be made");
    assert!(matches!(new_folder, StoreError::Folder { .. }), "{new_folder:?}");
}

fn write(trials: u32) {
    let (Some(path), Some(run)) = (told("STORE_PATH"), told("STORE_RUN")) else { return };
    let header = header(&run, 1);
    let mut store = Store::open(path).expect("opens");
    store.begin(&header).expect("begins");
    for index in 0..trials {
        store.trial(&header.id, &trial(index)).expect("keeps");
        tell(index);
    }
}

/// What the parent said; `None` when run by hand, as `--include-ignored` does.
fn told(name: &str) -> Option<String> {
    env::var(name).ok()
}

#[expect(clippy::disallowed_macros, reason = "the parent reads how far its child is")]
fn tell(index: u32) {
    println!("kept {index}");
}

/// This binary again, for one ignored test.
fn child(test: &str, path: &Path, run: &str) -> Child {
    Command::new(env::current_exe().expect("known"))
        .args([test, "--exact", "--ignored", "--nocapture"])
        .env("STORE_PATH", path)
        .env("STORE_RUN", run)
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts")
}

/// Runs an ignored test with STORE_PATH on a small file system that only it sees. Needs to mount: as root,
/// or where unprivileged user namespaces are allowed; does nothing elsewhere.
#[expect(clippy::disallowed_macros, reason = "says why it does nothing")]
fn on_a_mount(options: &str, test: &str) {
    let (folder, _path) = place();
    let unshare = || {
        let mut unshare = Command::new("unshare");
        unshare.args(["--user", "--map-root-user", "--mount"]);
        unshare
    };
    let mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs"];
    let able = unshare().args(mount).arg(folder.path()).output();
    if !able.as_ref().is_ok_and(|output| output.status.success()) {
        println!("skipped, because this user may not mount in a namespace of its own: {able:?}");
        return;
    }
    let script = "mount -t tmpfs -o \"$1\" tmpfs \"$2\" && exec \"$3\" \"$4\" --exact --ignored --nocapture";
    let output = unshare()
        .args(["sh", "-c", script, "sh", options])
        .arg(folder.path())
        .arg(env::current_exe().expect("known"))
        .arg(test)
        .env("STORE_PATH", folder.path().join("runs.db"))
        .output()
        .expect("starts");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.contains("1 passed"), "{out}\n{err}");
}
