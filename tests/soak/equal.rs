//! Consecutive runs of a scenario should have equal results.

use plumb_tests::wire_with_latency;
use serde_json::Value;

use crate::{command, rounds, sandbox};

pub(crate) fn equal_runs() {
    let pairs = rounds(40);
    let (mut different, mut unknown, mut same, mut failed) = (0, 0, 0, 0);
    for pair in 0..pairs {
        // Each pair uses a new database, so plumb does not know the noise between runs.
        let sandbox = sandbox();
        let file = sandbox.file("wire.toml", &wire_with_latency(5, "300ms"));
        for name in ["a", "b"] {
            assert!(command(&sandbox, &["run", &file, "--quiet"]).output().expect("built").status.success());
            let _ = sandbox.succeed(&["baseline", "set", name, "latest"]);
        }
        let compared = sandbox.succeed(&["compare", "baseline:a", "baseline:b", "--json"]).out;
        let compared: Value = serde_json::from_str(&compared).expect("JSON");
        let verdicts: Vec<&str> = compared["results"]
            .as_array()
            .expect("results")
            .iter()
            .filter_map(|result| result["verdict"].as_str())
            .collect();
        assert_eq!(verdicts.len(), 2, "{compared}");
        let gate = sandbox.plumb(&["check", "baseline:b", "--against", "a"]).status;
        println!("  pair {pair}: {}, gate {gate:?}", verdicts.join(" and "));
        failed += usize::from(gate == Some(1));
        different += verdicts.iter().filter(|verdict| matches!(**verdict, "better" | "worse")).count();
        unknown += verdicts.iter().filter(|verdict| **verdict == "unknown").count();
        same += verdicts.iter().filter(|verdict| **verdict == "same").count();
    }
    println!(
        "  {pairs} pairs of 2 cells: {same} same, {unknown} unknown, {different} different; {failed} gates failed"
    );
    assert!(different * 20 <= pairs * 2, "more than one in twenty is called different");
}
