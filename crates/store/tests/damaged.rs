//! Tests that altered or unreadable parts are omitted and named, while the rest of the run stays intact.
#![expect(clippy::disallowed_methods, reason = "deletes and moves files on purpose")]

mod record;

use std::{fs, path::Path};

use record::{header, place, trial};
use rusqlite::Connection;
use samples::{EndReason, ResultEnd, RunHeader, Sink};
use store::{Store, StoreError};

fn stored_run(path: &Path) -> (Store, RunHeader) {
    let mut store = Store::open(path).expect("opens");
    let header = header("quick-20261121-1", 1);
    store.begin(&header).expect("begins");
    (0..5).for_each(|index| store.trial(&header.id, &trial(index)).expect("keeps"));
    let end = ResultEnd {
        result: "wire/stream".into(),
        reason: EndReason::Settled,
        trials: 5,
        black_hole: None,
        counters: None,
    };
    store.ended(&header.id, &end).expect("keeps");
    (store, header)
}

#[test]
fn detects_changed_digit_in_any_stored_number() {
    let (_folder, path) = place();
    let (store, header) = stored_run(&path);
    let whole = fs::read(&path).expect("exists");
    let mut noticed = 0;
    for number in ["500000005", "49312", "1795000000002", "51.24817814321", "8589934593"] {
        let places = (0..whole.len() - number.len()).filter(|at| whole[*at..].starts_with(number.as_bytes()));
        for at in places.take(3) {
            let mut flipped = whole.clone();
            let digit = &mut flipped[at + number.len() - 1];
            *digit = if *digit == b'7' { b'4' } else { b'7' };
            fs::write(&path, flipped).expect("writes");
            let record = Store::open(&path).and_then(|store| store.load(&header.id)).expect("loads");
            // The changed number was in an unused copy on another page.
            if record.unreadable.is_empty() {
                assert_eq!(record.trials, (0..5).map(trial).collect::<Vec<_>>(), "{number} at {at}");
                continue;
            }
            assert_eq!((record.trials.len(), record.unreadable.len()), (4, 1), "{number} at {at}");
            noticed += 1;
        }
    }
    assert!(noticed >= 5, "only {noticed} of the numbers are in the file");
    fs::write(&path, whole).expect("writes");
    assert_eq!(store.load(&header.id).expect("loads").trials.len(), 5);
}

#[test]
fn run_continues_in_new_file_after_its_file_was_deleted_moved_or_replaced() {
    let ways: [fn(&Path); 4] = [
        |path| fs::remove_file(path).expect("deletes the file"),
        |path| fs::rename(path, path.with_extension("old")).expect("moves the file"),
        |path| {
            fs::rename(path, path.with_extension("old")).expect("moves the file");
            drop(Store::open(path).expect("creates a file"));
        },
        |path| fs::remove_dir_all(path.parent().expect("has a folder")).expect("deletes the folder"),
    ];
    for way in ways {
        let (_folder, path) = place();
        let (mut store, header) = stored_run(&path);
        way(&path);
        let error = store.trial(&header.id, &trial(5)).expect_err("the file is missing");
        assert!(matches!(error, StoreError::Moved { .. }) && error.may_pass(), "{error:?}");
        assert!(error.to_string().contains("deleted, moved or replaced"), "{error}");
        store.follow_path(&header.id).expect("creates the file");
        store.trial(&header.id, &trial(5)).expect("stores a trial");
        let reopened = Store::open(&path).and_then(|store| store.load(&header.id)).expect("loads");
        assert_eq!(reopened.trials, (0..6).map(trial).collect::<Vec<_>>());
        assert_eq!((reopened.ends.len(), reopened.unreadable.len()), (1, 0));
        store.follow_path(&header.id).expect("repeating it changes nothing");
        assert_eq!(store.runs().expect("lists").len(), 1);
    }
}

#[test]
fn removes_stale_locks_and_leaves_other_files() {
    let (folder, path) = place();
    let (store, header) = stored_run(&path);
    let lock = |name: &str| path.with_file_name(name);
    let left = ["runs.db.quick-20261121-1.lock", "runs.db.a-1.lock", "runs.db.b c.lock"];
    let others = ["runs.db", "other.db.a-1.lock", "runs.db.lock.txt", "runs.dbx.lock"];
    left.iter().chain(&others[1..]).for_each(|name| fs::write(lock(name), "4711").expect("writes"));
    let stale = store.claim(&samples::RunId("a-1".into())).expect("its owner has ended");
    let claim = store.claim(&header.id).expect("its owner has ended");
    let names = || {
        let entries = fs::read_dir(lock("")).expect("lists").flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.file_name().into_string().expect("text")).collect();
        names.sort();
        names
    };
    let mut expected = [&others[..], &left[..2]].concat();
    expected.sort_unstable();
    assert_eq!(names(), expected);
    let refused = store.claim(&header.id).expect_err("is claimed").to_string();
    assert!(refused.contains(&format!("process {}", std::process::id())), "{refused}");
    drop((stale, claim));
    expected.retain(|name| !left.contains(name));
    assert_eq!(names(), expected);
    drop(folder);
}

#[test]
fn repair_salvages_readable_data_and_preserves_the_old_file() {
    let (_folder, path) = place();
    let (mut store, header) = stored_run(&path);
    (5..40).for_each(|index| store.trial(&header.id, &trial(index)).expect("keeps"));
    let other = record::header("bridge-20261121-2", 2);
    store.begin(&other).expect("begins");
    store.complete(&other.id).expect("completes");
    store.set_baseline("main", &other.id).expect("sets the baseline");
    store.complete(&header.id).expect("completes");
    let page: usize = store_page(&path);
    drop(store);
    let mut bytes = fs::read(&path).expect("exists");
    let needle = b"\"index\":20,";
    let at = (0..bytes.len()).find(|at| bytes[*at..].starts_with(needle)).expect("a trial");
    let begin = at / page * page;
    bytes[begin..begin + page].fill(0);
    fs::write(&path, &bytes).expect("writes");

    let store = Store::open(&path).expect("opens");
    assert!(!store.integrity().expect("checks the file").is_empty());
    let repair = store.repair().expect("repairs");
    assert_eq!(fs::read(&repair.old).expect("exists"), bytes);
    let store = Store::open(&path).expect("opens");
    assert_eq!(store.integrity().expect("checks the file"), [""; 0]);
    let whole = store.load(&header.id).expect("loads");
    assert!((30..40).contains(&whole.trials.len()), "{} of 40 trials", whole.trials.len());
    assert!(whole.trials.iter().all(|read| *read == trial(read.index)));
    assert_eq!(whole.header.state, samples::RunState::Unfinished, "lost trials can be repeated");
    assert_eq!(store.resolve("baseline:main").expect("resolves"), other.id);
    let runs: Vec<_> = repair.kept.iter().map(|run| (run.id.0.as_str(), run.trials)).collect();
    assert_eq!(runs, [(header.id.0.as_str(), whole.trials.len() as u32), (other.id.0.as_str(), 0)]);
    let lost = repair.lost.len() + repair.kept.iter().map(|run| run.lost.len()).sum::<usize>();
    assert!(lost > 0, "{repair:?}");
}

fn store_page(path: &Path) -> usize {
    let pages = Connection::open(path).expect("opens");
    let size: u32 =
        pages.pragma_query_value(None, "page_size", |row| row.get(0)).expect("reads the page size");
    size as usize
}

#[test]
fn refuses_repair_while_a_run_is_in_progress() {
    let (_folder, path) = place();
    let (store, header) = stored_run(&path);
    let _claim = store.claim(&header.id).expect("is free");
    let error = Store::open(&path).and_then(Store::repair).expect_err("a run is in progress");
    assert!(matches!(error, StoreError::UnderWay { .. }), "{error:?}");
    assert_eq!(store.load(&header.id).expect("is unchanged").trials.len(), 5);
}
