//! Folders and files that others could have written, and those that they could not.
#![expect(clippy::disallowed_methods, reason = "the folders are prepared with the standard library")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown, symlink};

use super::*;

const NAME: &str = "list/labs";

fn base() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn mode(path: &Path, bits: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(bits)).expect("it is ours");
}

#[test]
fn what_is_written_is_for_one_alone_and_there_once() {
    let base = base();
    let path = base.path().join(NAME);
    assert!(PrivateFolder::open(&path).expect("nothing is wrong").names().expect("none").is_empty());
    assert!(!path.exists(), "looking makes nothing");
    let folder = PrivateFolder::create(&path).expect("it is ours");
    folder.write_new("a", "first").expect("it is new");
    let error = folder.write_new("a", "second").expect_err("it is there");
    assert!(error.exists_already(), "{error}");
    let bits = |path: &Path| fs::metadata(path).expect("it was made").mode() & 0o7777;
    assert_eq!((bits(&path), bits(&path.join("a"))), (0o700, 0o600));
    assert_eq!(folder.names().expect("readable"), ["a"]);
    assert_eq!(fs::read_dir(&path).expect("it is ours").count(), 1, "no draft is left");
    assert_eq!(folder.read("a").expect("readable").as_deref(), Some("first"));
    folder.remove("a").and_then(|()| folder.remove("a")).expect("gone is no error");
    assert_eq!(folder.read("a").expect("gone is no error"), None);
}

#[test]
fn a_folder_that_is_exchanged_after_it_was_opened_is_not_used() {
    let base = base();
    let path = base.path().join(NAME);
    let folder = PrivateFolder::create(&path).expect("it is ours");
    fs::rename(base.path().join("list"), base.path().join("gone")).expect("it is ours");
    fs::create_dir_all(&path).expect("it is ours");
    fs::write(path.join("planted"), "").expect("it is ours");
    folder.write_new("a", "text").expect("it is new");
    assert!(!folder.names().expect("readable").contains(&"planted".to_owned()));
    assert!(base.path().join("gone/labs/a").exists() && !path.join("a").exists());
}

/// What is done to the folder `list/labs` below the path, and what is told then; nothing where it is fine.
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
    lchown(path, Some(65_534), None).expect("root may");
}

/// A link at `name` that leads to `to`, where what was there is now.
fn link(base: &Path, name: &str, to: &str) {
    fs::rename(base.join(name), base.join("moved")).expect("it is ours");
    symlink(base.join(to), base.join(name)).expect("it is ours");
}

fn file(base: &Path) {
    fs::remove_dir(base.join(NAME)).expect("it is ours");
    fs::write(base.join(NAME), "").expect("it is ours");
}

fn check_folder(done: fn(&Path), told: Option<&str>) {
    let base = base();
    let path = base.path().join(NAME);
    drop(PrivateFolder::create(&path).expect("it is ours"));
    done(base.path());
    for folder in [PrivateFolder::open(&path), PrivateFolder::create(&path)] {
        match (folder, told) {
            (Ok(folder), None) => folder.names().map(drop).expect("readable"),
            (Err(error), Some(told)) => assert!(error.to_string().contains(told), "no `{told}` in {error}"),
            (folder, told) => panic!("{told:?}: {folder:?}"),
        }
    }
}

#[test]
fn a_folder_in_which_others_could_exchange_something_is_refused() {
    for (done, told) in FOLDERS {
        check_folder(*done, *told);
    }
    assert!(PrivateFolder::open(Path::new("list")).expect_err("relative").to_string().contains("absolute"));
}

#[test]
fn a_folder_of_another_user_is_refused_and_its_user_named() {
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
fn only_regular_files_that_nobody_else_could_write_are_read() {
    let base = base();
    let folder = PrivateFolder::create(&base.path().join(NAME)).expect("it is ours");
    let path = |name: &str| base.path().join(NAME).join(name);
    fs::write(path("shared"), "").expect("it is ours");
    mode(&path("shared"), 0o620);
    fs::create_dir(path("folder")).expect("it is ours");
    symlink(path("shared"), path("link")).expect("it is ours");
    let bits = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(CWD, path("pipe"), FileType::Fifo, bits, 0).expect("it is ours");
    let socket = std::os::unix::net::UnixListener::bind(path("socket")).expect("it is ours");
    for (name, told) in [
        ("shared", "mode 0620"),
        ("folder", "no regular file"),
        ("link", "it is a link"),
        ("pipe", "no regular file"),
        ("socket", "socket"),
    ] {
        let error = folder.read(name).expect_err("not as it must be").to_string();
        assert!(error.contains(told) && error.contains(name), "no `{told}` in {error}");
    }
    drop(socket);
}
