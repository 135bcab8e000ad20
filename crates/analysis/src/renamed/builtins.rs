//! Tests that built-in scenarios with other names keep their plans, verdicts and findings.

use samples::{BootedMachine, DeviceState, RunRecord, Trial};
use scenario::{
    DeviceRef, DeviceSettings, Offloads, Path, Plan, PlanOptions, PlannedResult, Ports, Scenario, builtin,
};
use serde_json::Value;
use units::{Bytes, Nanos};
use workload::{
    BalloonData, BalloonMethod, BalloonMove, ConnectData, FirstTouchData, Measurement, StreamSettings,
    Transport, WorkloadSettings,
};

use super::{Names, assert_same, check};
use crate::fixtures::{Fixture, connections, datagrams_at, device, jitter, open_loop_of, ping_of, stream_of};

const SEED: u64 = 7;
const BLOCKS: u32 = 6;
/// Tables with names as keys, and keys with names as values.
const HOSTS: [&str; 5] = ["hosts", "pods", "guests", "members", "ends"];
const ENDS: [&str; 8] = ["between", "host", "hosts", "from", "to", "node", "egress", "devices"];

fn parsed(text: &str) -> Scenario {
    let mut scenario = Scenario::parse("renamed", text).expect("it is valid");
    // Fixed ports are derived from names.
    scenario.schedule.ports = Ports::Vary;
    scenario
}

fn expanded(scenario: &Scenario) -> Plan {
    Plan::expand(scenario, SEED, &PlanOptions::default())
}

/// The values do not depend on names.
fn record(scenario: &Scenario, plan: &Plan) -> RunRecord {
    let mut run = Fixture::new(BLOCKS);
    let path = |result: &PlannedResult| {
        scenario.paths.iter().find(|path| path.name == result.path).expect("it is planned")
    };
    let header = &mut run.record.header;
    header.scenario = scenario.record("");
    header.paths = scenario.paths.iter().map(Path::record).collect();
    header.results = plan.results.iter().map(PlannedResult::record).collect();
    header.queue_factors = scenario.queue_factors();
    let machine = |host: &scenario::Host| {
        let settings = Some(host.vm.as_ref()?.record());
        Some(BootedMachine {
            host: host.name.to_string(),
            booted: None,
            ready: Nanos::from_secs(1),
            resident: None,
            settings,
            kernel: None,
        })
    };
    header.machines = scenario.lab.hosts.iter().filter_map(machine).collect();
    for trial in plan.trials.iter().filter(|trial| trial.block < BLOCKS) {
        let result = &plan.results[trial.result];
        let slowness = slowness(scenario, path(result), result) * jitter(trial.block, trial.result);
        let method = scenario.lab.vm(&path(result).from.host).and_then(|machine| machine.balloon);
        let measured = measurement(&result.load, slowness, method.unwrap_or(BalloonMethod::VirtioBalloon));
        run.trial(result.id.as_str(), trial.block, trial.arm, measured);
        let devices = path(result).devices.iter().map(|at| state(at, result.devices.get(at))).collect();
        let last = run.record.trials.last_mut().expect("it was just made");
        *last = Trial { devices, ..last.clone() };
    }
    run.record
}

fn slowness(scenario: &Scenario, path: &Path, result: &PlannedResult) -> f64 {
    let without_offloads =
        result.devices.values().filter(|settings| settings.offloads.tso == Some(false)).count();
    let machines = [&path.from.host, &path.to.host].into_iter().filter_map(|host| scenario.lab.vm(host));
    let forwarded = machines.filter(|machine| !machine.vhost).count();
    let queues = result.devices.values().filter_map(|settings| settings.queues).max().unwrap_or(1);
    let connections = StreamSettings::of(&result.load).map_or(1, |load| load.streams);
    (1.0 + 0.3 * path.layers.len() as f64 + 0.8 * without_offloads as f64 + 0.5 * forwarded as f64)
        / f64::from(queues.min(connections).min(4))
}

fn measurement(load: &WorkloadSettings, slowness: f64, method: BalloonMethod) -> Measurement {
    let time = Nanos((1e9 * slowness) as u64);
    let memory = Bytes(1 << 30);
    match load {
        WorkloadSettings::Stream(stream) if stream.transport == Transport::Udp => {
            datagrams_at(&[((1e4 / slowness) as u64, 10); 5])
        }
        WorkloadSettings::Stream(_) => stream_of(20e9 / slowness),
        WorkloadSettings::PingPong(ping) if ping.schedule != workload::Schedule::Closed => {
            open_loop_of((4e4 * slowness) as u64, 1000, 3)
        }
        WorkloadSettings::PingPong(_) => ping_of(4e4 * slowness),
        WorkloadSettings::Connect(_) => match connections() {
            Measurement::Connect(data) => Measurement::Connect(ConnectData { elapsed: time, ..data }),
            other => other,
        },
        WorkloadSettings::FirstTouch(_) => Measurement::FirstTouch(FirstTouchData {
            touched: memory,
            touching: time,
            elapsed: time,
            ..FirstTouchData::default()
        }),
        WorkloadSettings::Balloon(_) => Measurement::Balloon(BalloonData {
            method,
            direction: BalloonMove::Shrink,
            moved: memory,
            first: Nanos::from_millis(2),
            elapsed: time,
            touching: Nanos(0),
            resident_before: memory,
            resident_after: Bytes(0),
            stall: Nanos::from_millis(1),
            intervals: Vec::new(),
        }),
    }
}

fn state(at: &DeviceRef, settings: Option<&DeviceSettings>) -> DeviceState {
    let Offloads { tso, gso, gro, .. } = settings.map_or(Offloads::all(true), |settings| settings.offloads);
    let features = [("tx-tcp-segmentation", tso), ("tx-generic-segmentation", gso), ("rx-gro", gro)];
    device(&at.to_string(), 1500, &features.map(|(name, on)| (name, on != Some(false))))
}

impl Names {
    fn document(&self, key: &str, value: &toml::Value) -> toml::Value {
        match value {
            toml::Value::Table(table) => {
                let names = match key {
                    _ if HOSTS.contains(&key) => Some(&self.hosts),
                    "paths" => Some(&self.paths),
                    "workloads" => Some(&self.workloads),
                    "factors" => Some(&self.factors),
                    _ => None,
                };
                let renamed = |name: &String| names.and_then(|names| names.get(name)).unwrap_or(name).clone();
                let entry = |(name, inner): (&String, _)| (renamed(name), self.document(name, inner));
                toml::Value::Table(table.iter().map(entry).collect())
            }
            toml::Value::Array(all) => {
                toml::Value::Array(all.iter().map(|inner| self.document(key, inner)).collect())
            }
            toml::Value::String(text) => toml::Value::String(match key {
                "paths" => self.paths[text].clone(),
                "workloads" => self.workloads[text].clone(),
                "of" => self.factors[text].clone(),
                _ if ENDS.contains(&key) => self.end(text),
                _ => text.clone(),
            }),
            other => other.clone(),
        }
    }

    fn plan(&self, plan: &Plan) -> Value {
        let mut value = serde_json::to_value(plan).expect("plans serialise");
        self.walk("", &mut value);
        value
    }
}

#[test]
fn names_change_neither_the_plan_nor_the_verdict_of_a_builtin() {
    for builtin in builtin::all() {
        let document: toml::Value = toml::from_str(builtin.text).expect("it is TOML");
        let scenario = parsed(&toml::to_string(&document).expect("it is a table"));
        let plan = expanded(&scenario);
        let record = record(&scenario, &plan);
        let names = Names::of(&record);
        let renamed = names.document("", &document);
        let renamed = parsed(&toml::to_string(&renamed).expect("it is a table"));
        let expected = serde_json::to_value(expanded(&renamed)).expect("plans serialise");
        assert_same(&format!("{:#}", names.plan(&plan)), &format!("{expected:#}"), builtin.name);
        let found: &[&str] = match builtin.name {
            "egress-gateway" => &["offload-off"],
            "vhost" | "four-configurations" => &["vhost-off"],
            _ => &[],
        };
        check(&record, found);
    }
}
