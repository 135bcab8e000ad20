//! A baseline is a name for a run, and keeps that run from being removed.

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

pub(crate) fn a_name_stands_for_a_run_until_it_is_given_to_another(place: &Place) {
    let mut store = store_with(place, &["quick-20261121-1", "quick-20261121-2"]);
    let (one, two) = (id("quick-20261121-1"), id("quick-20261121-2"));
    assert_eq!(store.set_baseline("main", &one).expect("sets"), None);
    for text in ["baseline:main", "main"] {
        assert_eq!(store.resolve(text).expect("is set"), one, "{text}");
    }
    assert_eq!(store.set_baseline("main", &two).expect("sets"), Some(one.clone()));
    assert_eq!(store.baseline("main").expect("is set"), two);
    assert_eq!(store.baselines().expect("lists"), [Baseline { name: "main".into(), run: two.clone() }]);
    // A run's own name goes before.
    store.set_baseline("quick-20261121-1", &two).expect("sets");
    assert_eq!(store.resolve("quick-20261121-1").expect("is kept"), one);
}

pub(crate) fn a_run_that_is_a_baseline_stays(place: &Place) {
    let mut store = store_with(place, &["quick-20261121-1"]);
    let run = id("quick-20261121-1");
    store.trial(&run, &trial(0)).expect("keeps");
    store.set_baseline("main", &run).expect("sets");
    store.set_baseline("v1.0", &run).expect("sets");
    let error = store.remove(&run).expect_err("others are compared with it");
    assert!(matches!(error, StoreError::IsBaseline { .. }), "{error:?}");
    let said = error.to_string();
    assert!(said.contains("`main` and `v1.0`") && said.contains("plumb baseline remove"), "{said}");
    assert_eq!(store.load(&run).expect("is whole").trials.len(), 1);
    for name in ["main", "v1.0"] {
        assert_eq!(store.remove_baseline(name).expect("is there"), run);
    }
    store.remove(&run).expect("nothing is compared with it any more");
}

pub(crate) fn an_unknown_baseline_is_answered_with_the_known_ones(place: &Place) {
    let mut store = store_with(place, &["quick-20261121-1"]);
    let said = store.resolve("baseline:mian").expect_err("is not set").to_string();
    assert!(said.contains("plumb baseline set"), "{said}");
    store.set_baseline("main", &id("quick-20261121-1")).expect("sets");
    let said = store.remove_baseline("mian").expect_err("is not set").to_string();
    assert!(said.contains("there are main"), "{said}");
    let error = store.set_baseline("other", &id("gone")).expect_err("no such run");
    assert!(matches!(error, StoreError::Unknown { .. }), "{error:?}");
    assert_eq!(store.baselines().expect("lists").len(), 1);
}

pub(crate) fn a_list_tells_what_was_measured_from_what_was_imported(place: &Place) {
    let mut store = store_with(place, &["quick-20261121-1"]);
    let imported = Origin::Imported(ImportRecord::default());
    store.begin(&RunHeader { origin: imported, ..header("import-20261121-1", 9) }).expect("begins");
    let listed: Vec<bool> = store.runs().expect("lists").iter().map(|run| run.imported).collect();
    assert_eq!(listed, [true, false]);
}
