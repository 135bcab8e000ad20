//! Tests that unusable stores are rejected unchanged, with the location and a remedy in the message.

use std::{thread, time::Duration};

use samples::Sink;
use store::{Store, StoreError};

use crate::{
    place::Place,
    record::{header, trial},
};

pub(crate) fn newer_store_names_the_version_that_wrote_it(place: &Place) {
    drop(place.open());
    assert_eq!(place.other().change("INSERT INTO migration VALUES (9, '3.7.0')"), 1);
    let message = Store::open(place.path()).expect_err("newer format").to_string();
    assert!(message.contains("written by plumb 3.7.0 (format 9, this plumb reads 1"), "{message}");
}

pub(crate) fn rejects_run_of_newer_record_version(place: &Place) {
    let mut store = place.open();
    let mut header = header("quick-20261121-1", 1);
    header.schema = samples::SCHEMA + 1;
    header.tool = "3.7.0".into();
    store.begin(&header).expect("begins");
    let message = store.load(&header.id).expect_err("newer format").to_string();
    assert!(message.contains("plumb 3.7.0"), "{message}");
}

pub(crate) fn leaves_database_of_another_program_unchanged(place: &Place) {
    let mut other = place.other();
    other.run("CREATE TABLE migration (version INTEGER, tool TEXT)");
    let error = Store::open(place.path()).expect_err("another program's");
    assert!(matches!(error, StoreError::Foreign { .. }), "{error:?}");
    assert!(!other.can("SELECT 1 FROM run"), "no table was added");
}

pub(crate) fn reports_lock_after_the_timeout(place: &Place) {
    let patience = Duration::from_millis(300);
    let mut store = place.open_with_patience(patience);
    let mut patient = place.open_with_patience(1000 * patience);
    let header = header("quick-20261121-1", 1);
    store.begin(&header).expect("begins");
    let mut other = place.other();
    other.run(place.locks()[0]);
    let error = store.trial(&header.id, &trial(0)).expect_err("is locked");
    assert!(matches!(error, StoreError::Locked { waited, .. } if waited == patience), "{error:?}");
    assert!(error.to_string().contains("waited 0.3 s"), "{error}");
    if place.is_file() {
        let opened = Store::open_with_patience(place.path(), patience);
        assert!(matches!(opened, Err(StoreError::Locked { .. })), "{opened:?}");
    }
    let release = thread::spawn(move || {
        thread::sleep(patience);
        other.run("COMMIT");
    });
    patient.trial(&header.id, &trial(0)).expect("the lock is released");
    release.join().expect("ended");
}

pub(crate) fn several_processes_can_create_the_same_store(place: &Place) {
    for _ in 0..20 {
        place.empty();
        thread::scope(|scope| {
            for opened in [0; 6].map(|_| scope.spawn(|| Store::open(place.path()).map(drop))) {
                opened.join().expect("ended").expect("opens");
            }
        });
    }
}
