//! Tests a full disk and a read-only location. Child processes run an ignored test with the store in
//! STORE_PATH.

mod record;

use std::{env, path::PathBuf, process::Command};

use record::{header, place, trial};
use samples::Sink;
use store::{Store, StoreError};

#[test]
fn full_disk_loses_only_the_trial_that_does_not_fit() {
    on_a_mount("size=400k", "writes_until_the_disk_is_full");
}

#[test]
fn read_only_store_can_be_read_but_not_written() {
    on_a_mount("size=4m", "remounts_folder_read_only_and_writes");
}

#[test]
#[ignore = "a child of full_disk_loses_only_the_trial_that_does_not_fit"]
fn writes_until_the_disk_is_full() {
    let Some(path) = variable("STORE_PATH").map(PathBuf::from) else { return };
    let header = header("quick-20261121-1", 1);
    let mut store = Store::open(&path).expect("opens");
    store.begin(&header).expect("begins");
    let (full, error) = (0..10_000)
        .find_map(|index| store.trial(&header.id, &trial(index)).err().map(|error| (index, error)))
        .expect("the disk fills up");
    assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
    assert!(full > 3, "only {full} trials fit");
    drop(store);
    let store = Store::open(&path).expect("opens on a full disk");
    let loaded = store.load(&header.id).expect("loads on a full disk").trials;
    assert_eq!(loaded, (0..full).map(trial).collect::<Vec<_>>());
}

#[test]
#[ignore = "a child of read_only_store_can_be_read_but_not_written"]
fn remounts_folder_read_only_and_writes() {
    let Some(path) = variable("STORE_PATH").map(PathBuf::from) else { return };
    let header = header("quick-20261121-1", 1);
    Store::open(&path).expect("opens").begin(&header).expect("begins");
    let folder = path.parent().expect("has one");
    let done = Command::new("mount").args(["-o", "remount,ro"]).arg(folder).status().expect("mount runs");
    assert!(done.success(), "remounts read-only");

    let mut store = Store::open(&path).expect("opens for reading");
    assert_eq!(store.load(&header.id).expect("loads").header, header);
    let error = store.trial(&header.id, &trial(0)).expect_err("read-only");
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
    let new_file = Store::open(folder.join("other.db")).expect_err("read-only");
    assert!(matches!(new_file, StoreError::CannotOpen { .. }), "{new_file:?}");
    let new_folder = Store::open(folder.join("other/runs.db")).expect_err("read-only");
    assert!(matches!(new_folder, StoreError::Folder { .. }), "{new_folder:?}");
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok()
}

/// Runs a test with STORE_PATH on a small file system in a private mount namespace. Requires root or unprivileged user
/// namespaces.
#[expect(clippy::disallowed_macros, reason = "prints the reason for skipping")]
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
        println!("skipped, because this user may not mount in a namespace: {able:?}");
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
