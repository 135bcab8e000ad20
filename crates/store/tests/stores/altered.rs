//! Tests that altered or unreadable parts are omitted and named, while the rest of the run stays intact.

use samples::{EndReason, Environment, MachineChange, ResultEnd, RunHeader, RunRecord, Sink, UnixMillis};
use store::Store;

use crate::{
    place::Place,
    record::{header, trial},
};

fn stored_run(place: &Place) -> (Store, RunHeader) {
    let mut store = place.open();
    let header = header("quick-20261121-1", 1);
    store.begin(&header).expect("begins");
    (0..5).for_each(|index| store.trial(&header.id, &trial(index)).expect("keeps"));
    let end = ResultEnd {
        result: "wire/stream".into(),
        reason: EndReason::Settled,
        trials: 5,
        black_hole: None,
        counters: None,
    };
    store.ended(&header.id, &end).expect("keeps");
    (store, header)
}

fn check(place: &Place, sql: &str, omitted: &[&str], reason: &str) {
    let (mut store, header) = stored_run(place);
    assert!(place.other().change(sql) > 0, "{sql}");
    let record = store.load(&header.id).expect("reads the rest");
    let named: Vec<&str> = record.unreadable.iter().map(|part| part.part.as_str()).collect();
    assert_eq!(named, omitted, "{sql}");
    assert!(record.unreadable.iter().all(|part| part.reason.contains(reason)), "{:?}", record.unreadable);
    let is_omitted = |index: u32| omitted.contains(&format!("trial {index}").as_str());
    let expected: Vec<_> = (0..5).filter(|index| !is_omitted(*index)).map(trial).collect();
    assert_eq!(record.trials, expected, "{sql}");
    store.remove(&header.id).expect("removes the run");
}

pub(crate) fn omits_and_names_unreadable_trials(place: &Place) {
    for record in ["{\"index\": 3}", "", "null", "[7, "] {
        let sql = format!("UPDATE trial SET record = '{record}' WHERE place = 3");
        check(place, &sql, &["trial 3"], "checksum");
        let checksum = crc32fast::hash(record.as_bytes());
        let valid = format!("UPDATE trial SET record = '{record}', checksum = {checksum} WHERE place = 3");
        check(place, &valid, &["trial 3"], " at line 1 column ");
    }
    let sql = "UPDATE ended SET record = '{}'";
    check(place, sql, &["the end of result wire/stream"], "missing field");
}

pub(crate) fn rejects_altered_header(place: &Place) {
    let (store, header) = stored_run(place);
    let sql = "UPDATE run SET header = replace(header, '\"planned\":12', '\"planned\":13')";
    assert_eq!(place.other().change(sql), 1);
    let message = store.load(&header.id).expect_err("altered header").to_string();
    assert!(
        message.contains("the header of run quick-20261121-1") && message.contains("checksum"),
        "{message}"
    );
}

pub(crate) fn stores_complete_run_under_a_free_name(place: &Place) {
    let (mut store, header) = stored_run(place);
    let environment = Environment { kernel: "6.1".into(), ..Environment::default() };
    let change = MachineChange { at: UnixMillis(7), trials_before: 5, environment };
    store.machine_changed(&header.id, &change).expect("keeps");
    let record = store.load(&header.id).expect("loads");
    assert_eq!(record.machine_changes, [change]);
    let id = store.keep(&record).expect("stores it again");
    assert_eq!(id.0, "quick-20261121-1-2");
    let again = store.load(&id).expect("loads");
    assert_eq!(again, RunRecord { header: RunHeader { id, ..header }, ..record });
}
