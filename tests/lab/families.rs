//! Tests runs that measure over IPv4 and IPv6.

use plumb_tests::trials;

use crate::sandbox;

/// The gateway's path includes each layer: bridge, policy route, tunnel, wire and source NAT.
pub(crate) fn interleaves_both() {
    const TRIALS: usize = 5;
    let sandbox = sandbox();
    let text = sandbox.succeed(&["scenario", "show", "quick", "--family", "ipv4,ipv6"]).out;
    // A run with a budget may end a result before the others.
    let text = text.replace("until = \"clear\"", "").replace("budget = \"60s\"", "");
    let file = sandbox.file("both.toml", &text);
    let trials_flag = TRIALS.to_string();
    let flags = ["--trials", &trials_flag, "--path", "pod-to-target", "--workload", "latency"];
    let _ = sandbox.succeed(&[&["run", &file][..], &flags].concat());
    let record = sandbox.record();
    let of = |family: &str| {
        let result = format!("pod-to-target/latency/family={family}");
        trials(&record)
            .iter()
            .filter(|trial| trial["result"] == result.as_str() && trial["arm"] == "measure")
            .count()
    };
    assert_eq!([of("ipv4"), of("ipv6")], [TRIALS; 2]);
    let findings = sandbox.as_undisturbed(|_| ()).findings("latest");
    for result in findings["results"].as_array().expect("a list") {
        assert_eq!(
            result["path_mtu"].as_u64(),
            Some(if result["path"] == "node-to-node" { 1500 } else { 1450 }),
            "{result}"
        );
    }
    let effects = findings["effects"].as_array().expect("a list");
    let effect =
        effects.iter().find(|effect| effect["path"] == "pod-to-target").expect("an effect of the factor");
    assert_eq!((&effect["reference"], &effect["level"]), (&"ipv4".into(), &"ipv6".into()), "{effect}");
    assert!(effect["change"]["ratio_interval"]["low"].as_f64() > Some(0.1), "{effect}");
}
