//! A place that cannot be used is named, left as it is, and the message says how to go on.

use std::{thread, time::Duration};

use samples::Sink;
use store::{Store, StoreError};

use crate::{
    place::Place,
    record::{header, trial},
};

pub(crate) fn a_newer_store_says_which_plumb_wrote_it(place: &Place) {
    drop(place.open());
    assert_eq!(place.other().change("INSERT INTO migration VALUES (9, '3.7.0')"), 1);
    let message = Store::open(place.path()).expect_err("is newer").to_string();
    assert!(message.contains("written by plumb 3.7.0 (format 9, this plumb reads up to"), "{message}");
}

pub(crate) fn a_run_of_a_newer_shape_is_not_misread(place: &Place) {
    let mut store = place.open();
    let mut header = header("quick-20261121-1", 1);
    header.schema = samples::SCHEMA + 1;
    header.tool = "3.7.0".into();
    store.begin(&header).expect("begins");
    let message = store.load(&header.id).expect_err("is newer").to_string();
    assert!(message.contains("plumb 3.7.0"), "{message}");
}

pub(crate) fn another_programs_database_is_left_alone(place: &Place) {
    let mut other = place.other();
    other.run("CREATE TABLE migration (version INTEGER, tool TEXT)");
    let error = Store::open(place.path()).expect_err("is not ours");
    assert!(matches!(error, StoreError::Foreign { .. }), "{error:?}");
    assert!(!other.can("SELECT 1 FROM run"), "no table was added");
}

pub(crate) fn a_lock_is_waited_for_and_then_named(place: &Place) {
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
    patient.trial(&header.id, &trial(0)).expect("the lock was given up in time");
    release.join().expect("ended");
}

/// Each look at the format would fall between two steps of another's making it.
pub(crate) fn a_new_store_that_several_open_at_once_is_nobody_elses(place: &Place) {
    for _ in 0..20 {
        place.empty();
        thread::scope(|scope| {
            for opened in [0; 6].map(|_| scope.spawn(|| Store::open(place.path()).map(drop))) {
                opened.join().expect("ended").expect("opens");
            }
        });
    }
}
