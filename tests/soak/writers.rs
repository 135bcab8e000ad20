//! Ten writers store a hundred thousand trials while the database server crashes every few seconds.

use std::{
    thread,
    time::{Duration, Instant},
};

use plumb_tests::{PostgresServer, wire};
use samples::{RunHeader, RunId, Sink, Trial, UnixMillis};
use store::{PatientStore, Store};

use crate::{rounds, sandbox};

const WRITERS: u32 = 10;
const SENT_TWICE: u32 = 10;
const BETWEEN_FAULTS: Duration = Duration::from_secs(10);

pub(crate) fn hundred_thousand_trials() {
    let each = u32::try_from(rounds(10_000)).expect("few");
    let all = WRITERS * each;
    let (header, sample) = one_trial(all);
    let server = PostgresServer::new();
    let address = server.database();
    Store::open(&address).expect("opens").begin(&header).expect("begins");
    let begun = Instant::now();
    let faults = thread::scope(|scope| {
        let write = |writer| write(&address, &header.id, &sample, writer * each, each, all);
        let writers: Vec<_> = (0..WRITERS).map(|writer| scope.spawn(move || write(writer))).collect();
        let mut faults = 0;
        let mut last = Instant::now();
        while writers.iter().any(|writer| !writer.is_finished()) {
            thread::sleep(Duration::from_millis(100));
            if last.elapsed() > BETWEEN_FAULTS {
                server.crash();
                thread::sleep(Duration::from_secs(1));
                server.start(&[]);
                (faults, last) = (faults + 1, Instant::now());
            }
        }
        faults
    });
    let took = begun.elapsed().as_secs_f64();
    println!("{all} trials by {WRITERS} writers in {took:.1} s, {faults} server crashes");
    let store = Store::open(&address).expect("opens");
    let progress = store.progress(&header.id).expect("the run exists");
    assert_eq!(progress.completed, all);
    let database = address.rsplit('/').next().expect("it ends in it");
    let places = server.sql(database, "SELECT count(DISTINCT place), min(place), max(place) FROM trial");
    assert_eq!(places, format!("{all}|0|{}", all - 1));
    for trial in store.trials_after(&header.id, progress.newest - 1_000).expect("reads") {
        assert_eq!(trial, numbered(&sample, trial.index));
    }
}

fn one_trial(planned: u32) -> (RunHeader, Trial) {
    let sandbox = sandbox();
    let file = sandbox.file("wire.toml", &wire(1, "200ms"));
    let _ = sandbox.succeed(&["run", &file, "--quiet"]);
    let store = Store::open(sandbox.database()).expect("the database opens");
    let run = store.resolve("latest").expect("the run exists");
    let record = store.load(&run).expect("loads");
    let trial = record.trials.into_iter().next().expect("the run has a trial");
    (RunHeader { planned, ..record.header }, Trial { discarded: Vec::new(), ..trial })
}

fn numbered(sample: &Trial, index: u32) -> Trial {
    Trial { index, started: UnixMillis(i64::from(index)), ..sample.clone() }
}

fn write(address: &str, run: &RunId, sample: &Trial, first: u32, each: u32, all: u32) {
    let mut store = Store::open(address).expect("opens");
    let mut patient = PatientStore::new(&mut store, &|_| (), &|| false);
    for index in first..first + each {
        patient.trial(run, &numbered(sample, index)).expect("the trial is stored in the end");
        if index % SENT_TWICE == 0 {
            let of_next = numbered(sample, (index + each) % all);
            patient.trial(run, &of_next).expect("the trial is stored once, by either writer");
        }
    }
}
