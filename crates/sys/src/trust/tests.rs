//! Tests files, symlinks and folders that other users own or can write to, and the suggested remedies.

#![expect(clippy::disallowed_methods, reason = "tests prepare files")]

use std::fs::{self, Permissions};
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, lchown, symlink};

use super::*;
use crate::userns;

const OTHER: u32 = 65_533;

type Case = (fn(&Path), Option<&'static str>);

const CASES: &[Case] = &[
    (|_| (), None),
    (|top| mode(&top.join("folder/file"), 0o400), None),
    (|top| mode(top, 0o1777), None),
    (|top| link(top, "folder/file", 0), None),
    (|top| link(top, "folder", 0), None),
    (|top| (link(top, "folder/file", 0), mode(&top.join("folder"), 0o1777)).1, None),
    (|top| mode(&top.join("folder/file"), 0o664), Some("chmod go-w ")),
    (|top| mode(&top.join("folder/file"), 0o646), Some("chmod go-w ")),
    (|top| mode(&top.join("folder"), 0o775), Some("chmod go-w ")),
    (|top| mode(top, 0o757), Some("chmod go-w ")),
    (|top| give(&top.join("folder/file")), Some("chown root ")),
    (|top| give(&top.join("folder")), Some("chown root ")),
    (|top| give(top), Some("chown root ")),
    (|top| link(top, "folder/file", OTHER), Some("chown -h root ")),
    (|top| link(top, "folder", OTHER), Some("chown -h root ")),
    (|top| (link(top, "folder/file", 0), give(&top.join("moved"))).1, Some("chown root ")),
];

fn mode(path: &Path, bits: u32) {
    fs::set_permissions(path, Permissions::from_mode(bits)).expect("own file");
}

fn give(path: &Path) {
    lchown(path, Some(OTHER), None).expect("root");
}

fn link(top: &Path, name: &str, owner: u32) {
    let name = top.join(name);
    fs::rename(&name, top.join("moved")).expect("own file");
    symlink(top.join("moved"), &name).expect("own file");
    if owner != 0 {
        lchown(&name, Some(owner), None).expect("root");
    }
}

fn prepared() -> tempfile::TempDir {
    let top = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir(top.path().join("folder")).expect("own file");
    fs::write(top.path().join("folder/file"), "text").expect("own file");
    top
}

#[test]
fn root_trusts_only_files_that_others_cannot_replace() {
    if process::user() != 0 || userns::is_nested() {
        return;
    }
    for (number, (done, remedy)) in CASES.iter().enumerate() {
        let top = prepared();
        let path = top.path().join("folder/file");
        mode(top.path(), 0o755);
        done(top.path());
        match (open_trusted(&path, Readers::Anyone), remedy) {
            (Ok(mut file), None) => {
                let mut text = String::new();
                file.read_to_string(&mut text).expect("readable");
                assert_eq!(text, "text", "case {number}");
            }
            (Err(TrustError::Untrusted { remedy, .. }), Some(expected)) => {
                assert!(remedy.starts_with(expected), "case {number}: {remedy}");
            }
            (opened, expected) => panic!("case {number}: {opened:?}, not {expected:?}"),
        }
        assert_eq!(require_trusted(&path).is_ok(), remedy.is_none(), "case {number}");
    }
}

#[test]
fn reports_missing_file_despite_untrusted_folder() {
    let top = prepared();
    mode(&top.path().join("folder"), 0o777);
    for name in ["folder/none", "none/file", "folder/file/none"] {
        match open_trusted(&top.path().join(name), Readers::Anyone) {
            Err(TrustError::Unreadable { source, .. }) => {
                assert!(matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory));
            }
            opened => panic!("{name}: {opened:?}"),
        }
    }
}

#[test]
fn secret_is_readable_by_its_owner_or_a_group_chosen_by_root() {
    let top = prepared();
    let path = top.path().join("folder/file");
    for (bits, is_secret) in [
        (0o600, true),
        (0o400, true),
        (0o640, process::user() == 0),
        (0o644, false),
        (0o604, false),
        (0o660, false),
    ] {
        mode(&path, bits);
        let opened = open_trusted(&path, Readers::Owner);
        assert_eq!(opened.is_ok(), is_secret, "{bits:o}: {opened:?}");
    }
}

#[test]
fn trusts_descriptors_of_this_process() {
    let top = prepared();
    mode(&top.path().join("folder/file"), 0o666);
    let file = fs::File::open(top.path().join("folder/file")).expect("own file");
    for folder in ["/dev/fd", "/proc/self/fd"] {
        let mut text = String::new();
        let name = format!("{folder}/{}", file.as_raw_fd());
        let mut opened = open_trusted(Path::new(&name), Readers::Owner).expect("open");
        opened.read_to_string(&mut text).expect("readable");
        io::Seek::rewind(&mut &file).expect("a file");
        assert_eq!(text, "text");
    }
    assert!(open_trusted(Path::new("/dev/fd/9999"), Readers::Anyone).is_err());
}
