//! Checks captured packets on the bridge while several runs compete for the same hosts.

use std::process::Stdio;

use plumb_tests::{Capture, Connection, by_ssh, pairs};

pub(crate) fn no_host_is_in_two_measurements() {
    let network = crate::network(6);
    for host in 0..6 {
        network.limit(host, "100mbit");
    }
    let capture = Capture::on_bridge(&network);
    let all = "pairs = \"all\"";
    let runs = [("four.toml", 0..4), ("three.toml", 3..6)].map(|(name, hosts)| {
        let file = network.sandbox.file(name, &pairs(all, by_ssh(hosts), 1, "300ms"));
        let mut command = network.command(&["run", &file, "--quiet"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("plumb was built")
    });
    for run in runs {
        let output = run.wait_with_output().expect("it was started");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let connections = capture.end();
    let pairs: std::collections::BTreeSet<[u8; 2]> = connections.iter().map(|seen| seen.hosts).collect();
    assert_eq!(pairs.len(), 6 + 3, "every pair was seen: {pairs:?}");
    let mut at_once = 0;
    for (place, one) in connections.iter().enumerate() {
        for other in &connections[place + 1..] {
            if one.hosts != other.hosts && one.overlaps(other) {
                assert!(!one.shares_a_host(other), "{one:?} overlaps {other:?}");
                at_once += 1;
            }
        }
    }
    assert!(at_once > 0, "no two pairs without a common host were measured at the same time");
    let of_four = |seen: &&Connection| seen.hosts.iter().all(|host| *host <= 4);
    let (four, three): (Vec<_>, Vec<_>) = connections.iter().partition(of_four);
    let span = |of: &[&Connection]| {
        let first = of.iter().map(|seen| seen.begun).fold(f64::INFINITY, f64::min);
        (first, of.iter().map(|seen| seen.ended).fold(0.0, f64::max))
    };
    let (four, three) = (span(&four), span(&three));
    assert!(four.1 <= three.0 || three.1 <= four.0, "the runs share a host: {four:?} {three:?}");
}
