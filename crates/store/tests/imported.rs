//! A run that is imported is kept whole or not at all.

mod record;

use std::time::Duration;

use record::{header, place, trial};
use samples::{RunHeader, RunState, Sink};
use store::{Store, StoreError};

fn complete(header: &RunHeader) -> RunHeader {
    RunHeader { state: RunState::Complete, planned: 2, ..header.clone() }
}

#[test]
fn an_imported_run_has_its_trials_and_its_last_header() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).expect("opens");
    let begin = header("import-1", 1000);
    store
        .import(&begin.id, |importing| -> Result<RunHeader, StoreError> {
            importing.trial(&trial(0))?;
            importing.trial(&trial(1))?;
            Ok(complete(&begin))
        })
        .expect("imports");
    let kept = store.load(&begin.id).expect("loads");
    assert_eq!(kept.header, complete(&begin));
    assert_eq!(kept.trials, [trial(0), trial(1)]);
    let listed = store.runs().expect("lists");
    assert_eq!((listed[0].made, listed[0].planned, listed[0].state), (2, 2, RunState::Complete));
}

#[test]
fn nothing_is_kept_of_an_import_that_fails() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).expect("opens");
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
    assert_eq!(twice(&mut store).expect("the name is free again"), begin.id);
    assert_eq!(twice(&mut store).expect("another has it by then").0, "import-1-2");
    assert_eq!(store.runs().expect("lists").len(), 2);
}

#[test]
fn others_write_while_an_import_reads() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).expect("opens");
    let mut other = Store::open_with_patience(&path, Duration::ZERO).expect("opens");
    let (begin, beside) = (header("import-1", 1000), header("run-1", 1000));
    store
        .import(&begin.id, |importing| -> Result<RunHeader, StoreError> {
            importing.trial(&trial(0))?;
            other.begin(&beside)?;
            other.trial(&beside.id, &trial(0))?;
            importing.trial(&trial(1))?;
            Ok(complete(&begin))
        })
        .expect("imports");
    assert_eq!(store.load(&beside.id).expect("loads").trials, [trial(0)]);
    assert_eq!(store.load(&begin.id).expect("loads").trials, [trial(0), trial(1)]);
}
