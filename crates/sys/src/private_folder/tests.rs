//! Tests folders and files with safe and unsafe owners and permissions.

#![expect(clippy::disallowed_methods, reason = "prepares folders with the standard library")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown, symlink};

use super::*;

const NAME: &str = "list/labs";

fn base() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn mode(path: &Path, bits: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(bits)).expect("own folder");
}

#[test]
fn writes_private_files_once() {
    let base = base();
    let path = base.path().join(NAME);
    assert!(PrivateFolder::open(&path).expect("a missing folder").names().expect("none").is_empty());
    assert!(!path.exists(), "opening does not create it");
    let folder = PrivateFolder::create(&path).expect("own folder");
    folder.write_new("a", "first").expect("a new file");
    let error = folder.write_new("a", "second").expect_err("exists");
    assert!(error.exists_already(), "{error}");
    let bits = |path: &Path| fs::metadata(path).expect("exists").mode() & 0o7777;
    assert_eq!((bits(&path), bits(&path.join("a"))), (0o700, 0o600));
    assert_eq!(folder.names().expect("readable"), ["a"]);
    assert_eq!(fs::read_dir(&path).expect("own folder").count(), 1, "no draft remains");
    assert_eq!(folder.read("a").expect("readable").as_deref(), Some("first"));
    folder.remove("a").and_then(|()| folder.remove("a")).expect("a missing file is no error");
    assert_eq!(folder.read("a").expect("a missing file is no error"), None);
}

#[test]
fn keeps_using_the_opened_folder_after_it_is_exchanged() {
    let base = base();
    let path = base.path().join(NAME);
    let folder = PrivateFolder::create(&path).expect("own folder");
    fs::rename(base.path().join("list"), base.path().join("gone")).expect("own folder");
    fs::create_dir_all(&path).expect("own folder");
    fs::write(path.join("planted"), "").expect("own folder");
    folder.write_new("a", "text").expect("a new file");
    assert!(!folder.names().expect("readable").contains(&"planted".to_owned()));
    assert!(base.path().join("gone/labs/a").exists() && !path.join("a").exists());
}

type Case = (fn(&Path), Option<&'static str>);

const FOLDERS: &[Case] = &[
    (|_| (), None),
    (|base| mode(base, 0o1777), None),
    (|base| mode(base, 0o755), None),
    (|base| link(base, "list", "moved"), None),
    (|base| mode(&base.join("list/labs"), 0o750), Some("(mode 0750): `chmod 700 ")),
    (|base| mode(&base.join("list/labs"), 0o702), Some("(mode 0702): `chmod go-w ")),
    (|base| mode(&base.join("list"), 0o770), Some("(mode 0770): `chmod go-w ")),
    (|base| mode(base, 0o777), Some("(mode 0777): `chmod go-w ")),
    (|base| (link(base, "list", "moved"), mode(base, 0o1777)).1, Some("list: Symbolic link")),
    (|base| link(base, "list/labs", "list/labs"), Some("list/labs: Symbolic link")),
    (file, Some("list/labs: Not a directory")),
];

fn give(path: &Path) {
    lchown(path, Some(65_534), None).expect("root");
}

fn link(base: &Path, name: &str, to: &str) {
    fs::rename(base.join(name), base.join("moved")).expect("own folder");
    symlink(base.join(to), base.join(name)).expect("own folder");
}

fn file(base: &Path) {
    fs::remove_dir(base.join(NAME)).expect("own folder");
    fs::write(base.join(NAME), "").expect("own folder");
}

fn check_folder(done: fn(&Path), expected: Option<&str>) {
    let base = base();
    let path = base.path().join(NAME);
    drop(PrivateFolder::create(&path).expect("own folder"));
    done(base.path());
    for folder in [PrivateFolder::open(&path), PrivateFolder::create(&path)] {
        match (folder, expected) {
            (Ok(folder), None) => folder.names().map(drop).expect("readable"),
            (Err(error), Some(expected)) => {
                assert!(error.to_string().contains(expected), "no `{expected}` in {error}");
            }
            (folder, expected) => panic!("{expected:?}: {folder:?}"),
        }
    }
}

#[test]
fn rejects_folder_that_others_can_modify() {
    for (done, expected) in FOLDERS {
        check_folder(*done, *expected);
    }
    assert!(PrivateFolder::open(Path::new("list")).expect_err("relative").to_string().contains("absolute"));
}

#[test]
fn rejects_folder_of_another_user() {
    if process::user() != 0 || userns::is_nested() {
        return;
    }
    let given: [fn(&Path); 3] =
        [|base| give(base), |base| give(&base.join("list")), |base| give(&base.join(NAME))];
    for done in given {
        check_folder(done, Some("belongs to user 65534"));
    }
}

#[test]
fn reads_only_private_regular_files() {
    let base = base();
    let folder = PrivateFolder::create(&base.path().join(NAME)).expect("own folder");
    let path = |name: &str| base.path().join(NAME).join(name);
    fs::write(path("shared"), "").expect("own folder");
    mode(&path("shared"), 0o620);
    fs::create_dir(path("folder")).expect("own folder");
    symlink(path("shared"), path("link")).expect("own folder");
    let bits = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(CWD, path("pipe"), FileType::Fifo, bits, 0).expect("own folder");
    let socket = std::os::unix::net::UnixListener::bind(path("socket")).expect("own folder");
    for (name, expected) in [
        ("shared", "mode 0620"),
        ("folder", "not a regular file"),
        ("link", "it is a symlink"),
        ("pipe", "not a regular file"),
        ("socket", "socket"),
    ] {
        let error = folder.read(name).expect_err("unsafe file").to_string();
        assert!(error.contains(expected) && error.contains(name), "no `{expected}` in {error}");
    }
    drop(socket);
}
