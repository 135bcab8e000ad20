//! Tests concurrent processes and threads, some of which are killed. Child processes run this program with
//! STORE_CHILD (the action), STORE_PATH and STORE_RUN.

use std::{
    env,
    io::{BufRead, BufReader, Lines},
    process::{Child, ChildStdout, Command, Stdio},
    thread,
    time::Duration,
};

use plumb_tests::{PATIENCE, wait_until};
use samples::{RunId, Sink, Trial};
use store::{Store, StoreError};

use crate::{
    place::Place,
    record::{header, trial},
};

const NEVER_ENDS: u32 = 1_000_000;
const LONG: Duration = Duration::from_secs(60);

pub(crate) fn killed_writer_leaves_finished_trials_intact(place: &Place) {
    for (number, wanted) in [1, 7, 23, 40].into_iter().enumerate() {
        let run = RunId(format!("quick-20261121-{number}"));
        let (mut writer, lines) = child("writes_until_it_is_killed", place, &run.0);
        let reported: u32 = lines
            .map_while(Result::ok)
            .filter_map(|line| line.strip_prefix("stored ")?.parse().ok())
            .find(|&index| index >= wanted)
            .expect("the child stores trials");
        writer.kill().expect("kills the child");
        writer.wait().expect("waits for the child");

        let store = place.open();
        let trials = store.load(&run).expect("loads without repair").trials;
        let expected: Vec<_> = (0..u32::try_from(trials.len()).expect("few")).map(trial).collect();
        assert!(
            trials.len() > reported as usize,
            "{} trials, but {reported} was reported as stored",
            trials.len()
        );
        assert_eq!(trials, expected);
        assert_eq!(store.unfinished("digest of quick").expect("lists").len(), number + 1);
    }
}

pub(crate) fn processes_can_write_different_runs_concurrently(place: &Place) {
    let ids = ["quick-20261121-1", "quick-20261121-2", "quick-20261121-3"];
    let writers = ids.map(|id| child("writes_fifty_trials", place, id));
    for (mut writer, lines) in writers {
        let output: Vec<_> = lines.map_while(Result::ok).collect();
        assert!(writer.wait().expect("ends").success(), "{output:?}");
    }
    let store = place.open();
    let expected: Vec<_> = (0..50).map(trial).collect();
    for listed in store.runs().expect("lists") {
        assert_eq!(store.load(&listed.id).expect("loads").trials, expected);
    }
    assert_eq!(store.runs().expect("lists").len(), ids.len());
}

/// Writers start at different offsets, so most trials already exist or are being written.
pub(crate) fn concurrent_writers_store_each_trial_once(place: &Place) {
    const TRIALS: u32 = 40;
    let header = header("quick-20261121-1", 1);
    place.open().begin(&header).expect("begins");
    thread::scope(|scope| {
        for writer in 0..10 {
            let run = &header.id;
            scope.spawn(move || {
                let mut store = place.open_with_patience(LONG);
                for step in 0..TRIALS {
                    store.trial(run, &trial((writer * 4 + step) % TRIALS)).expect("is stored once");
                }
            });
        }
    });
    let mut store = place.open();
    let mut trials = store.load(&header.id).expect("loads").trials;
    trials.sort_by_key(|trial| trial.index);
    assert_eq!(trials, (0..TRIALS).map(trial).collect::<Vec<_>>());
    let other = Trial { warnings: Vec::new(), ..trial(3) };
    let refused = store.trial(&header.id, &other).expect_err("a different trial exists");
    assert!(matches!(refused, StoreError::TrialExists { index: 3, .. }), "{refused:?}");
}

pub(crate) fn run_has_one_owner_until_its_process_ends(place: &Place) {
    let run = RunId("quick-20261121-1".to_owned());
    let store = place.open();
    assert!(!store.is_under_way(&run));
    let (mut holder, mut lines) = child("claims_a_run_until_it_is_killed", place, &run.0);
    assert!(lines.any(|line| line.is_ok_and(|line| line == "claimed")), "the child has claimed it");
    let refused = store.claim(&run).expect_err("claimed by another process");
    assert!(matches!(refused, StoreError::UnderWay { .. }), "{refused:?}");
    assert!(refused.to_string().contains(&format!(" {}", holder.id())), "{refused}");
    assert!(store.is_under_way(&run));
    let (other, _claim) = store.claim_new(&run.0).expect("another name is free");
    assert_eq!(other.0, "quick-20261121-1-2");
    holder.kill().expect("kills the child");
    holder.wait().expect("waits for the child");
    assert!(wait_until(PATIENCE, || store.claim(&run).is_ok()), "the run is free again");
    assert!(!store.is_under_way(&run));
}

pub(crate) fn is_child() -> bool {
    let variable = |name: &str| env::var(name).ok();
    let Some(action) = variable("STORE_CHILD") else { return false };
    let store = Store::open(variable("STORE_PATH").expect("is variable")).expect("opens");
    let run = variable("STORE_RUN").expect("is variable");
    match action.as_str() {
        "writes_until_it_is_killed" => write(store, &run, NEVER_ENDS),
        "writes_fifty_trials" => write(store, &run, 50),
        "claims_a_run_until_it_is_killed" => {
            let _claim = store.claim(&RunId(run)).expect("the run is free");
            report("claimed");
            thread::sleep(PATIENCE);
        }
        other => panic!("{other}"),
    }
    true
}

fn write(mut store: Store, run: &str, trials: u32) {
    let header = header(run, 1);
    store.begin(&header).expect("begins");
    for index in 0..trials {
        store.trial(&header.id, &trial(index)).expect("keeps");
        report(&format!("stored {index}"));
    }
}

#[expect(clippy::disallowed_macros, reason = "the parent reads its child's progress")]
fn report(text: &str) {
    println!("{text}");
}

fn child(action: &str, place: &Place, run: &str) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut child = Command::new(env::current_exe().expect("known"))
        .env("STORE_CHILD", action)
        .env("STORE_PATH", place.path())
        .env("STORE_RUN", run)
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let lines = BufReader::new(child.stdout.take().expect("is piped")).lines();
    (child, lines)
}
