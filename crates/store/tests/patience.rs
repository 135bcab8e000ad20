//! A store that cannot be written is waited for, with what is to be kept in memory.
#![expect(clippy::disallowed_methods, reason = "the file is locked and moved here on purpose")]

mod record;

use std::{
    cell::{Cell, RefCell},
    fs,
    time::Duration,
};

use record::{header, place, trial};
use rusqlite::Connection;
use samples::Sink;
use store::{PatientStore, Store, StoreError};

/// A reader, a writer and one that excludes all hold the file for longer than a lock is waited for, until the wait is told of.
#[test]
fn a_locked_store_is_waited_for_with_one_notice_and_nothing_is_lost() {
    for lock in ["BEGIN; SELECT count(*) FROM run", "BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"] {
        let (_folder, path) = place();
        let mut store = Store::open_with_patience(&path, Duration::from_millis(20)).expect("opens");
        let header = header("quick-20261121-1", 1);
        store.begin(&header).expect("begins");
        let other = RefCell::new(Some(Connection::open(&path).expect("opens")));
        let held = |sql: &str| {
            let other = other.borrow();
            let other = other.as_ref().expect("is open");
            sql.split("; ").for_each(|sql| {
                let mut statement = other.prepare(sql).expect("is SQL");
                let mut rows = statement.query([]).expect("locks");
                let _ = rows.next().expect("reads");
            });
        };
        held(lock);
        let (said, looks) = (RefCell::new(Vec::new()), Cell::new(0));
        let tell = |text: &str| said.borrow_mut().push(text.to_owned());
        // Asked after every attempt: the lock outlasts three of them.
        let is_stopped = || {
            looks.set(looks.get() + 1);
            if looks.get() == 3 {
                other.borrow_mut().take();
            }
            false
        };
        let mut patient = PatientStore::new(&mut store, &tell, &is_stopped);
        patient.trial(&header.id, &trial(0)).expect("is kept in the end");
        patient.complete(&header.id).expect("is free");
        let said = said.into_inner();
        assert_eq!(said.len(), 2, "{lock}: {said:?}");
        assert!(said[0].contains("locked by another process") && said[0].contains("Trial 0"), "{said:?}");
        assert!(said[1].contains("is kept now"), "{said:?}");
        assert_eq!(store.load(&header.id).expect("loads").trials, [trial(0)]);
    }
}

#[test]
fn whoever_asks_for_the_end_is_not_kept_waiting() {
    let (_folder, path) = place();
    let mut store = Store::open_with_patience(&path, Duration::from_millis(20)).expect("opens");
    let header = header("quick-20261121-1", 1);
    store.begin(&header).expect("begins");
    let other = Connection::open(&path).expect("opens");
    other.execute_batch("BEGIN EXCLUSIVE").expect("locks");
    let mut patient = PatientStore::new(&mut store, &|_| (), &|| true);
    let error = patient.trial(&header.id, &trial(0)).expect_err("is given up");
    assert!(matches!(error, StoreError::Locked { .. }), "{error:?}");
    other.execute_batch("COMMIT").expect("unlocks");
    patient.trial(&header.id, &trial(0)).expect("nothing of the attempt is left");
}

#[test]
fn a_file_that_is_gone_is_made_anew_and_told_of() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).expect("opens");
    let header = header("quick-20261121-1", 1);
    store.begin(&header).expect("begins");
    let said = RefCell::new(String::new());
    let tell = |text: &str| said.borrow_mut().push_str(text);
    let mut patient = PatientStore::new(&mut store, &tell, &|| false);
    patient.trial(&header.id, &trial(0)).expect("keeps");
    fs::remove_file(&path).expect("is deleted");
    patient.trial(&header.id, &trial(1)).expect("keeps");
    patient.complete(&header.id).expect("keeps");
    assert!(said.borrow().contains("was deleted or moved"), "{}", said.borrow());
    let there = Store::open(&path).and_then(|store| store.load(&header.id)).expect("loads");
    assert_eq!(there.trials, [trial(0), trial(1)]);
}

/// A value that cannot be kept is an error at once.
#[test]
fn what_waiting_cannot_mend_is_not_waited_for() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).expect("opens");
    let header = header("quick-20261121-1", 1);
    let mut patient = PatientStore::new(&mut store, &|_| panic!("nothing is waited for"), &|| false);
    let unknown = patient.trial(&header.id, &trial(0)).expect_err("was never begun");
    assert!(matches!(unknown, StoreError::Unknown { .. }), "{unknown:?}");
    patient.begin(&header).expect("begins");
    let again = patient.begin(&header).expect_err("is there");
    assert!(matches!(again, StoreError::RunExists { .. }), "{again:?}");
}
