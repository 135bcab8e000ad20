//! Tests that results stay in memory while the store cannot be written.

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

pub(crate) fn retries_locked_store_with_one_notice_and_without_loss(place: &Place) {
    for (index, lock) in (0..).zip(place.locks()) {
        let mut store = place.open_with_patience(SHORT);
        let header = header(&format!("quick-20261121-{index}"), 1);
        store.begin(&header).expect("begins");
        let other = RefCell::new(Some(place.other()));
        other.borrow_mut().as_mut().expect("is open").run(lock);
        let (notices, looks) = (RefCell::new(Vec::new()), Cell::new(0));
        let notify = |text: &str| notices.borrow_mut().push(text.to_owned());
        // The closure is called after every attempt, and the lock lasts for three attempts.
        let is_stopped = || {
            looks.set(looks.get() + 1);
            if looks.get() == 3 {
                drop(other.borrow_mut().take());
            }
            false
        };
        let mut patient = PatientStore::new(&mut store, &notify, &is_stopped);
        patient.trial(&header.id, &trial(0)).expect("is stored eventually");
        patient.complete(&header.id).expect("is free");
        let notices = notices.into_inner();
        assert_eq!(notices.len(), 2, "{lock}: {notices:?}");
        assert!(
            notices[0].contains("locked by another process") && notices[0].contains("Trial 0"),
            "{notices:?}"
        );
        assert!(notices[1].contains("is stored now"), "{notices:?}");
        assert_eq!(store.load(&header.id).expect("loads").trials, [trial(0)]);
    }
}

pub(crate) fn stop_request_ends_the_wait(place: &Place) {
    let mut store = place.open_with_patience(SHORT);
    let header = header("quick-20261121-1", 1);
    store.begin(&header).expect("begins");
    let mut other = place.other();
    other.run(place.locks()[0]);
    let mut patient = PatientStore::new(&mut store, &|_| (), &|| true);
    let error = patient.trial(&header.id, &trial(0)).expect_err("is aborted");
    assert!(matches!(error, StoreError::Locked { .. }), "{error:?}");
    other.run("COMMIT");
    patient.trial(&header.id, &trial(0)).expect("the attempt stored nothing");
}

pub(crate) fn recreates_deleted_file_and_reports_it(place: &Place) {
    let mut store = place.open();
    let header = header("quick-20261121-1", 1);
    store.begin(&header).expect("begins");
    let notices = RefCell::new(String::new());
    let notify = |text: &str| notices.borrow_mut().push_str(text);
    let mut patient = PatientStore::new(&mut store, &notify, &|| false);
    patient.trial(&header.id, &trial(0)).expect("keeps");
    fs::remove_file(place.path()).expect("deletes the file");
    patient.trial(&header.id, &trial(1)).expect("keeps");
    patient.complete(&header.id).expect("keeps");
    assert!(notices.borrow().contains("was deleted or moved"), "{}", notices.borrow());
    let reopened = place.open().load(&header.id).expect("loads");
    assert_eq!(reopened.trials, [trial(0), trial(1)]);
}

pub(crate) fn fails_immediately_on_permanent_errors(place: &Place) {
    let mut store = place.open();
    let header = header("quick-20261121-1", 1);
    let mut patient = PatientStore::new(&mut store, &|_| panic!("must not wait"), &|| false);
    let unknown = patient.trial(&header.id, &trial(0)).expect_err("unknown run");
    assert!(matches!(unknown, StoreError::Unknown { .. }), "{unknown:?}");
    patient.begin(&header).expect("begins");
    let again = patient.begin(&header).expect_err("exists already");
    assert!(matches!(again, StoreError::RunExists { .. }), "{again:?}");
}
