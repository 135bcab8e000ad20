//! Several processes and threads at one store, and some that are killed.
//!
//! Children are this test program again; what they do is named by STORE_CHILD, where by STORE_PATH, and to which run by STORE_RUN.

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
/// Ten writers of a file wait for each other.
const LONG: Duration = Duration::from_secs(60);

pub(crate) fn a_writer_killed_in_the_middle_leaves_finished_trials_whole(place: &Place) {
    for (number, kept) in [1, 7, 23, 40].into_iter().enumerate() {
        let run = RunId(format!("quick-20261121-{number}"));
        let (mut writer, lines) = child("writes_until_it_is_killed", place, &run.0);
        let said: u32 = lines
            .map_while(Result::ok)
            .filter_map(|line| line.strip_prefix("kept ")?.parse().ok())
            .find(|&index| index >= kept)
            .expect("the child keeps trials");
        writer.kill().expect("is killed");
        writer.wait().expect("is gone");

        let store = place.open();
        let trials = store.load(&run).expect("loads without repair").trials;
        let expected: Vec<_> = (0..u32::try_from(trials.len()).expect("few")).map(trial).collect();
        assert!(trials.len() > said as usize, "{} trials are left, {said} was said to be kept", trials.len());
        assert_eq!(trials, expected);
        assert_eq!(store.unfinished("digest of quick").expect("lists").len(), number + 1);
    }
}

pub(crate) fn processes_that_write_different_runs_do_not_disturb_each_other(place: &Place) {
    let ids = ["quick-20261121-1", "quick-20261121-2", "quick-20261121-3"];
    let writers = ids.map(|id| child("writes_fifty_trials", place, id));
    for (mut writer, lines) in writers {
        let said: Vec<_> = lines.map_while(Result::ok).collect();
        assert!(writer.wait().expect("ends").success(), "{said:?}");
    }
    let store = place.open();
    let expected: Vec<_> = (0..50).map(trial).collect();
    for listed in store.runs().expect("lists") {
        assert_eq!(store.load(&listed.id).expect("loads").trials, expected);
    }
    assert_eq!(store.runs().expect("lists").len(), ids.len());
}

/// Each writes all of them, from another one on: most come when they are there, or just being written.
pub(crate) fn ten_writers_of_the_same_trials_keep_each_once(place: &Place) {
    const TRIALS: u32 = 40;
    let header = header("quick-20261121-1", 1);
    place.open().begin(&header).expect("begins");
    thread::scope(|scope| {
        for writer in 0..10 {
            let run = &header.id;
            scope.spawn(move || {
                let mut store = place.open_with_patience(LONG);
                for step in 0..TRIALS {
                    store.trial(run, &trial((writer * 4 + step) % TRIALS)).expect("is kept, by whomever");
                }
            });
        }
    });
    let mut store = place.open();
    let mut trials = store.load(&header.id).expect("loads").trials;
    trials.sort_by_key(|trial| trial.index);
    assert_eq!(trials, (0..TRIALS).map(trial).collect::<Vec<_>>());
    let other = Trial { doubts: Vec::new(), ..trial(3) };
    let refused = store.trial(&header.id, &other).expect_err("another one is there");
    assert!(matches!(refused, StoreError::TrialExists { index: 3, .. }), "{refused:?}");
}

/// What two controllers do that want the same run.
pub(crate) fn a_run_has_one_process_until_that_ends_however_it_ends(place: &Place) {
    let run = RunId("quick-20261121-1".to_owned());
    let store = place.open();
    assert!(!store.is_under_way(&run));
    let (mut holder, mut lines) = child("claims_a_run_until_it_is_killed", place, &run.0);
    assert!(lines.any(|line| line.is_ok_and(|line| line == "claimed")), "the child has it");
    let refused = store.claim(&run).expect_err("another process has it");
    assert!(matches!(refused, StoreError::UnderWay { .. }), "{refused:?}");
    assert!(refused.to_string().contains(&format!(" {}", holder.id())), "{refused}");
    assert!(store.is_under_way(&run));
    let (other, _claim) = store.claim_new(&run.0).expect("another name is free");
    assert_eq!(other.0, "quick-20261121-1-2");
    holder.kill().expect("is killed");
    holder.wait().expect("is gone");
    // A server has to notice.
    assert!(wait_until(PATIENCE, || store.claim(&run).is_ok()), "it is free again");
    assert!(!store.is_under_way(&run));
}

/// Does what a parent wants; whether this is a child.
pub(crate) fn is_child() -> bool {
    let told = |name: &str| env::var(name).ok();
    let Some(what) = told("STORE_CHILD") else { return false };
    let store = Store::open(told("STORE_PATH").expect("is told")).expect("opens");
    let run = told("STORE_RUN").expect("is told");
    match what.as_str() {
        "writes_until_it_is_killed" => write(store, &run, NEVER_ENDS),
        "writes_fifty_trials" => write(store, &run, 50),
        "claims_a_run_until_it_is_killed" => {
            let _claim = store.claim(&RunId(run)).expect("nobody has it");
            tell("claimed");
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
        tell(&format!("kept {index}"));
    }
}

#[expect(clippy::disallowed_macros, reason = "the parent reads how far its child is")]
fn tell(text: &str) {
    println!("{text}");
}

/// This program again.
fn child(what: &str, place: &Place, run: &str) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut child = Command::new(env::current_exe().expect("known"))
        .env("STORE_CHILD", what)
        .env("STORE_PATH", place.path())
        .env("STORE_RUN", run)
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let lines = BufReader::new(child.stdout.take().expect("is piped")).lines();
    (child, lines)
}
