//! Tests that names chosen by users do not affect the verdict or the findings. Only layers, levels and settings may.

mod builtins;

use std::{collections::BTreeMap, io::Read};

use flate2::read::GzDecoder;
use samples::{BootedMachine, RunRecord, VmSettings, WorkloadSource};
use serde_json::Value;
use units::{Bytes, Nanos};
use workload::{Direction, WorkloadSettings};

use crate::{
    analyse,
    fixtures::{Fixture, egress},
};

const GOLDEN: &str = include_str!("../tests/golden/egress.run.json");
const KINDS: &[u8] = include_bytes!("../../../tests/cli/records/kinds.run.json.gz");
const DIRECTIONS: &[u8] = include_bytes!("../../../tests/cli/records/directions.run.json.gz");

/// Maps old names to new ones. Keeps the alphabetical order within each class.
#[derive(Default)]
struct Names {
    paths: BTreeMap<String, String>,
    workloads: BTreeMap<String, String>,
    factors: BTreeMap<String, String>,
    hosts: BTreeMap<String, String>,
    results: BTreeMap<String, String>,
}

fn numbered<'a>(class: char, names: impl Iterator<Item = &'a String>) -> BTreeMap<String, String> {
    let mut names: Vec<&String> = names.collect();
    names.sort();
    names.dedup();
    names.iter().enumerate().map(|(at, name)| ((*name).clone(), format!("{class}{at:02}zq"))).collect()
}

impl Names {
    fn of(run: &RunRecord) -> Self {
        let (paths, results) = (&run.header.paths, &run.header.results);
        let devices = paths.iter().flat_map(|path| &path.devices).filter_map(|device| device.split_once(':'));
        let machines = run.header.machines.iter().map(|machine| machine.host.as_str());
        let hosts = paths.iter().flat_map(|path| path.hosts()).chain(devices.map(|(host, _)| host));
        let hosts: Vec<String> = hosts.chain(machines).map(str::to_owned).collect();
        let mut names = Self {
            paths: numbered('p', paths.iter().map(|path| &path.name)),
            workloads: numbered('w', results.iter().map(|result| &result.workload)),
            factors: numbered('f', results.iter().flat_map(|result| result.levels.keys())),
            hosts: numbered('h', hosts.iter()),
            results: BTreeMap::new(),
        };
        // A path within a host is named after the host, so both get the same new name.
        for path in paths.iter().filter(|path| path.from == path.to) {
            names.paths.extend(names.hosts.get(&path.name).map(|host| (path.name.clone(), host.clone())));
        }
        for result in results {
            let levels = result.levels.iter();
            let levels = levels.map(|(factor, level)| format!("{}={level}", names.factors[factor]));
            let levels = levels.collect::<Vec<_>>().join(if result.id.contains(',') { "," } else { "/" });
            let gap = if levels.is_empty() { "" } else { "/" };
            let (path, workload) = (&names.paths[&result.path], &names.workloads[&result.workload]);
            let id = format!("{path}/{workload}{gap}{levels}");
            names.results.insert(result.id.clone(), id);
        }
        names
    }

    fn renamed(&self, run: &RunRecord) -> RunRecord {
        let mut run = run.clone();
        run.header.paths.iter_mut().for_each(|path| path.name = self.paths[&path.name].clone());
        run.header.queue_factors.iter_mut().for_each(|factor| *factor = self.factors[factor].clone());
        let mut value: Value = serde_json::from_str(&run.text().expect("records serialise")).expect("JSON");
        self.walk("", &mut value);
        RunRecord::read(&value.to_string()).expect("the renamed run can be read")
    }

    fn walk(&self, key: &str, value: &mut Value) {
        match value {
            Value::String(text) => {
                let renamed = match key {
                    "host" => self.hosts.get(text).cloned(),
                    "path" => self.paths.get(text).cloned(),
                    "workload" => self.workloads.get(text).cloned(),
                    _ => self.results.get(text).cloned(),
                };
                *text = renamed.unwrap_or_else(|| self.device(text));
            }
            Value::Array(all) => all.iter_mut().for_each(|inner| self.walk(key, inner)),
            Value::Object(all) => {
                all.iter_mut().for_each(|(key, inner)| self.walk(key, inner));
                let renamed = |name: String| match self.factors.get(&name).filter(|_| key == "levels") {
                    Some(factor) => factor.clone(),
                    None => self.device(&name),
                };
                *all = std::mem::take(all).into_iter().map(|(name, inner)| (renamed(name), inner)).collect();
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// A bridge port may be named after the guest at its other end.
    fn device(&self, text: &str) -> String {
        let renamed = |(host, device): (&str, &str)| {
            let port = self.hosts.get(device).map_or(device, String::as_str);
            Some(format!("{}:{port}", self.hosts.get(host)?))
        };
        text.split_once(':').and_then(renamed).unwrap_or_else(|| text.to_owned())
    }

    fn end(&self, text: &str) -> String {
        self.hosts.get(text).cloned().unwrap_or_else(|| self.device(text))
    }

    fn restored(&self, text: &str) -> String {
        let all = [&self.paths, &self.workloads, &self.factors, &self.hosts].into_iter().flatten();
        all.fold(text.to_owned(), |text, (name, new)| text.replace(new, name))
    }
}

fn judged(run: &RunRecord) -> String {
    let findings = analyse(run);
    serde_json::to_string_pretty(&(&findings.verdict, &findings.findings)).expect("findings serialise")
}

fn check(run: &RunRecord, expected: &[&str]) {
    let names = Names::of(run);
    let renamed = names.renamed(run);
    assert_ne!(renamed.header, run.header);
    let (original, restored) = (judged(run), names.restored(&judged(&renamed)));
    assert_same(&original, &restored, &run.header.scenario.name);
    let findings = analyse(&renamed).findings;
    let found: Vec<&str> = findings.iter().map(|finding| finding.id.as_str()).collect();
    assert!(expected.iter().all(|id| found.contains(id)), "{found:?} instead of {expected:?}");
}

fn assert_same(one: &str, other: &str, name: &str) {
    assert_eq!(one.lines().zip(other.lines()).find(|(one, other)| one != other), None, "{name}");
}

fn stored(packed: &[u8]) -> RunRecord {
    let mut text = String::new();
    GzDecoder::new(packed).read_to_string(&mut text).expect("it is gzip");
    RunRecord::read(&text).expect("the run can be read")
}

fn machine(run: &mut Fixture, host: &str, board: &str, vhost: bool) {
    run.record.header.machines.push(BootedMachine {
        host: host.into(),
        booted: None,
        ready: Nanos::from_secs(1),
        resident: None,
        settings: Some(VmSettings {
            monitor: "qemu".into(),
            board: board.into(),
            vcpus: 1,
            memory: Bytes(256 << 20),
            queues: 1,
            vhost,
        }),
        kernel: None,
    });
}

fn path(run: &mut Fixture, name: &str, [from, to]: [&str; 2]) {
    run.path(name, &["virtio", "bridge"]);
    let path = run.record.header.paths.last_mut().expect("it was just made");
    (path.from, path.to) = (format!("{from}:eth0"), format!("{to}:eth0"));
}

fn vhost() -> Fixture {
    let mut run = Fixture::new(6);
    for (host, vhost) in [("off-a", false), ("off-b", false), ("on-a", true), ("on-b", true)] {
        machine(&mut run, host, "q35", vhost);
    }
    for (name, ends, rates) in [
        ("host-to-vm", ["pve", "off-a"], [16.2e9, 9e9]),
        ("host-to-vm-vhost", ["pve", "on-a"], [27.4e9, 21.8e9]),
    ] {
        path(&mut run, name, ends);
        for (direction, label, rate) in
            [(Direction::Forward, "forward", rates[0]), (Direction::Reverse, "reverse", rates[1])]
        {
            run.stream(name, &[("direction", label)], rate);
            let result = run.record.header.results.last_mut().expect("it was just made");
            if let WorkloadSource::Load(WorkloadSettings::Stream(settings)) = &mut result.sent {
                settings.direction = direction;
            }
        }
    }
    for (name, ends, time) in
        [("vm-to-vm", ["off-a", "off-b"], 60e3), ("vm-to-vm-vhost", ["on-a", "on-b"], 45e3)]
    {
        path(&mut run, name, ends);
        run.ping(name, &[], time);
    }
    run
}

fn four_configurations() -> Fixture {
    let mut run = Fixture::new(6);
    path(&mut run, "bare", ["bare-a", "bare-b"]);
    run.stream("bare", &[], 23.5e9);
    for (name, board, vhost, rate) in [
        ("microvm", "microvm", false, 10.6e9),
        ("qemu", "q35", false, 9.6e9),
        ("qemu-vhost", "q35", true, 13.2e9),
    ] {
        let ends = ["a", "b"].map(|end| format!("{name}-{end}"));
        ends.iter().for_each(|host| machine(&mut run, host, board, vhost));
        path(&mut run, name, ends.each_ref().map(String::as_str));
        run.stream(name, &[], rate);
    }
    run
}

fn queues() -> Fixture {
    let mut run = Fixture::new(6);
    run.path("guest-to-guest", &["veth", "bridge"]);
    for (queues, rate) in [("1", 5e9), ("2", 9e9), ("4", 9.1e9)] {
        for streams in ["1", "2"] {
            run.stream("guest-to-guest", &[("queues", queues), ("streams", streams)], rate);
        }
    }
    run
}

#[test]
fn names_do_not_change_the_verdict_or_the_findings() {
    check(&RunRecord::read(GOLDEN).expect("the golden run can be read"), &["offload-off"]);
    check(&egress(6).record, &["offload-off"]);
    check(&stored(KINDS), &[]);
    check(&stored(DIRECTIONS), &[]);
    check(&vhost().record, &["vhost-off", "direction-asymmetry"]);
    check(&four_configurations().record, &["vhost-off"]);
    check(&queues().record, &["single-queue-bound"]);
}

#[test]
fn words_in_names_are_no_settings() {
    let mut run = vhost().record;
    run.header.machines.iter_mut().for_each(|machine| machine.settings = None);
    let findings = analyse(&run);
    assert!(findings.matched_pairs.is_empty(), "{:?}", findings.matched_pairs);
    assert!(findings.findings.iter().all(|finding| finding.id != "vhost-off"));
}
