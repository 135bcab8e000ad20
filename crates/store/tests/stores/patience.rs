//! A store that cannot be written is waited for, with what is to be kept in memory.

use std::{
    cell::{Cell, RefCell},
    fs,
    time::Duration,
};

use samples::Sink;
use store::{PatientStore, StoreError};

use crate::{
    place::Place,
    record::{header, trial},
};

const SHORT: Duration = Duration::from_millis(20);

/// Others hold it for longer than a lock is waited for, until the wait is told of.
pub(crate) fn a_locked_store_is_waited_for_with_one_notice_and_nothing_is_lost(place: &Place) {
    for (index, lock) in (0..).zip(place.locks()) {
        let mut store = place.open_with_patience(SHORT);
        let header = header(&format!("quick-20261121-{index}"), 1);
        store.begin(&header).expect("begins");
        let other = RefCell::new(Some(place.other()));
        other.borrow_mut().as_mut().expect("is open").run(lock);
        let (said, looks) = (RefCell::new(Vec::new()), Cell::new(0));
        let tell = |text: &str| said.borrow_mut().push(text.to_owned());
        // Asked after every attempt: the lock outlasts three of them.
        let is_stopped = || {
            looks.set(looks.get() + 1);
            if looks.get() == 3 {
                drop(other.borrow_mut().take());
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

pub(crate) fn whoever_asks_for_the_end_is_not_kept_waiting(place: &Place) {
    let mut store = place.open_with_patience(SHORT);
    let header = header("quick-20261121-1", 1);
    store.begin(&header).expect("begins");
    let mut other = place.other();
    other.run(place.locks()[0]);
    let mut patient = PatientStore::new(&mut store, &|_| (), &|| true);
    let error = patient.trial(&header.id, &trial(0)).expect_err("is given up");
    assert!(matches!(error, StoreError::Locked { .. }), "{error:?}");
    other.run("COMMIT");
    patient.trial(&header.id, &trial(0)).expect("nothing of the attempt is left");
}

pub(crate) fn a_file_that_is_gone_is_made_anew_and_told_of(place: &Place) {
    let mut store = place.open();
    let header = header("quick-20261121-1", 1);
    store.begin(&header).expect("begins");
    let said = RefCell::new(String::new());
    let tell = |text: &str| said.borrow_mut().push_str(text);
    let mut patient = PatientStore::new(&mut store, &tell, &|| false);
    patient.trial(&header.id, &trial(0)).expect("keeps");
    fs::remove_file(place.path()).expect("is deleted");
    patient.trial(&header.id, &trial(1)).expect("keeps");
    patient.complete(&header.id).expect("keeps");
    assert!(said.borrow().contains("was deleted or moved"), "{}", said.borrow());
    let there = place.open().load(&header.id).expect("loads");
    assert_eq!(there.trials, [trial(0), trial(1)]);
}

/// A value that cannot be kept is an error at once.
pub(crate) fn what_waiting_cannot_mend_is_not_waited_for(place: &Place) {
    let mut store = place.open();
    let header = header("quick-20261121-1", 1);
    let mut patient = PatientStore::new(&mut store, &|_| panic!("nothing is waited for"), &|| false);
    let unknown = patient.trial(&header.id, &trial(0)).expect_err("was never begun");
    assert!(matches!(unknown, StoreError::Unknown { .. }), "{unknown:?}");
    patient.begin(&header).expect("begins");
    let again = patient.begin(&header).expect_err("is there");
    assert!(matches!(again, StoreError::RunExists { .. }), "{again:?}");
}
