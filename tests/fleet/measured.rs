//! Runs over existing hosts: their results and leftovers.

use plumb_tests::{Network, first_two, pair, trials};

fn rate(network: &Network) -> f64 {
    let findings = network.sandbox.findings("latest");
    let result = &findings["results"][0];
    result["value"]["estimate"].as_f64().unwrap_or_else(|| panic!("no rate in {result}")) / 1e6
}

pub(crate) fn rate_of_their_link() {
    let network = crate::network(2);
    network.at(0, "tc qdisc add dev eth0 root tbf rate 20mbit burst 32kb latency 50ms");
    let file = network.sandbox.file("pair.toml", &first_two(2, "1s"));
    let run = network.succeed(&["run", &file]);
    let rate = rate(&network);
    assert!((17.0..20.0).contains(&rate), "{rate} Mbit/s over a link of 20");
    let record = network.sandbox.record();
    let path = &record["header"]["paths"][0];
    assert_eq!((path["from"].as_str(), path["to"].as_str()), (Some("a:eth0"), Some("b:eth0")), "{path}");
    let trial = &trials(&record)[0];
    assert_eq!(trial["devices"][0]["device"], "a:eth0", "{trial}");
    assert_eq!(trial["path_check"]["mtu"], 1500, "the MTU is checked end to end");
    let counters = &trial["counters"]["devices"];
    let sent = counters[0]["tx_bytes"].as_u64().expect("a count");
    assert!(sent > 2_000_000 && counters[1]["rx_bytes"].as_u64() > Some(sent / 2), "{counters}");
    let ends: Vec<_> =
        trial["cpu"]["guests"].as_array().into_iter().flatten().map(|end| &end["end"]).collect();
    assert_eq!(ends, ["client", "server"], "each host's own CPU time");
    assert!(run.out.contains("there"), "{}", run.out);
    network.agents_are_gone();
    for host in [0, 1] {
        let files = network.files(host);
        assert!(files.len() == 1 && files[0].starts_with(".cache/plumb/plumb-"), "{files:?}");
    }
    let _ = network.succeed(&["run", &file, "--trials", "1", "--probe", "cpu", "--quiet"]);
    let missing = network.sandbox.record()["header"]["missing_probes"].to_string();
    assert!(missing.contains("other machines"), "{missing}");
}

pub(crate) fn hosts_with_ipv6() {
    let network = crate::network(2);
    network.use_ipv6();
    let file = network.sandbox.file("pair.toml", &first_two(1, "300ms"));
    let _ = network.succeed(&["run", &file]);
    assert!(rate(&network) > 1.0);
    let record = network.sandbox.record();
    let trial = &trials(&record)[0];
    assert_eq!(trial["path_check"]["mtu"], 1500, "the MTU is checked end to end");
    // An IPv6 segment carries 20 bytes less than an IPv4 segment.
    assert_eq!(trial["measurement"]["flows"][0]["sender"]["socket"]["mss"], 1428, "{trial}");
    network.agents_are_gone();
}

pub(crate) fn this_machine_is_an_end() {
    let network = crate::network(1);
    let (here, there) = ("at = \"local\"\ninterface = \"br0\"", "at = \"ssh:h0\"\nport = 5999");
    let file = network.sandbox.file("pair.toml", &pair([here, there], 1, "500ms"));
    let _ = network.succeed(&["run", &file]);
    assert!(rate(&network) > 1.0);
    let record = network.sandbox.record();
    assert_eq!(record["header"]["paths"][0]["from"], "a:br0");
    assert!(
        trials(&record)[0]["cpu"]["processes"].is_object(),
        "the process that used this machine's CPUs is named"
    );
    network.agents_are_gone();
}

pub(crate) fn without_a_cache_no_file_is_left() {
    let network = crate::network(2);
    let file = network.sandbox.file("pair.toml", &first_two(1, "300ms"));
    let _ = network.succeed(&["run", &file, "--no-cache"]);
    let left: Vec<String> = [0, 1].into_iter().flat_map(|host| network.files(host)).collect();
    assert_eq!(left, [""; 0]);
    let long = network.sandbox.file("long.toml", &first_two(20, "500ms"));
    let mut run = network.command(&["run", &long, "--no-cache", "--quiet"]).spawn().expect("plumb was built");
    let runs = || [0, 1].iter().all(|host| !network.agents(*host).is_empty());
    assert!(plumb_tests::wait_until(plumb_tests::PATIENCE, runs), "no agents");
    let left: Vec<String> = [0, 1].into_iter().flat_map(|host| network.files(host)).collect();
    run.kill().expect("it runs");
    run.wait().expect("it was started");
    assert_eq!(left, [""; 0]);
    network.agents_are_gone();
}
