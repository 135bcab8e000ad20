//! Tests the settings and the order of planned trials.

use std::collections::BTreeSet;

use samples::Arm;
use scenario::{HostName, PathName, Plan, PlanOptions, PlannedResult, Scenario, WorkloadName, builtin};
use units::{BitRate, Bytes, Nanos};
use workload::{
    Background, Direction, Mode, Placement, Schedule, SocketSettings, Transport, Waiting, WorkloadSettings,
};

const TWO_WIRES: &str = r#"
schema = 1
name = "two-wires"
title = "two wires, one factor of each kind"

[hosts.a]
[hosts.b]

[wires.one]
between = ["a:eth0", "b:eth0"]
addresses = ["198.18.0.1/24", "198.18.0.2/24"]

[wires.two]
between = ["a:eth1", "b:eth1"]
addresses = ["198.18.1.1/24", "198.18.1.2/24"]
mtu = 9000

[devices."a:eth0"]
offload = "on"
gro = "off"

[paths.first]
from = "a:eth0"
to = "b:eth0"
layers = ["wire"]
baseline = true

[paths.second]
from = "a:eth1"
to = "b:eth1"
layers = ["wire"]

[workloads.bulk]
kind = "stream"

[workloads.ping]
kind = "ping-pong"

[factors.tso]
vary = "tso"
devices = ["a:eth0", "a:eth1"]
values = ["off", "on"]
workloads = ["ping"]

[factors.big]
vary = "big-tcp"
devices = ["a:eth1", "b:eth1"]
values = ["64KiB", "512KiB"]

[factors.message]
vary = "message"
values = [64, "1KiB"]
workloads = ["ping"]

[factors.placement]
vary = "placement"
values = ["same-cpu", "free"]

[schedule]
trials = 3
"#;

fn scenario() -> Scenario {
    Scenario::parse("two-wires", TWO_WIRES).unwrap_or_else(|diagnosis| {
        panic!("{:#?}", diagnosis.problems().collect::<Vec<_>>());
    })
}

fn plan(seed: u64, options: &PlanOptions) -> Plan {
    Plan::expand(&scenario(), seed, options)
}

fn result(id: &str) -> PlannedResult {
    let plan = plan(1, &PlanOptions::default());
    let ids: Vec<String> = plan.results.iter().map(|result| result.id.to_string()).collect();
    plan.results
        .into_iter()
        .find(|result| result.id.as_str() == id)
        .unwrap_or_else(|| panic!("no {id} in {ids:#?}"))
}

#[test]
fn only_path_is_the_baseline_and_layers_are_traced() {
    let text = r#"
schema = 1
name = "short"
title = "a bridge between two pods"
[hosts.a]
[bridges.br0]
host = "a"
[pods.one]
bridge = "br0"
address = "198.18.0.1/24"
[pods.two]
bridge = "br0"
address = "198.18.0.2/24"
[paths.ab]
from = "one"
to = "two"
[workloads.bulk]
kind = "stream"
"#;
    let scenario = Scenario::parse("short.toml", text).expect("nothing is missing");
    let path = &scenario.paths[0];
    assert!(path.baseline);
    assert_eq!(path.layers.iter().map(|layer| layer.word()).collect::<Vec<_>>(), ["veth", "bridge"]);
    let unmarked = text.replace("to = \"two\"", "to = \"two\"\nbaseline = false");
    assert!(Scenario::parse("short.toml", &unmarked).is_err());
}

#[test]
fn factor_multiplies_only_results_it_affects() {
    let plan = plan(1, &PlanOptions::default());
    let count =
        |stem: &str| plan.results.iter().filter(|result| result.id.as_str().starts_with(stem)).count();
    assert_eq!(count("first/bulk/"), 2, "placement");
    assert_eq!(count("first/ping/"), 8, "tso, message and placement");
    assert_eq!(count("second/bulk/"), 4, "big TCP and placement");
    assert_eq!(count("second/ping/"), 16, "tso, big TCP, message and placement");
}

#[test]
fn results_have_unique_names() {
    let plan = plan(1, &PlanOptions::default());
    let ids: BTreeSet<&str> = plan.results.iter().map(|result| result.id.as_str()).collect();
    assert_eq!(ids.len(), plan.results.len());
}

#[test]
fn level_sets_load_placement_and_devices() {
    let result = result("second/ping/tso=on,big=512KiB,message=1KiB,placement=free");
    let WorkloadSettings::PingPong(load) = &result.load else { panic!("a ping-pong") };
    assert_eq!((load.message, result.placement), (Bytes(1024), Placement::Free));
    let device = &result.devices[&"a:eth1".parse().expect("a device")];
    assert_eq!((device.offloads.tso, device.offloads.gso), (Some(true), None));
    assert_eq!(device.big_tcp, Some(Bytes(524_280)), "kernel limit for 512 KiB");
}

/// Each result sets all devices that any factor changes, so that it does not depend on earlier results.
#[test]
fn inapplicable_factor_sets_first_level() {
    let result = result("first/bulk/placement=same-cpu");
    let offloads = result.devices[&"a:eth0".parse().expect("a device")].offloads;
    assert_eq!(offloads.tso, Some(false), "first level of the factor");
    assert_eq!((offloads.gso, offloads.gro), (Some(true), Some(false)), "as in the document");
    assert_eq!(result.devices[&"a:eth1".parse().expect("a device")].big_tcp, Some(Bytes(65_536)));
}

#[test]
fn device_is_created_with_largest_queue_count() {
    let scenario = wire(
        "[devices.\"a:eth0\"]\nqueues = 3\noffload = \"off\"\ngro = \"on\"\n[workloads.x]\nkind = \"stream\"\n\
         [factors.q]\nvary = \"queues\"\ndevices = [\"a:eth0\", \"b:eth0\"]\nvalues = [1, 2]\n\
         [factors.tx]\nvary = \"tx-checksum\"\ndevices = [\"a:eth0\"]\nvalues = [\"on\", \"off\"]\n\
         [factors.rx]\nvary = \"rx-checksum\"\ndevices = [\"a:eth0\"]\nvalues = [\"on\", \"off\"]",
    );
    let queues = ["a:eth0", "b:eth0"].map(|at| scenario.lab.devices[&at.parse().expect("a device")].queues);
    assert_eq!(queues, [Some(3), Some(2)], "the largest value");
    let offloads = scenario.lab.devices[&"a:eth0".parse().expect("a device")].offloads;
    assert_eq!(
        (offloads.tso, offloads.gro),
        (Some(false), Some(true)),
        "a specific key overrides the general one"
    );
    let results = Plan::expand(&scenario, 1, &PlanOptions::default()).results;
    assert_eq!(results.len(), 8, "the checksum directions are separate factors");
    let of_result = |result: &PlannedResult| result.devices[&"a:eth0".parse().expect("a device")].queues;
    assert!(results.iter().all(|result| matches!(of_result(result), Some(1 | 2))));
}

#[test]
fn guest_receive_ring_fits_largest_level() {
    let factor = |word: &str, values: &str| {
        let device = "devices = [\"client:eth0\"]";
        format!("[factors.ring]\nvary = \"{word}\"\n{device}\nvalues = {values}\n\n[factors.queues]")
    };
    for (word, values, expected) in [
        ("rx-ring", "[128, 256]", None),
        ("rx-ring", "[256, 512]", Some(512)),
        ("ring-size", "[1024, 512]", Some(1024)),
        // 4096 exceeds QEMU's maximum. The device reports this when the setting is applied.
        ("rx-ring", "[256, 4096]", Some(1024)),
        ("tx-ring", "[256, 1024]", None),
    ] {
        let text = builtin::find("bridge-multiqueue").expect("built in").text;
        let text = text.replacen("[factors.queues]", &factor(word, values), 1);
        let scenario = Scenario::parse("rings", &text).expect("the scenario parses");
        let of = |host: &str| scenario.lab.vm(&HostName::new(host)).expect("a virtual machine").virtio;
        assert_eq!((of("client").rx_ring, of("client").tx_ring), (expected, None), "{word} {values}");
        assert_eq!(of("server").rx_ring, None, "not in the factor");
    }
}

#[test]
fn path_mtu_is_wire_mtu() {
    let scenario = scenario();
    let mtus: Vec<u32> =
        scenario.paths.iter().map(|path| path.mtu(&scenario.lab, &scenario.lab.devices)).collect();
    assert_eq!(mtus, [1500, 9000]);
}

#[test]
fn plan_depends_only_on_seed() {
    let options = PlanOptions::default();
    assert_eq!(plan(1, &options), plan(1, &options));
    assert_ne!(plan(1, &options).trials, plan(2, &options).trials);
}

#[test]
fn each_block_has_each_result_and_two_baselines_shuffled() {
    let plan = plan(1, &PlanOptions::default());
    let block = |block: u32| plan.trials.iter().filter(move |trial| trial.block == block);
    for number in 0..3 {
        for (index, result) in plan.results.iter().enumerate() {
            let times = block(number).filter(|trial| trial.result == index).count();
            assert_eq!(times, if result.baseline { 2 } else { 1 }, "{} in block {number}", result.id);
        }
        assert_eq!(block(number).filter(|trial| trial.arm == Arm::Again).count(), 2, "one per workload");
    }
    let order = |number| block(number).map(|trial| trial.result).collect::<Vec<_>>();
    assert_ne!(order(0), order(1));
    assert!(plan.trials.iter().zip(0..).all(|(trial, index)| trial.index == index));
}

#[test]
fn selected_paths_include_baseline() {
    let options = PlanOptions {
        trials: Some(1),
        paths: vec![PathName::new("second")],
        workloads: vec![WorkloadName::new("bulk")],
        ..PlanOptions::default()
    };
    let plan = plan(1, &options);
    assert_eq!(plan.trials.len(), 2 + 4 + 1);
    assert!(plan.results.iter().any(|result| result.baseline));
    assert!(plan.results.iter().all(|result| result.workload.as_str() == "bulk"));
}

#[test]
fn estimate_includes_warmup_and_overhead() {
    let options =
        PlanOptions { trials: Some(1), workloads: vec![WorkloadName::new("bulk")], ..PlanOptions::default() };
    let plan = plan(1, &options);
    let seconds = plan.duration_estimate().seconds();
    let traffic = plan.trials.len() as f64 * 2.3;
    assert!(seconds > traffic && seconds < traffic * 1.2, "{seconds} s in total, {traffic} s of traffic");
}

fn wire(rest: &str) -> Scenario {
    let text = format!(
        "schema = 1\nname = \"t\"\ntitle = \"t\"\n[hosts.a]\n[hosts.b]\n[wires.w]\nbetween = [\"a:eth0\", \"b:eth0\"]\n\
         addresses = [\"198.18.0.1/24\", \"198.18.0.2/24\"]\n[paths.p]\nfrom = \"a\"\nto = \"b\"\nlayers = [\"wire\"]\n\
         baseline = true\n{rest}\n"
    );
    Scenario::parse("test", &text)
        .unwrap_or_else(|diagnosis| panic!("{:#?}", diagnosis.problems().collect::<Vec<_>>()))
}

fn loads(rest: &str) -> Vec<WorkloadSettings> {
    let results = Plan::expand(&wire(rest), 1, &PlanOptions::default()).results;
    results.into_iter().map(|result| result.load).collect()
}

#[test]
fn default_message_size_depends_on_mode() {
    for (message, sizes) in [("", [128 << 10, 1 << 20]), ("message = \"128KiB\"", [128 << 10; 2])] {
        let rest = format!(
            "[workloads.x]\nkind = \"stream\"\n{message}\n[factors.m]\nvary = \"mode\"\nvalues = [\"app\", \"limit\"]"
        );
        let found: Vec<(Mode, u64)> = loads(&rest)
            .iter()
            .map(|load| match load {
                WorkloadSettings::Stream(stream) => (stream.mode, stream.message.0),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(found, [(Mode::App, sizes[0]), (Mode::Limit, sizes[1])], "{message}");
    }
}

#[test]
fn default_datagram_fits_tunnel() {
    let loads =
        loads("[workloads.x]\nkind = \"stream\"\ntransport = \"udp\"\nmode = \"limit\"\nrate = \"2Gbit/s\"");
    let WorkloadSettings::Stream(stream) = &loads[0] else { panic!("a stream") };
    assert_eq!((stream.transport, stream.message), (Transport::Udp, Bytes(1400)));
    assert_eq!((stream.rate, stream.socket.congestion.clone()), (Some(BitRate(2e9)), None));
}

#[test]
fn factor_varies_loop() {
    let loads = loads(
        "[workloads.x]\nkind = \"ping-pong\"\nschedule = \"open\"\nperiod = \"1ms\"\n\
         [factors.s]\nvary = \"schedule\"\nvalues = [\"closed\", \"open\"]",
    );
    let schedules: Vec<Schedule> = loads
        .iter()
        .map(|load| match load {
            WorkloadSettings::PingPong(ping) => ping.schedule,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(schedules, [Schedule::Closed, Schedule::Open { period: Nanos::from_millis(1) }]);
}

#[test]
fn load_has_all_workload_settings() {
    let loads = loads(
        "[workloads.x]\nkind = \"ping-pong\"\ntransport = \"tcp\"\nwaiting = \"spin\"\ninterval = \"100ms\"\n\
         mss = 1000\nwindow = \"64KiB\"\ndscp = 46\nnodelay = false\nsource-port = 5000\nbusy-poll = \"50us\"\n\
         [workloads.x.under]\nmode = \"limit\"\nstreams = 2\ndirection = \"both\"\nrate = \"1Gbit/s\"\n\
         [workloads.y]\nkind = \"connect\"\nclients = 4\nrequest = 100\nresponse = \"1KiB\"",
    );
    let [WorkloadSettings::PingPong(ping), WorkloadSettings::Connect(connect)] = &loads[..] else {
        panic!("{loads:?}")
    };
    let under = Background {
        mode: Mode::Limit,
        streams: 2,
        direction: Direction::Both,
        rate: Some(BitRate(1e9)),
        message: Bytes(1 << 20),
    };
    assert_eq!((ping.under, ping.waiting), (Some(under), Waiting::Spin));
    let socket = SocketSettings {
        congestion: Some("cubic".into()),
        mss: Some(1000),
        window: Some(Bytes(64 << 10)),
        dscp: Some(46),
        nodelay: Some(false),
        source_port: Some(5000),
        server_port: Some(9000),
        busy_poll: Some(Nanos(50_000)),
    };
    assert_eq!(ping.socket, socket);
    assert_eq!((connect.clients, connect.request, connect.response), (4, Bytes(100), Bytes(1024)));
}

#[test]
fn placement_lists_cpus_by_number() {
    let scenario = wire("[workloads.x]\nkind = \"stream\"\nplacement = { client = [0, 2], server = [1] }");
    let expected = Placement::Cpus { client: vec![0, 2], server: vec![1] };
    assert_eq!(scenario.workloads[0].placement, expected);
}

#[test]
fn estimates_duration_of_fixed_bytes_at_a_rate() {
    let seconds = |settings: &str| {
        let scenario = wire(&format!(
            "[workloads.x]\nkind = \"stream\"\nbytes = \"100MB\"\n{settings}\n[schedule]\ntrials = 1"
        ));
        Plan::expand(&scenario, 1, &PlanOptions::default()).duration_estimate().seconds()
    };
    let (fast, slow) = (seconds(""), seconds("rate = \"80Mbit/s\"\nstreams = 2"));
    assert!(fast < 1.0 && (10.0..11.0).contains(&slow), "{fast} {slow}");
}

/// Hosts replace paths. The first host is the baseline, and device factors do not apply.
#[test]
fn single_ended_workload_has_one_result_per_host() {
    let text = "schema = 1\nname = \"t\"\ntitle = \"t\"\n[hosts.a]\n[hosts.b]\n[workloads.touch]\n\
                kind = \"first-touch\"\nhosts = [\"b\", \"a\"]\nhuge-pages = true\nthreads = 2";
    let scenario = Scenario::parse("touch", text).expect("no path is needed");
    assert!(scenario.paths.iter().all(|path| path.is_host() && path.layers.is_empty()));
    let plan = Plan::expand(&scenario, 1, &PlanOptions::default());
    let results: Vec<(&str, bool)> =
        plan.results.iter().map(|result| (result.id.as_str(), result.baseline)).collect();
    assert_eq!(results, [("b/touch", true), ("a/touch", false)]);
    let words = plan.results[0].load.kind().in_words().join(", ");
    assert_eq!(words, "first touch of 256 MiB by 2 threads, huge pages");
    let one = PlanOptions { paths: vec![PathName::new("a")], ..PlanOptions::default() };
    assert_eq!(Plan::expand(&scenario, 1, &one).results.len(), 1, "selected like a path");
}

#[test]
fn plans_all_pairs_of_100_hosts_in_rounds() {
    let hosts: String = (0..100).map(|host| format!("[hosts.h{host}]\nat = \"ssh:h{host}\"\n")).collect();
    let text = format!(
        "schema = 1\nname = \"many\"\ntitle = \"Many\"\npairs = \"all\"\n{hosts}\n[workloads.bulk]\nkind = \"stream\"\n"
    );
    let scenario = Scenario::parse("many", &text).expect("the number of pairs is within the limit");
    let plan = Plan::expand(&scenario, 1, &PlanOptions { trials: Some(1), ..PlanOptions::default() });
    assert_eq!(plan.results.len(), 9900);
    let measured = plan.trials.iter().filter(|trial| trial.arm == Arm::Measure);
    let rounds: BTreeSet<u32> = measured.filter_map(|trial| trial.round).collect();
    assert_eq!(rounds.len(), 198);
    let again = plan.trials.iter().filter(|trial| trial.arm == Arm::Again).count();
    let individual = plan.trials.iter().filter(|trial| trial.arm == Arm::Alone).count();
    assert_eq!((again, individual), (50, 20), "the round of the baseline, and one for ten rounds");
}
