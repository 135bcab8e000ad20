//! Tests that stored data is read back unchanged, complete and in order.

use samples::{
    DiscardedAttempt, Disturber, EndReason, ResultEnd, RunId, RunRecord, RunState, Sink, SkippedResult,
    Trial, ValidityWarning,
};
use store::{RunFilter, StoreError};

use crate::{
    place::Place,
    record::{header, trial},
};

pub(crate) fn run_is_read_back_unchanged(place: &Place) {
    let mut record = RunRecord {
        trials: [3, 0, 2, 1].map(trial).to_vec(),
        skipped: vec![
            SkippedResult { result: "b".into(), reason: "no vxlan: modprobe vxlan".into() },
            SkippedResult { result: "a".into(), reason: String::new() },
        ],
        ends: vec![
            ResultEnd {
                result: "b".into(),
                reason: EndReason::Precise { reach: 0.1 + 0.2 },
                trials: 7,
                black_hole: None,
                counters: None,
            },
            ResultEnd {
                result: "a".into(),
                reason: EndReason::Settled,
                trials: 2,
                black_hole: None,
                counters: None,
            },
        ],
        ..RunRecord::new(header("quick-20261121-113015", 1000), Vec::new())
    };
    let run = record.header.id.clone();
    let mut store = place.open();
    store.begin(&record.header).expect("begins");
    record.trials.iter().for_each(|trial| store.trial(&run, trial).expect("stores a trial"));
    record.skipped.iter().for_each(|skipped| store.skipped(&run, skipped).expect("stores a skipped result"));
    store.skipped(&run, &record.skipped[0]).expect("repeating it changes nothing");
    let earlier = ResultEnd { reason: EndReason::Planned, ..record.ends[0].clone() };
    store.ended(&run, &earlier).expect("stores an end");
    record.ends.iter().for_each(|end| store.ended(&run, end).expect("a later end replaces an earlier one"));
    assert_eq!(store.load(&run).expect("loads"), record);

    store.complete(&run).expect("completes");
    drop(store);
    record.header.state = RunState::Complete;
    let again = place.open().load(&run).expect("loads again");
    assert_eq!(again.text().expect("serialises"), record.text().expect("serialises"));
}

pub(crate) fn repeated_trial_replaces_the_stored_attempt(place: &Place) {
    let mut store = place.open();
    let header = header("quick-20261121-113015", 0);
    store.begin(&header).expect("begins");
    let (first, second) = (trial(0), trial(1));
    store.trial(&header.id, &first).expect("keeps");
    store.trial(&header.id, &second).expect("keeps");
    let reason = ValidityWarning::Disturbed {
        share: 0.4,
        processes: vec![Disturber { process: Some("cc1".into()), cpus: 0.8 }],
    };
    let discarded = vec![DiscardedAttempt { started: first.started, reason }];
    let again = Trial { discarded, warnings: Vec::new(), ..first };
    store.trial(&header.id, &again).expect("replaces the earlier one");
    assert_eq!(store.load(&header.id).expect("loads").trials, [second, again]);
}

pub(crate) fn numbers_are_read_back_exactly(place: &Place) {
    let mut store = place.open();
    let header = header("quick-20261121-113015", 0);
    store.begin(&header).expect("begins");
    let mut bits: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut trial = trial(1);
    trial.warnings.clear();
    while trial.warnings.len() < 2000 {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let share = f64::from_bits(bits);
        trial.warnings.extend(share.is_finite().then_some(ValidityWarning::Stolen { share }));
    }
    store.trial(&header.id, &trial).expect("keeps");
    assert_eq!(store.load(&header.id).expect("loads").trials, [trial]);
}

pub(crate) fn lists_runs_newest_first_with_progress(place: &Place) {
    let mut store = place.open();
    for (id, started) in [("quick-20261121-1", 20), ("quick-20261121-2", 10), ("other-20261121-3", 30)] {
        store.begin(&header(id, started)).expect("begins");
    }
    let first = RunId("quick-20261121-1".into());
    (0..3).for_each(|index| store.trial(&first, &trial(index)).expect("keeps"));
    store.complete(&RunId("quick-20261121-2".into())).expect("completes");

    let listed: Vec<_> = store
        .runs()
        .expect("lists")
        .into_iter()
        .map(|run| (run.id.0, run.completed, run.planned, run.state))
        .collect();
    let expected = [
        ("other-20261121-3".to_owned(), 0, 12, RunState::Unfinished),
        ("quick-20261121-1".to_owned(), 3, 12, RunState::Unfinished),
        ("quick-20261121-2".to_owned(), 0, 12, RunState::Complete),
    ];
    assert_eq!(listed, expected);
    let unfinished = store.unfinished("digest of quick").expect("lists");
    assert_eq!(unfinished.iter().map(|run| &run.id).collect::<Vec<_>>(), [&first]);
    assert_eq!(store.resolve("latest:quick").expect("resolves"), first);
    for run in ["quick-20261121-1", "quick-20261121-2"] {
        let like = store.runs_like(&RunId(run.into())).expect("lists");
        assert_eq!(like, store.runs_of("digest of quick").expect("lists"), "{run}");
        assert_eq!(like.iter().map(|run| &run.id).collect::<Vec<_>>(), [&first], "those with trials");
    }
    assert_eq!(store.runs_like(&RunId("missing".into())).expect("lists"), []);
}

pub(crate) fn search_text_is_literal(place: &Place) {
    let mut store = place.open();
    for (id, started) in [("quick-20261121-1", 1), ("other-20261121-2", 2), ("quick-20261121-3", 3)] {
        store.begin(&header(id, started)).expect("begins");
    }
    let first = RunId("quick-20261121-1".into());
    (0..3).for_each(|index| store.trial(&first, &trial(index)).expect("keeps"));
    store.complete(&first).expect("completes");
    let check = |filter: RunFilter, expected: &[&str]| {
        let part = store.browse(&filter, None, 50).expect("a part");
        let found: Vec<_> = part.runs.iter().map(|run| run.id.0.as_str()).collect();
        assert_eq!((found.as_slice(), part.next), (expected, None), "{filter:?}");
    };
    let text = |text: &str| RunFilter { text: text.to_owned(), ..RunFilter::default() };
    let all = ["quick-20261121-3", "other-20261121-2", "quick-20261121-1"];
    let quick = [all[0], all[2]];
    check(text(""), &all);
    check(text("scenario QUICK: 'Quoted', \"TWICE"), &quick);
    check(text("ünïcode ✓"), &all);
    check(text("ÜNÏCODE"), &[]);
    check(text("%"), &[]);
    check(text("'; DROP TABLE run; --"), &[]);
    check(RunFilter { scenario: Some("quick".to_owned()), ..text("") }, &quick);
    check(RunFilter { state: Some(RunState::Complete), ..text("quick") }, &quick[1..]);
    check(RunFilter { imported: Some(true), ..text("") }, &[]);
    check(RunFilter { imported: Some(false), ..text("") }, &all);

    let part = store.browse(&text(""), None, 2).expect("a part");
    assert_eq!((part.runs.len(), part.runs[1].completed), (2, 0));
    let rest = store.browse(&text(""), part.next, 2).expect("the rest");
    assert_eq!((rest.runs.len(), rest.runs[0].completed, rest.next), (1, 3, None));
    let progress = store.progress(&first).expect("exists");
    assert_eq!((progress.completed, progress.planned, progress.state), (3, 12, RunState::Complete));
    let after = store.trials_after(&first, progress.newest - 1).expect("reads");
    assert_eq!(after, [trial(2)]);
}

pub(crate) fn removing_a_run_frees_its_trials_and_space(place: &Place) {
    let mut store = place.open();
    let (removed, other) = (header("quick-20261121-1", 1), header("quick-20261121-2", 2));
    for header in [&removed, &other] {
        store.begin(header).expect("begins");
        (0..40).for_each(|index| store.trial(&header.id, &trial(index)).expect("keeps"));
    }
    let before = place.size();
    store.remove(&removed.id).expect("removes");
    // A server's own vacuum frees the space later.
    if let (Some(before), Some(after)) = (before, place.size()) {
        assert!(after < before * 6 / 10, "{after} of {before} bytes remain");
    }
    assert!(matches!(store.load(&removed.id), Err(StoreError::Unknown { .. })));
    assert!(matches!(store.remove(&removed.id), Err(StoreError::Unknown { .. })));
    assert_eq!(store.load(&other.id).expect("loads").trials.len(), 40);
}

pub(crate) fn rejects_invalid_writes_without_changes(place: &Place) {
    let mut store = place.open();
    let header = header("quick-20261121-1", 1);
    let unknown = RunId("unknown".into());
    assert!(matches!(store.trial(&unknown, &trial(0)), Err(StoreError::Unknown { .. })));
    assert!(matches!(store.complete(&unknown), Err(StoreError::Unknown { .. })));
    store.begin(&header).expect("begins");
    assert!(matches!(store.begin(&header), Err(StoreError::RunExists { .. })));
    store.trial(&header.id, &trial(0)).expect("keeps");
    store
        .trial(&header.id, &trial(0))
        .expect("repeating it is allowed, because the reply may have been lost");
    let other = Trial { warnings: Vec::new(), ..trial(0) };
    assert!(matches!(store.trial(&header.id, &other), Err(StoreError::TrialExists { index: 0, .. })));
    let mut broken = trial(1);
    broken.warnings = vec![ValidityWarning::Stolen { share: f64::NAN }];
    let error = store.trial(&header.id, &broken).expect_err("not readable");
    assert!(error.to_string().contains("trial 1"), "{error}");
    assert_eq!(store.load(&header.id).expect("loads").trials, [trial(0)]);
}
