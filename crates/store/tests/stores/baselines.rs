//! Tests that a baseline names a run and prevents its removal.

use samples::{ImportRecord, Origin, RunHeader, RunId, Sink};
use store::{Baseline, Store, StoreError};

use crate::{
    place::Place,
    record::{header, trial},
};

fn store_with(place: &Place, ids: &[&str]) -> Store {
    let mut store = place.open();
    for (started, id) in ids.iter().enumerate() {
        store.begin(&header(id, started as i64)).expect("begins");
    }
    store
}

fn id(text: &str) -> RunId {
    RunId(text.to_owned())
}

pub(crate) fn baseline_name_can_move_to_another_run(place: &Place) {
    let mut store = store_with(place, &["quick-20261121-1", "quick-20261121-2"]);
    let (one, two) = (id("quick-20261121-1"), id("quick-20261121-2"));
    assert_eq!(store.set_baseline("main", &one).expect("sets"), None);
    for text in ["baseline:main", "main"] {
        assert_eq!(store.resolve(text).expect("is set"), one, "{text}");
    }
    assert_eq!(store.set_baseline("main", &two).expect("sets"), Some(one.clone()));
    assert_eq!(store.baseline("main").expect("is set"), two);
    assert_eq!(store.baselines().expect("lists"), [Baseline { name: "main".into(), run: two.clone() }]);
    store.set_baseline("quick-20261121-1", &two).expect("sets");
    assert_eq!(store.resolve("quick-20261121-1").expect("exists"), one);
}

pub(crate) fn refuses_to_remove_baseline_run(place: &Place) {
    let mut store = store_with(place, &["quick-20261121-1"]);
    let run = id("quick-20261121-1");
    store.trial(&run, &trial(0)).expect("keeps");
    store.set_baseline("main", &run).expect("sets");
    store.set_baseline("v1.0", &run).expect("sets");
    let error = store.remove(&run).expect_err("it is a baseline");
    assert!(matches!(error, StoreError::IsBaseline { .. }), "{error:?}");
    let message = error.to_string();
    assert!(message.contains("`main` and `v1.0`") && message.contains("plumb baseline remove"), "{message}");
    assert_eq!(store.load(&run).expect("is intact").trials.len(), 1);
    for name in ["main", "v1.0"] {
        assert_eq!(store.remove_baseline(name).expect("exists"), run);
    }
    store.remove(&run).expect("it is no longer a baseline");
}

pub(crate) fn unknown_baseline_error_lists_existing_ones(place: &Place) {
    let mut store = store_with(place, &["quick-20261121-1"]);
    let message = store.resolve("baseline:mian").expect_err("is not set").to_string();
    assert!(message.contains("plumb baseline set"), "{message}");
    store.set_baseline("main", &id("quick-20261121-1")).expect("sets");
    let message = store.remove_baseline("mian").expect_err("is not set").to_string();
    assert!(message.contains("existing baselines: main"), "{message}");
    let error = store.set_baseline("other", &id("gone")).expect_err("no such run");
    assert!(matches!(error, StoreError::Unknown { .. }), "{error:?}");
    assert_eq!(store.baselines().expect("lists").len(), 1);
}

pub(crate) fn list_marks_imported_runs(place: &Place) {
    let mut store = store_with(place, &["quick-20261121-1"]);
    let imported = Origin::Imported(ImportRecord::default());
    store.begin(&RunHeader { origin: imported, ..header("import-20261121-1", 9) }).expect("begins");
    let listed: Vec<bool> = store.runs().expect("lists").iter().map(|run| run.imported).collect();
    assert_eq!(listed, [true, false]);
}
