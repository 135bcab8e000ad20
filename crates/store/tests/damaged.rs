//! What was altered or cannot be read is left out and named, and the rest of a run is as it was.
#![expect(clippy::disallowed_methods, reason = "files are deleted and moved here on purpose")]

mod record;

use std::{fs, path::Path};

use record::{header, place, trial};
use rusqlite::Connection;
use samples::{CellEnd, EndReason, RunHeader, Sink};
use store::{Store, StoreError};

/// A run of five trials.
fn kept(path: &Path) -> (Store, RunHeader) {
    let mut store = Store::open(path).expect("opens");
    let header = header("quick-20261121-1", 1);
    store.begin(&header).expect("begins");
    (0..5).for_each(|index| store.trial(&header.id, &trial(index)).expect("keeps"));
    let end = CellEnd { cell: "wire/stream".into(), why: EndReason::Settled, trials: 5 };
    store.ended(&header.id, &end).expect("keeps");
    (store, header)
}

#[test]
fn a_digit_that_flipped_in_any_kept_number_is_noticed() {
    let (_folder, path) = place();
    let (store, header) = kept(&path);
    let whole = fs::read(&path).expect("is there");
    let mut noticed = 0;
    for number in ["500000005", "49312", "1795000000002", "51.24817814321", "8589934593"] {
        let places = (0..whole.len() - number.len()).filter(|at| whole[*at..].starts_with(number.as_bytes()));
        for at in places.take(3) {
            let mut flipped = whole.clone();
            let digit = &mut flipped[at + number.len() - 1];
            *digit = if *digit == b'7' { b'4' } else { b'7' };
            fs::write(&path, flipped).expect("writes");
            let record = Store::open(&path).and_then(|store| store.load(&header.id)).expect("loads");
            // What is not noticed is no kept number: a copy that SQLite moved elsewhere since.
            if record.unreadable.is_empty() {
                assert_eq!(record.trials, (0..5).map(trial).collect::<Vec<_>>(), "{number} at {at}");
                continue;
            }
            assert_eq!((record.trials.len(), record.unreadable.len()), (4, 1), "{number} at {at}");
            noticed += 1;
        }
    }
    assert!(noticed >= 5, "{noticed} of the numbers are in the file");
    fs::write(&path, whole).expect("writes");
    assert_eq!(store.load(&header.id).expect("loads").trials.len(), 5);
}

/// The next write finds that the file is gone; the run goes on at the same path with all that it had.
#[test]
fn a_run_whose_file_is_deleted_moved_or_replaced_goes_on_in_a_new_one() {
    let ways: [fn(&Path); 4] = [
        |path| fs::remove_file(path).expect("is deleted"),
        |path| fs::rename(path, path.with_extension("old")).expect("is moved"),
        |path| {
            fs::rename(path, path.with_extension("old")).expect("is moved");
            drop(Store::open(path).expect("another one"));
        },
        |path| fs::remove_dir_all(path.parent().expect("has a folder")).expect("goes with its folder"),
    ];
    for way in ways {
        let (_folder, path) = place();
        let (mut store, header) = kept(&path);
        way(&path);
        let error = store.trial(&header.id, &trial(5)).expect_err("is gone");
        assert!(matches!(error, StoreError::Moved { .. }) && error.may_pass(), "{error:?}");
        assert!(error.to_string().contains("deleted, moved or replaced"), "{error}");
        store.follow_path(&header.id).expect("can be made");
        store.trial(&header.id, &trial(5)).expect("goes on");
        let there = Store::open(&path).and_then(|store| store.load(&header.id)).expect("loads");
        assert_eq!(there.trials, (0..6).map(trial).collect::<Vec<_>>());
        assert_eq!((there.ends.len(), there.unreadable.len()), (1, 0));
        store.follow_path(&header.id).expect("once more changes nothing");
        assert_eq!(store.runs().expect("lists").len(), 1);
    }
}

#[test]
fn locks_that_killed_processes_left_are_removed_and_those_of_others_are_not() {
    let (folder, path) = place();
    let (store, header) = kept(&path);
    let lock = |name: &str| path.with_file_name(name);
    let left = ["runs.db.quick-20261121-1.lock", "runs.db.a-1.lock", "runs.db.b c.lock"];
    let others = ["runs.db", "other.db.a-1.lock", "runs.db.lock.txt", "runs.dbx.lock"];
    left.iter().chain(&others[1..]).for_each(|name| fs::write(lock(name), "4711").expect("writes"));
    let held = store.claim(&samples::RunId("a-1".into())).expect("its owner is gone");
    let claim = store.claim(&header.id).expect("its owner is gone");
    let names = || {
        let entries = fs::read_dir(lock("")).expect("lists").flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.file_name().into_string().expect("text")).collect();
        names.sort();
        names
    };
    let mut expected = [&others[..], &left[..2]].concat();
    expected.sort_unstable();
    assert_eq!(names(), expected);
    let refused = store.claim(&header.id).expect_err("is held").to_string();
    assert!(refused.contains(&format!("process {}", std::process::id())), "{refused}");
    drop((held, claim));
    expected.retain(|name| !left.contains(name));
    assert_eq!(names(), expected);
    drop(folder);
}

/// A page of trials is filled with zeros, then one of a run's tree that others hang on.
#[test]
fn a_repair_keeps_what_can_be_read_and_the_old_file() {
    let (_folder, path) = place();
    let (mut store, header) = kept(&path);
    (5..40).for_each(|index| store.trial(&header.id, &trial(index)).expect("keeps"));
    let other = record::header("bridge-20261121-2", 2);
    store.begin(&other).expect("begins");
    store.complete(&other.id).expect("completes");
    store.set_baseline("main", &other.id).expect("names it");
    store.complete(&header.id).expect("completes");
    let page: usize = store_page(&path);
    drop(store);
    let mut bytes = fs::read(&path).expect("is there");
    let needle = b"\"index\":20,";
    let at = (0..bytes.len()).find(|at| bytes[*at..].starts_with(needle)).expect("a trial");
    let begin = at / page * page;
    bytes[begin..begin + page].fill(0);
    fs::write(&path, &bytes).expect("writes");

    let store = Store::open(&path).expect("opens");
    assert!(!store.integrity().expect("looks").is_empty());
    let repair = store.repair().expect("repairs");
    assert_eq!(fs::read(&repair.old).expect("is kept"), bytes);
    let store = Store::open(&path).expect("opens");
    assert_eq!(store.integrity().expect("looks"), [""; 0]);
    let whole = store.load(&header.id).expect("loads");
    assert!((30..40).contains(&whole.trials.len()), "{} of 40 trials", whole.trials.len());
    assert!(whole.trials.iter().all(|kept| *kept == trial(kept.index)));
    assert_eq!(whole.header.state, samples::RunState::Unfinished, "what is lost can be made again");
    assert_eq!(store.resolve("baseline:main").expect("is named"), other.id);
    let kept: Vec<_> = repair.kept.iter().map(|run| (run.id.0.as_str(), run.trials)).collect();
    assert_eq!(kept, [(header.id.0.as_str(), whole.trials.len() as u32), (other.id.0.as_str(), 0)]);
    let lost = repair.lost.len() + repair.kept.iter().map(|run| run.lost.len()).sum::<usize>();
    assert!(lost > 0, "{repair:?}");
}

fn store_page(path: &Path) -> usize {
    let pages = Connection::open(path).expect("opens");
    let size: u32 = pages.pragma_query_value(None, "page_size", |row| row.get(0)).expect("tells");
    size as usize
}

#[test]
fn a_file_with_a_run_under_way_is_not_repaired() {
    let (_folder, path) = place();
    let (store, header) = kept(&path);
    let _claim = store.claim(&header.id).expect("is free");
    let error = Store::open(&path).and_then(Store::repair).expect_err("is in use");
    assert!(matches!(error, StoreError::UnderWay { .. }), "{error:?}");
    assert_eq!(store.load(&header.id).expect("is as it was").trials.len(), 5);
}
