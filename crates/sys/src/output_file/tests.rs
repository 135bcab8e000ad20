//! Every way to write a file, where another user has put links, pipes and files of their own.
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
    fs::set_permissions(path, Permissions::from_mode(bits)).expect("it is ours");
}

fn pipe(path: &Path) {
    rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("it is ours");
}

type Writer = (&'static str, fn(&Path) -> Result<()>);

/// Each way to write to a path.
const WRITERS: &[Writer] = &[
    ("replace", |path| replace(path, b"new")),
    ("write_new", |path| write_new(path, b"new", 0o600)),
    ("append", |path| open_append(path)?.write_all(b"new").named("write", || "")),
    ("lock", |path| open_lock(path)?.set_len(0).named("write", || "")),
    ("rename", |path| {
        let from = path.with_file_name("from");
        fs::write(&from, "new").expect("it is ours");
        rename(&from, path)
    }),
];

#[test]
fn a_link_of_another_user_is_not_followed() {
    if process::user() != 0 || userns::is_nested() {
        return;
    }
    for (name, write) in WRITERS {
        for (bits, owner) in [(0o1777, None), (0o777, None), (0o755, Some(OTHER))] {
            let base = base();
            let (shared, own) = (base.path().join("shared"), base.path().join("own"));
            [&shared, &own].iter().for_each(|folder| fs::create_dir(folder).expect("it is ours"));
            fs::write(own.join("secret"), "secret").expect("it is ours");
            symlink(own.join("secret"), shared.join("file")).expect("it is ours");
            symlink(&own, shared.join("folder")).expect("it is ours");
            symlink(own.join("none"), shared.join("dangling")).expect("it is ours");
            for link in ["file", "folder", "dangling"] {
                lchown(shared.join(link), Some(OTHER), None).expect("root may");
            }
            lchown(&shared, owner, None).expect("root may");
            mode(&shared, bits);
            for path in ["file", "folder/secret", "folder/none", "dangling"] {
                // Renaming replaces a link, and does not follow it.
                let written = write(&shared.join(path));
                assert!(
                    written.is_err() || (*name == "rename" && !path.contains('/')),
                    "{name} {path} {bits:o}"
                );
                assert_eq!(
                    fs::read_to_string(own.join("secret")).expect("it is there"),
                    "secret",
                    "{name} {path}"
                );
                assert!(!own.join("none").exists(), "{name} {path}");
            }
        }
    }
}

#[test]
fn a_text_replaces_the_file_that_an_own_link_leads_to() {
    let base = base();
    let (file, link) = (base.path().join("file"), base.path().join("link"));
    fs::write(&file, "old").expect("it is ours");
    mode(&file, 0o640);
    symlink("file", &link).expect("it is ours");
    replace(&link, b"new").expect("it is ours");
    assert!(fs::symlink_metadata(&link).expect("it stays").is_symlink());
    assert_eq!(fs::read_to_string(&file).expect("it is there"), "new");
    assert_eq!(fs::metadata(&file).expect("it is there").mode() & 0o7777, 0o640);
    symlink("made", base.path().join("dangling")).expect("it is ours");
    replace(&base.path().join("dangling"), b"new").expect("it is ours");
    assert_eq!(fs::read_to_string(base.path().join("made")).expect("it was made"), "new");
    assert_eq!(fs::read_dir(base.path()).expect("it is ours").count(), 4, "no part is left");
}

#[test]
fn another_users_file_does_not_decide_who_can_write_the_new_one() {
    if process::user() != 0 || userns::is_nested() {
        return;
    }
    let base = base();
    let path = base.path().join("report");
    fs::write(&path, "planted").expect("it is ours");
    mode(&path, 0o666);
    lchown(&path, Some(OTHER), None).expect("root may");
    mode(base.path(), 0o1777);
    replace(&path, b"new").expect("root may");
    let written = fs::metadata(&path).expect("it is there");
    assert_eq!((written.uid(), written.mode() & 0o022), (0, 0));
}

#[test]
fn pipes_devices_and_descriptors_are_written_as_they_are() {
    let base = base();
    let path = base.path().join("pipe");
    pipe(&path);
    let read = |path: PathBuf| thread::spawn(move || fs::read_to_string(path).expect("text"));
    let reader = read(path.clone());
    replace(&path, b"new").expect("it is ours");
    assert_eq!(reader.join().expect("it read"), "new");
    replace(Path::new("/dev/null"), b"new").expect("root's device");
    let mut file = tempfile::tempfile().expect("a file");
    for name in [format!("/dev/fd/{}", file.as_raw_fd()), format!("/proc/self/fd/{}", file.as_raw_fd())] {
        replace(Path::new(&name), b"new").expect("it is open");
    }
    // Followed through a link, it is opened anew.
    let link = base.path().join("link");
    symlink(format!("/dev/fd/{}", file.as_raw_fd()), &link).expect("it is ours");
    let mut text = String::new();
    std::io::Seek::rewind(&mut file).and_then(|()| file.read_to_string(&mut text)).expect("readable");
    assert_eq!(text, "newnew");
    replace(&link, b"once").expect("it is open");
    assert_eq!(file.metadata().expect("it is open").len(), 4);
}

#[test]
fn a_pipe_of_another_user_where_others_write_is_refused() {
    if process::user() != 0 || userns::is_nested() {
        return;
    }
    let base = base();
    let path = base.path().join("pipe");
    pipe(&path);
    lchown(&path, Some(OTHER), None).expect("root may");
    mode(base.path(), 0o1777);
    assert!(replace(&path, b"new").is_err() && open_append(&path).is_err());
}

#[test]
fn a_new_file_replaces_nothing() {
    let base = base();
    let path = base.path().join("file");
    write_new(&path, b"first", 0o600).expect("it is new");
    symlink("file", base.path().join("link")).expect("it is ours");
    for name in ["file", "link"] {
        let error = write_new(&base.path().join(name), b"second", 0o600).expect_err("it exists");
        assert!(error.exists_already(), "{error}");
    }
    assert_eq!(fs::read_to_string(&path).expect("it is there"), "first");
    assert_eq!(fs::metadata(&path).expect("it is there").mode() & 0o7777, 0o600);
}

#[test]
fn a_lock_is_a_regular_file_without_another_name() {
    let base = base();
    let path = |name: &str| base.path().join(name);
    drop(open_lock(&path("lock")).expect("it is new"));
    drop(open_lock(&path("lock")).expect("it exists"));
    pipe(&path("pipe"));
    fs::create_dir(path("folder")).expect("it is ours");
    symlink("lock", path("link")).expect("it is ours");
    for name in ["pipe", "folder", "link"] {
        assert!(open_lock(&path(name)).is_err() && open_existing(&path(name)).is_err(), "{name}");
    }
    fs::hard_link(path("lock"), path("other")).expect("it is ours");
    assert!(open_lock(&path("other")).is_ok(), "no one else can write here");
    mode(base.path(), 0o775);
    assert!(open_lock(&path("other")).is_err() && open_append(&path("other")).is_err());
}
