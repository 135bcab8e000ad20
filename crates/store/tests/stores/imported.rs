//! Tests that imports are atomic.

use std::time::Duration;

use samples::{ImportRecord, Origin, RunHeader, RunState, Sink};
use store::{Store, StoreError};

use crate::{
    place::Place,
    record::{header, trial},
};

fn complete(header: &RunHeader) -> RunHeader {
    RunHeader { state: RunState::Complete, planned: 2, ..header.clone() }
}

pub(crate) fn imported_run_has_its_trials_and_final_header(place: &Place) {
    let mut store = place.open();
    let begin = header("import-1", 1000);
    store
        .import(&begin.id, |importing| -> Result<RunHeader, StoreError> {
            importing.trial(&trial(0))?;
            importing.trial(&trial(1))?;
            Ok(complete(&begin))
        })
        .expect("imports");
    let loaded = store.load(&begin.id).expect("loads");
    assert_eq!(loaded.header, complete(&begin));
    assert_eq!(loaded.trials, [trial(0), trial(1)]);
    let listed = store.runs().expect("lists");
    assert_eq!((listed[0].completed, listed[0].planned, listed[0].state), (2, 2, RunState::Complete));
}

pub(crate) fn failed_import_stores_nothing(place: &Place) {
    let mut store = place.open();
    let begin = header("import-1", 1000);
    let failed = store.import(&begin.id, |importing| -> Result<RunHeader, StoreError> {
        importing.trial(&trial(0))?;
        importing.trial(&trial(0))?;
        Ok(complete(&begin))
    });
    assert!(matches!(failed, Err(StoreError::TrialExists { index: 0, .. })), "{failed:?}");
    assert!(store.runs().expect("lists").is_empty());
    assert!(matches!(store.load(&begin.id), Err(StoreError::Unknown { .. })));
    let twice = |store: &mut Store| {
        store.import(&begin.id, |_| -> Result<RunHeader, StoreError> { Ok(complete(&begin)) })
    };
    assert_eq!(twice(&mut store).expect("the name is free"), begin.id);
    assert_eq!(twice(&mut store).expect("the name is taken").0, "import-1-2");
    assert_eq!(store.runs().expect("lists").len(), 2);
}

pub(crate) fn other_processes_can_write_during_an_import(place: &Place) {
    let mut store = place.open();
    let mut other = place.open_with_patience(Duration::ZERO);
    let (begin, concurrent) = (header("import-1", 1000), header("run-1", 1000));
    store
        .import(&begin.id, |importing| -> Result<RunHeader, StoreError> {
            importing.trial(&trial(0))?;
            other.begin(&concurrent)?;
            other.trial(&concurrent.id, &trial(0))?;
            importing.trial(&trial(1))?;
            Ok(complete(&begin))
        })
        .expect("imports");
    assert_eq!(store.load(&concurrent.id).expect("loads").trials, [trial(0)]);
    assert_eq!(store.load(&begin.id).expect("loads").trials, [trial(0), trial(1)]);
}

pub(crate) fn list_marks_imported_runs(place: &Place) {
    let listed = |store: &Store| {
        let runs = store.runs().expect("lists");
        runs.into_iter().map(|run| (run.id.0, run.imported)).collect::<Vec<_>>()
    };
    let wanted = [("import-1".to_owned(), true), ("run-1".to_owned(), false)];
    let mut store = place.open();
    store.begin(&header("run-1", 1000)).expect("begins");
    let begin = RunHeader { origin: Origin::Imported(ImportRecord::default()), ..header("import-1", 2000) };
    store.import(&begin.id, |_| -> Result<RunHeader, StoreError> { Ok(complete(&begin)) }).expect("imports");
    assert_eq!(listed(&store), wanted);
    store.remove(&begin.id).expect("removes the run and its mark");
    assert_eq!(listed(&store), wanted[1..]);
}
