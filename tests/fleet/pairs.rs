//! All pairs of some hosts: the matrix, and who is to blame for what is slow in it.

use crate::network::Network;

/// Six hosts, each with each, at 200 Mbit/s; short trials.
const SCENARIO: &str = r#"schema = 1
name = "all-pairs"
title = "Six machines"
pairs = "all"

[hosts.a]
ssh = "h0"
[hosts.b]
ssh = "h1"
[hosts.c]
ssh = "h2"
[hosts.d]
ssh = "h3"
[hosts.e]
ssh = "h4"
[hosts.f]
ssh = "h5"

[workloads.throughput]
kind = "stream"
duration = "300ms"
warmup = "200ms"

[schedule]
trials = 2
pause = "1ms"
"#;

pub(crate) fn a_slow_host_and_a_lossy_way_are_named() {
    let network = Network::of(6);
    for host in 0..6 {
        let rate = if host == 2 { 40 } else { 200 };
        network.at(host, &format!("tc qdisc add dev eth0 root tbf rate {rate}mbit burst 32kb latency 50ms"));
    }
    // What b sends to e.
    network.at(
        4,
        "nft 'add table ip lossy; add chain ip lossy in { type filter hook input priority 0; }; \
         add rule ip lossy in ip saddr 198.18.0.2 tcp dport != 22 numgen random mod 100 < 30 drop'",
    );
    let file = network.sandbox.file("pairs.toml", SCENARIO);
    let run = network.succeed(&["run", &file]);
    let findings = network.sandbox.findings("latest");
    let matrix = &findings["matrices"][0];
    assert_eq!(matrix["hosts"].as_array().map(Vec::len), Some(6), "{matrix}");
    assert_eq!(matrix["pairs"].as_array().map(Vec::len), Some(30), "{matrix}");
    let claims = |id: &str| -> Vec<String> {
        let all = findings["claims"].as_array().expect("a list").iter().filter(|claim| claim["id"] == id);
        all.map(|claim| claim["claim"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let slow = claims("slow-host");
    assert!(slow.len() == 1 && slow[0].starts_with("Host c is slow to everybody sending:"), "{slow:?}");
    let pair = claims("slow-pair");
    assert!(pair.len() == 1 && pair[0].starts_with("The way from b to e is slow:"), "{pair:?}");
    let head = run.out.lines().position(|line| line.contains("From \\ to")).expect("the matrix is shown");
    let rows: Vec<&str> = run.out.lines().skip(head + 2).take(6).collect();
    for (row, name) in rows.iter().zip(["a", "b", "c", "d", "e", "f"]) {
        let words: Vec<&str> = row.split_whitespace().collect();
        assert!(words.len() == 7 && words[0] == name, "{rows:?}");
    }
    let csv = network.sandbox.succeed(&["report", "latest", "--format", "csv"]).out;
    assert!(csv.contains("b-to-e") && csv.contains("f-to-a"), "{csv}");
    network.agents_are_gone();
}
