//! Compares the findings of stored runs with golden files, and checks invariants of every run.

use proptest::prelude::*;
use samples::{RunRecord, ValidityWarning};
use units::Nanos;
use workload::{LatencyHistogram, Measurement};

use crate::{
    analyse, comparison,
    fixtures::{Fixture, egress, ping_of, stream_at},
    gate,
};

const RUN: &str = include_str!("../tests/golden/egress.run.json");
const FINDINGS: &str = include_str!("../tests/golden/egress.findings.json");
const REWRITE: &str = "PLUMB_REWRITE_GOLDEN";

fn findings_of(record: &RunRecord) -> String {
    serde_json::to_string_pretty(&analyse(record)).expect("findings serialise") + "\n"
}

fn golden_run() -> Fixture {
    let mut run = egress(6);
    run.record.trials.retain(|trial| !trial.result.contains("underlay-offload=off/"));
    run.record.skipped.push(samples::SkippedResult {
        result: "pod-to-target/bulk/underlay-offload=off/vxlan-offload=on".into(),
        reason: "the kernel has no nf_tables; load the module or build it in".into(),
    });
    run.each("vxlan-to-vxlan/ping/underlay-offload=on/vxlan-offload=on", |trial| {
        trial.warnings.push(ValidityWarning::Stolen { share: 0.03 });
    });
    run.environment().virtual_machine = true;
    run.environment().congestion_default = Some("bbr".into());
    run
}

#[expect(clippy::disallowed_methods, reason = "the test rewrites its golden files on request")]
fn rewrite() -> bool {
    if std::env::var(REWRITE).is_err() {
        return false;
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");
    let run = golden_run().record.text().expect("records serialise") + "\n";
    let record = RunRecord::read(&run).expect("records can be read");
    std::fs::write(format!("{folder}/egress.run.json"), &run).expect("golden run is written");
    std::fs::write(format!("{folder}/egress.findings.json"), findings_of(&record))
        .expect("findings are written");
    true
}

#[test]
fn golden_run_has_golden_findings() {
    if rewrite() {
        return;
    }
    let record = RunRecord::read(RUN).expect("the golden run can be read");
    let findings = findings_of(&record);
    let differs = findings.lines().zip(FINDINGS.lines()).enumerate().find(|(_, (got, want))| got != want);
    if let Some((line, (got, want))) = differs {
        panic!(
            "line {}: `{}` instead of `{}`; if that is meant, set {REWRITE}",
            line + 1,
            got.trim(),
            want.trim()
        );
    }
    assert_eq!(findings.lines().count(), FINDINGS.lines().count(), "if that is meant, set {REWRITE}");
}

#[test]
fn run_without_trials_explains_its_empty_findings() {
    let mut run = egress(5);
    run.record.trials.clear();
    let findings = analyse(&run.record);
    assert!(
        findings.results.is_empty() && findings.cost_breakdowns.is_empty() && findings.findings.is_empty()
    );
    assert!(
        findings.limitations.iter().any(|limitation| limitation.contains(
            "12 results have no usable \
         trial"
        )),
        "{findings:#?}"
    );
}

#[test]
fn order_of_trials_does_not_affect_findings() {
    let mut run = egress(5);
    let before = findings_of(&run.record);
    run.record.trials.reverse();
    assert_eq!(findings_of(&run.record), before);
}

fn measurement(kind: u8, size: u32) -> Measurement {
    let rate = f64::from(size);
    match kind {
        0 => stream_at(&[rate, rate, rate * 2.0]),
        1 => stream_at(&[0.0, 0.0, 0.0]),
        2 => stream_at(&[rate]),
        3 => stream_at(&[]),
        4 => stream_at(&[f64::from(u32::MAX) * 1e12; 3]),
        5 => empty_ping(),
        _ => ping_of(rate),
    }
}

fn empty_ping() -> Measurement {
    let mut measurement = ping_of(1.0);
    if let Measurement::PingPong(data) = &mut measurement {
        data.round_trips = LatencyHistogram::new();
        data.elapsed = Nanos(0);
        data.lost = Some(u64::MAX);
    }
    measurement
}

fn odd_run() -> impl Strategy<Value = RunRecord> {
    let trial = (any::<bool>(), 0..7u8, any::<u32>(), 0..12u8, 0.0..2.0f64);
    (1..8u32, prop::collection::vec(trial, 0..40)).prop_map(|(blocks, odd)| {
        let mut record = egress(blocks).record;
        for ((keep, kind, size, stray, busy), index) in odd.iter().zip(0..) {
            let Some(trial) = record.trials.get_mut(index * 3) else { break };
            trial.measurement = measurement(*kind, *size);
            trial.warnings = vec![ValidityWarning::GeneratorLimited { end: "client".into(), busy: *busy }];
            trial.cpu.machine.elapsed = Nanos(u64::from(*size % 3));
            if !keep {
                trial.result = record.header.results[usize::from(*stray)].id.clone();
            }
        }
        record.trials.retain(|trial| trial.index % (blocks + 2) != 0);
        record
    })
}

/// JSON has no NaN or infinity.
fn is_finite(document: &impl std::fmt::Debug) -> bool {
    let text = format!("{document:?}");
    !text.split(|end: char| !end.is_alphanumeric()).any(|word| word == "NaN" || word == "inf")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn unusual_runs_give_finite_deterministic_findings(record in odd_run()) {
        let findings = analyse(&record);
        let json = serde_json::to_string(&findings).expect("findings serialise");
        prop_assert_eq!(&json, &serde_json::to_string(&analyse(&record)).expect("findings serialise"));
        prop_assert!(is_finite(&findings), "{findings:?}");
    }

    #[test]
    fn unusual_runs_have_finite_comparisons((a, b) in (odd_run(), odd_run())) {
        let comparison = comparison(&a, &b, &[]);
        prop_assert!(is_finite(&comparison), "{comparison:?}");
        let gate = gate(&comparison, 0.05, findings::GuardLimits::default());
        prop_assert!((gate.outcome == findings::GateOutcome::Regressed) != gate.failed().is_empty());
    }
}
