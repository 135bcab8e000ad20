//! Tests sampling, rebalancing and replaying, with scripted VMs.

use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use memory::{
    AttachedVms, MemoryError, MemorySample, Rebalance, Recorder, Replay, ReplayError, Rounds, Sampler,
    VmsConfig, parse_recording,
};
use plumb_tests::scripted_vm::{self, agent, serve, telemetry};
use policy::State;
use serde_json::json;
use tempfile::TempDir;
use units::Bytes;

const GIB: u64 = 1 << 30;

struct Host {
    folder: TempDir,
    config: VmsConfig,
}

impl Host {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let [qmp, port] = ["qmp", "agent"].map(|name| folder.path().join(name));
        serve(&qmp, |socket| scripted_vm::monitor(socket, scripted_vm::monitor_answer));
        serve(&port, |socket| agent(socket, |id| telemetry(id, &json!({}))));
        let (qmp, agent) = (qmp.display(), port.display());
        let text = format!("interval = \"1s\"\n[vms.web]\nqmp = \"{qmp}\"\nagent = \"{agent}\"\n");
        Self { folder, config: VmsConfig::parse(&text).expect("valid") }
    }

    fn attach(&self) -> AttachedVms {
        self.config.attach(None, "test", &Arc::default()).expect("the monitor replies")
    }

    fn rebalance(&self) -> Rebalance {
        Rebalance::resume(&self.config, self.attach(), State::default()).expect("settings that fit")
    }

    fn record(&self) -> Vec<MemorySample> {
        let path = self.folder.path().join("recording");
        let mut recorder = Recorder::open(&path).expect("a new file");
        let sampler = Sampler { vms: self.attach(), interval: self.config.interval(), once: true };
        sampler
            .run(&AtomicBool::new(false), |_, sample| recorder.append(sample))
            .expect("the disk has space");
        let text = fs::read_to_string(&path).expect("ours");
        parse_recording(&path, &text, |line| panic!("line {line} is incomplete")).expect("one sample")
    }
}

#[test]
fn rebalances_until_last_round() {
    let host = Host::new();
    let rounds = Rounds { dry: true, most: Some(2), ..Rounds::default() };
    let mut reported = 0;
    let finished = host.rebalance().run(&rounds, |rebalance, round| {
        reported += 1;
        let sample = rebalance.sample(round, rounds.dry);
        assert_eq!((sample.vms[0].fast, sample.vms[0].total), (Some(Bytes(2 * GIB)), Some(Bytes(2 * GIB))));
        Ok::<_, MemoryError>(())
    });
    assert_eq!((finished.expect("no error"), reported), (2, 2));
}

#[test]
fn stop_or_error_ends_rebalancing() {
    let host = Host::new();
    let rounds = Rounds { dry: true, ..Rounds::default() };
    let finished = host.rebalance().run(&rounds, |_, _| {
        rounds.stop.store(true, Ordering::Relaxed);
        Ok::<_, MemoryError>(())
    });
    assert_eq!(finished.expect("no error"), 1);
    let mut stopped = host.rebalance();
    let none = stopped.run(&rounds, |_, _| -> Result<(), MemoryError> { panic!("it was stopped") });
    assert_eq!(none.expect("no error"), 0);
    let rounds = Rounds { dry: true, ..Rounds::default() };
    let failed = stopped.run(&rounds, |_, _| Err(MemoryError::Interrupted));
    assert!(matches!(failed, Err(MemoryError::Interrupted)), "{failed:?}");
}

#[test]
fn replays_recorded_sample() {
    let host = Host::new();
    let samples = host.record();
    assert_eq!(samples.len(), 1);
    let mut replay = Replay::new(&host.config, &samples).expect("the VM is in the recording");
    let round = replay.round(&samples[0]);
    assert!(round.seen["web"].is_ok() && round.failed.is_empty(), "{round:?}");
    assert_eq!(replay.averages()["web"].to_string(), "2.00 GiB of fast memory (2.00 GiB recorded)");
    let other = VmsConfig::parse("[vms.db]\nqmp = \"/nowhere\"\n").expect("valid");
    let error = Replay::new(&other, &samples).expect_err("it is not in the recording");
    assert!(matches!(&error, ReplayError::UnknownVm { vm } if vm == "db"), "{error}");
}

#[test]
fn names_unreachable_machine() {
    let config = VmsConfig::parse("[vms.web]\nqmp = \"/nowhere/qmp\"\n").expect("valid");
    let error = config.attach(Some(Path::new("/nowhere")), "test", &Arc::default()).expect_err("no monitor");
    assert_eq!(error.to_string(), "virtual machine `web`");
}
