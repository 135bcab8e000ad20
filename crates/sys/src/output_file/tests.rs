//! Tests all write functions with symlinks, pipes and files of other users.

use std::fs::{self, Permissions};
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown, symlink};
use std::path::PathBuf;
use std::thread;

use rustix::fs::CWD;

use super::*;
use crate::{process, userns};

const OTHER: u32 = 65_533;

fn base() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn mode(path: &Path, bits: u32) {
    fs::set_permissions(path, Permissions::from_mode(bits)).expect("own file");
}

fn pipe(path: &Path) {
    rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("own file");
}

type Writer = (&'static str, fn(&Path) -> Result<()>);

const WRITERS: &[Writer] = &[
    ("replace", |path| replace(path, b"new")),
    ("write_new", |path| write_new(path, b"new", 0o600)),
    ("append", |path| open_append(path)?.write_all(b"new").named("write", || "")),
    ("lock", |path| open_lock(path)?.set_len(0).named("write", || "")),
    ("rename", |path| {
        let from = path.with_file_name("from");
        fs::write(&from, "new").expect("own file");
        rename(&from, path)
    }),
];

#[test]
fn does_not_follow_symlinks_of_other_users() {
    if process::user() != 0 || userns::is_nested() {
        return;
    }
    for (name, write) in WRITERS {
        for (bits, owner) in [(0o1777, None), (0o777, None), (0o755, Some(OTHER))] {
            let base = base();
            let (shared, own) = (base.path().join("shared"), base.path().join("own"));
            [&shared, &own].iter().for_each(|folder| fs::create_dir(folder).expect("own file"));
            fs::write(own.join("secret"), "secret").expect("own file");
            symlink(own.join("secret"), shared.join("file")).expect("own file");
            symlink(&own, shared.join("folder")).expect("own file");
            symlink(own.join("none"), shared.join("dangling")).expect("own file");
            for link in ["file", "folder", "dangling"] {
                lchown(shared.join(link), Some(OTHER), None).expect("root");
            }
            lchown(&shared, owner, None).expect("root");
            mode(&shared, bits);
            for path in ["file", "folder/secret", "folder/none", "dangling"] {
                let written = write(&shared.join(path));
                assert!(
                    written.is_err() || (*name == "rename" && !path.contains('/')),
                    "{name} {path} {bits:o}"
                );
                assert_eq!(
                    fs::read_to_string(own.join("secret")).expect("exists"),
                    "secret",
                    "{name} {path}"
                );
                assert!(!own.join("none").exists(), "{name} {path}");
            }
        }
    }
}

#[test]
fn replaces_target_of_own_symlink() {
    let base = base();
    let (file, link) = (base.path().join("file"), base.path().join("link"));
    fs::write(&file, "old").expect("own file");
    mode(&file, 0o640);
    symlink("file", &link).expect("own file");
    replace(&link, b"new").expect("own file");
    assert!(fs::symlink_metadata(&link).expect("exists").is_symlink());
    assert_eq!(fs::read_to_string(&file).expect("exists"), "new");
    assert_eq!(fs::metadata(&file).expect("exists").mode() & 0o7777, 0o640);
    symlink("made", base.path().join("dangling")).expect("own file");
    replace(&base.path().join("dangling"), b"new").expect("own file");
    assert_eq!(fs::read_to_string(base.path().join("made")).expect("exists"), "new");
    assert_eq!(fs::read_dir(base.path()).expect("own file").count(), 4, "no temporary file remains");
}

#[test]
fn ignores_permissions_of_another_users_file() {
    if process::user() != 0 || userns::is_nested() {
        return;
    }
    let base = base();
    let path = base.path().join("report");
    fs::write(&path, "planted").expect("own file");
    mode(&path, 0o666);
    lchown(&path, Some(OTHER), None).expect("root");
    mode(base.path(), 0o1777);
    replace(&path, b"new").expect("root");
    let written = fs::metadata(&path).expect("exists");
    assert_eq!((written.uid(), written.mode() & 0o022), (0, 0));
}

#[test]
fn writes_pipes_devices_and_descriptors_directly() {
    let base = base();
    let path = base.path().join("pipe");
    pipe(&path);
    let read = |path: PathBuf| thread::spawn(move || fs::read_to_string(path).expect("text"));
    let reader = read(path.clone());
    replace(&path, b"new").expect("own file");
    assert_eq!(reader.join().expect("no panic"), "new");
    replace(Path::new("/dev/null"), b"new").expect("root's device");
    let mut file = tempfile::tempfile().expect("a file");
    for name in [format!("/dev/fd/{}", file.as_raw_fd()), format!("/proc/self/fd/{}", file.as_raw_fd())] {
        replace(Path::new(&name), b"new").expect("open");
    }
    let link = base.path().join("link");
    symlink(format!("/dev/fd/{}", file.as_raw_fd()), &link).expect("own file");
    let mut text = String::new();
    std::io::Seek::rewind(&mut file).and_then(|()| file.read_to_string(&mut text)).expect("readable");
    assert_eq!(text, "newnew");
    replace(&link, b"once").expect("open");
    assert_eq!(file.metadata().expect("open").len(), 4);
}

#[test]
fn rejects_pipe_of_another_user_in_shared_folder() {
    if process::user() != 0 || userns::is_nested() {
        return;
    }
    let base = base();
    let path = base.path().join("pipe");
    pipe(&path);
    lchown(&path, Some(OTHER), None).expect("root");
    mode(base.path(), 0o1777);
    assert!(replace(&path, b"new").is_err() && open_append(&path).is_err());
}

#[test]
fn write_new_replaces_nothing() {
    let base = base();
    let path = base.path().join("file");
    write_new(&path, b"first", 0o600).expect("a new file");
    symlink("file", base.path().join("link")).expect("own file");
    for name in ["file", "link"] {
        let error = write_new(&base.path().join(name), b"second", 0o600).expect_err("exists");
        assert!(error.exists_already(), "{error}");
    }
    assert_eq!(fs::read_to_string(&path).expect("exists"), "first");
    assert_eq!(fs::metadata(&path).expect("exists").mode() & 0o7777, 0o600);
}

#[test]
fn lock_must_be_a_regular_file_with_one_name() {
    let base = base();
    let path = |name: &str| base.path().join(name);
    drop(open_lock(&path("lock")).expect("a new file"));
    drop(open_lock(&path("lock")).expect("it exists"));
    pipe(&path("pipe"));
    fs::create_dir(path("folder")).expect("own file");
    symlink("lock", path("link")).expect("own file");
    for name in ["pipe", "folder", "link"] {
        assert!(open_lock(&path(name)).is_err() && open_existing(&path(name)).is_err(), "{name}");
    }
    fs::hard_link(path("lock"), path("other")).expect("own file");
    assert!(open_lock(&path("other")).is_ok(), "no one else can write here");
    mode(base.path(), 0o775);
    assert!(open_lock(&path("other")).is_err() && open_append(&path("other")).is_err());
}
