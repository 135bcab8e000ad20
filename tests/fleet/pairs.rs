//! Tests all pairs of several hosts: the matrix, and the cause of slow paths.

use plumb_tests::{Fleet, PostgresServer, by_member, by_ssh, pairs, trials};

/// This rate is far below that of any undisturbed direction, even on a busy machine.
const SLOW: &str = "20mbit";

pub(crate) fn names_a_slow_host_and_a_lossy_path() {
    let store = PostgresServer::new();
    let mut fleet = Fleet::of(crate::network(6), 3..6);
    fleet.network.sandbox.keep_in(store.database());
    let network = &fleet.network;
    for host in 0..6 {
        network.limit(host, if host == 2 { SLOW } else { "100mbit" });
    }
    network.lose(30, [1, 4]);
    let hosts = by_ssh(0..3).chain(by_member(3..6));
    let file = network.sandbox.file("pairs.toml", &pairs("pairs = \"all\"", hosts, 2, "300ms"));
    let run = network.succeed(&["run", &file]);
    let findings = network.sandbox.findings("latest");
    let matrix = &findings["matrices"][0];
    assert_eq!(matrix["hosts"].as_array().map(Vec::len), Some(6), "{matrix}");
    assert_eq!(matrix["pairs"].as_array().map(Vec::len), Some(30), "{matrix}");
    check_rounds(&network.sandbox.record());
    assert!(matrix["contamination"]["trials"].as_u64() >= Some(6), "{matrix}");
    assert!(run.out.contains("Up to 3 pairs at the same time: "), "{}", run.out);
    let claims = |id: &str| -> Vec<String> {
        let all = findings["findings"].as_array().expect("a list").iter().filter(|claim| claim["id"] == id);
        all.map(|claim| claim["lead"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let slow = claims("slow-host");
    assert!(
        slow.len() == 1 && slow[0].starts_with("Host c is slow with every peer when sending and receiving"),
        "{slow:?}"
    );
    let pair = claims("slow-pair");
    assert!(pair.len() == 1 && pair[0].starts_with("The path from b to e is slow"), "{pair:?}");
    let head = run.out.lines().position(|line| line.contains("From \\ to")).expect("the matrix is shown");
    let rows: Vec<&str> = run.out.lines().skip(head + 2).take(6).collect();
    for (row, name) in rows.iter().zip(["a", "b", "c", "d", "e", "f"]) {
        let words: Vec<&str> = row.split_whitespace().collect();
        assert!(words.len() == 7 && words[0] == name, "{rows:?}");
    }
    let csv = network.sandbox.succeed(&["report", "latest", "--format", "csv"]).out;
    assert!(csv.contains("b-to-e") && csv.contains("f-to-a"), "{csv}");
    network.agents_are_gone();
    assert!(!network.sandbox.database().exists(), "runs are only in the database");
}

fn check_rounds(record: &serde_json::Value) {
    let all = trials(record);
    let simultaneous = |trial: &&serde_json::Value| trial["simultaneous"].as_u64().unwrap_or(0);
    let measured: Vec<_> = all.iter().filter(|trial| trial["arm"] == "measure").collect();
    assert_eq!(measured.len(), 60, "30 directions in two blocks");
    assert!(measured.iter().all(|trial| simultaneous(trial) == 2), "{measured:?}");
    for trial in all {
        let way = trial["result"]
            .as_str()
            .and_then(|result| result.split_once('/'))
            .expect("a way and a workload")
            .0;
        let (from, to) = way.split_once("-to-").expect("two hosts");
        for devices in [&trial["devices"], &trial["counters"]["devices"]] {
            let names: Vec<_> = devices.as_array().expect("a list").iter().map(|it| &it["device"]).collect();
            assert_eq!(names, [&format!("{from}:eth0"), &format!("{to}:eth0")], "{trial}");
        }
    }
    let alone: Vec<_> = all.iter().filter(|trial| trial["arm"] == "alone").collect();
    assert!(alone.len() == 6 && alone.iter().all(|trial| simultaneous(trial) == 0), "{alone:?}");
}
