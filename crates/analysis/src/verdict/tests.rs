//! Tests the verdict on runs with known causes, and that the parts of a report agree with it.

use findings::{Cause, Conclusion, Grade, RunVerdict, TrustReason};
use samples::{Disturber, ValidityWarning};

use crate::{
    analyse,
    fixtures::{Fixture, egress, reported_of, stream_at},
};

fn of(run: &Fixture) -> RunVerdict {
    analyse(&run.record).verdict
}

fn cause(verdict: &RunVerdict) -> Option<&str> {
    match &verdict.workloads.first()?.change.as_ref()?.cause {
        Cause::Found(finding) => Some(&finding.finding),
        Cause::Unknown { .. } => None,
    }
}

fn offloads(on: f64, off: f64) -> Fixture {
    let mut run = Fixture::new(6);
    run.path("plain", &["wire"]);
    for (level, rate) in [("on", on), ("off", off)] {
        run.stream("plain", &[("offload", level)], rate);
        run.devices(
            &format!("plain/bulk/offload={level}"),
            &[("a:eth0", 1500, &[("rx-gro", level == "on")])],
        );
    }
    run
}

fn disturb(run: &mut Fixture, result: &str) {
    run.each(result, |trial| {
        let processes = vec![Disturber { process: Some("rustc".into()), cpus: 1.2 }];
        trial.warnings.push(ValidityWarning::Disturbed { share: 0.6, processes });
    });
}

#[test]
fn largest_change_has_its_condition_cause_and_remedy() {
    let verdict = of(&egress(6));
    assert_eq!(verdict.conclusion, Conclusion::Difference);
    assert_eq!(cause(&verdict), Some("offload-off"), "{verdict:#?}");
    let first = &verdict.workloads[0];
    let change = first.change.as_ref().expect("there is one");
    assert!(change.is_established() && change.what.starts_with("vxlan-offload off"), "{change:#?}");
    assert_eq!(change.condition.keys().collect::<Vec<_>>(), ["underlay-offload"]);
    let next = verdict.next.expect("there is a remedy");
    assert!(next.explains && next.command.is_some_and(|it| it.starts_with("ethtool -K")));
    assert!(first.layers.iter().any(|layer| layer.adds == ["vxlan"]), "{first:#?}");
    assert_eq!(verdict.trust.grade, Grade::Good, "{:#?}", verdict.trust);
}

#[test]
fn even_a_small_loss_is_explained_by_offloads_that_are_off() {
    let findings = analyse(&offloads(20e9, 19e9).record);
    assert_eq!(findings.findings[0].severity, findings::Severity::Note);
    assert_eq!(cause(&findings.verdict), Some("offload-off"), "{:#?}", findings.verdict);
}

#[test]
fn cause_applies_to_the_worse_end_only() {
    let mut run = Fixture::new(6);
    run.path("plain", &["wire"]).path("tunnel", &["wire", "vxlan"]);
    run.stream("plain", &[], 20e9).stream("tunnel", &[], 10e9);
    let lossy = |trial: &mut samples::Trial| {
        let mut measurement = stream_at(&[10e9; 5]);
        if let workload::Measurement::Stream(data) = &mut measurement {
            for interval in &mut data.flows[0].sender.intervals {
                interval.tcp.as_mut().expect("it is TCP").retransmits = 9000;
            }
        }
        trial.measurement = measurement;
    };
    run.each("tunnel/bulk", lossy);
    assert_eq!(cause(&of(&run)), Some("retransmits"), "{:#?}", of(&run));
    run.each("plain/bulk", |trial| {
        if let workload::Measurement::Stream(data) = &mut trial.measurement {
            for interval in &mut data.flows[0].sender.intervals {
                interval.tcp.as_mut().expect("it is TCP").retransmits = 9000;
            }
        }
    });
    assert_eq!(cause(&of(&run)), None);
}

#[test]
fn disturbed_run_is_to_be_repeated_and_other_findings_are_explained_by_it() {
    let mut run = offloads(20e9, 5e9);
    for level in ["on", "off"] {
        disturb(&mut run, &format!("plain/bulk/offload={level}"));
    }
    let verdict = of(&run);
    let Conclusion::Repeat { reason, action } = &verdict.conclusion else { panic!("{verdict:#?}") };
    assert_eq!(action.as_deref(), Some("Measure again when the machine is idle"));
    assert_eq!(
        (reason.finding.as_str(), reason.sentence.detail.to_string().as_str()),
        ("disturbed", "`rustc` used up to 1.20 CPUs")
    );
    assert_eq!((verdict.next, verdict.trust.grade), (None, Grade::Low));
}

#[test]
fn unreliable_side_result_does_not_lead() {
    let mut run = offloads(20e9, 5e9);
    run.path("side", &["wire"]).stream("side", &[], 19e9);
    disturb(&mut run, "side/bulk");
    let verdict = of(&run);
    assert_eq!((&verdict.conclusion, cause(&verdict)), (&Conclusion::Difference, Some("offload-off")));
    assert_eq!(verdict.cautions.len(), 1, "{verdict:#?}");
}

#[test]
fn equal_results_have_no_difference_and_few_trials_leave_one_open() {
    assert_eq!(of(&offloads(20e9, 20e9)).conclusion, Conclusion::NoDifference);
    let mut run = Fixture::new(3);
    run.path("plain", &["wire"]);
    run.stream("plain", &[("streams", "1")], 10e9).stream("plain", &[("streams", "2")], 20e9);
    let verdict = of(&run);
    assert_eq!(verdict.conclusion, Conclusion::Undecided { trials: 3, needed: 5 });
    assert!(verdict.workloads[0].change.as_ref().is_some_and(|change| change.change.ratio > 1.9));
    assert_eq!(verdict.trust.grade, Grade::Low);
}

#[test]
fn next_step_is_no_remedy_of_a_symptom_in_a_short_or_disturbed_run() {
    let next = |trials, disturbed: bool| {
        let mut run = Fixture::new(trials);
        run.path("plain", &["wire"]).path("tunnel", &["wire", "vxlan"]).path("side", &["wire", "veth"]);
        run.stream("plain", &[], 20e9).stream("side", &[], 19e9).stream("tunnel", &[], 8e9);
        if disturbed {
            disturb(&mut run, "side/bulk");
        }
        of(&run).next.map(|step| step.finding)
    };
    assert_eq!(next(3, false), None);
    assert_eq!(next(6, false).as_deref(), Some("tunnel-cost"));
    assert_eq!(next(6, true).as_deref(), Some("disturbed"));
}

/// The table of write-up 002. No names suggest a comparison.
#[test]
fn single_numbers_are_compared_with_the_baseline_of_their_table() {
    let mut run = Fixture::new(1);
    run.path("unknown", &[]);
    for (case, rate) in [("node", 2.99e9), ("tunnel", 1.71e9), ("target", 1.22e9)] {
        let imported = reported_of(&[("Detail", workload::Quantity::BitRate, rate)]);
        run.imported("unknown", "vm", &[("Case", case), ("Item", &case[..2])], imported);
    }
    let verdict = of(&run);
    let change = verdict.workloads[0].change.as_ref().expect("there is one");
    assert_eq!(change.what, "Case=target, Item=ta vs Case=node, Item=no");
    assert!((change.change.ratio - 1.22 / 2.99).abs() < 1e-9 && !change.is_established(), "{change:#?}");
}

/// The table of write-up 004 has one number per configuration. vhost gains 38 %.
#[test]
fn single_numbers_show_the_largest_difference_that_may_be_noise() {
    let mut run = Fixture::new(1);
    run.path("unknown", &[]);
    for (configuration, rate) in [("BM-BM", 23.5e9), ("KVM-KVM", 9.6e9), ("KVM-KVM-vhost", 13.2e9)] {
        let imported = reported_of(&[("Bandwidth", workload::Quantity::BitRate, rate)]);
        run.imported("unknown", "tcp", &[("Configuration", configuration)], imported);
    }
    let verdict = of(&run);
    assert_eq!(verdict.conclusion, Conclusion::Undecided { trials: 1, needed: 5 }, "{verdict:#?}");
    let change = verdict.workloads[0].change.as_ref().expect("there is one");
    assert_eq!(change.what, "vhost, Configuration=KVM-KVM-vhost vs Configuration=KVM-KVM");
    assert!(change.condition.is_empty() && (change.change.ratio - 1.375).abs() < 1e-9, "{change:#?}");
    assert!(verdict.trust.reasons.contains(&TrustReason::SingleTrials));
}

#[test]
fn trials_are_counted() {
    let mut run = Fixture::new(6);
    run.path("plain", &["wire"]).stream("plain", &[], 1e9);
    let verdict = of(&run);
    assert_eq!((verdict.trials.used, verdict.trials.dropped), (12, 0));
    assert_eq!(verdict.conclusion, Conclusion::Values);
}

#[test]
fn cost_of_vxlan_names_the_setting_it_was_measured_at() {
    let mut run = Fixture::new(6);
    run.path("plain", &["wire"]).path("tunnel", &["wire", "vxlan"]);
    for (level, plain, tunnel) in [("on", 20e9, 8e9), ("off", 6e9, 5e9)] {
        run.stream("plain", &[("csum", level)], plain).stream("tunnel", &[("csum", level)], tunnel);
    }
    let findings = analyse(&run.record).findings;
    let cost = findings.iter().find(|finding| finding.id == "tunnel-cost").expect("vxlan is slower");
    assert_eq!(cost.sentence.detail.to_string(), "tunnel vs plain (csum=off, the cheapest of 2 settings)");
}

#[test]
fn pair_that_hardly_passes_traffic_is_described_in_numbers_above_zero() {
    let mut run = Fixture::new(6);
    for (from, to) in [("a", "b"), ("a", "c"), ("b", "a"), ("b", "c"), ("c", "a"), ("c", "b")] {
        run.pair(from, to, if (from, to) == ("a", "c") { 1.26e6 } else { 9e9 });
    }
    let findings = analyse(&run.record).findings;
    assert!(findings.iter().any(|finding| finding.id == "slow-pair"), "{findings:#?}");
    let text = format!("{findings:?}");
    assert!(!text.contains("0.00 %") && !text.contains(" 0 bit/s"), "{text}");
}

#[test]
fn setting_that_helps_one_path_and_harms_another_is_reported_for_both() {
    let mut run = Fixture::new(6);
    run.path("up", &["virtio"]).path("down", &["virtio"]);
    for (level, up, down) in [("off", 10e9, 10e9), ("on", 4e9, 16e9)] {
        run.stream("up", &[("vhost", level)], up).stream("down", &[("vhost", level)], down);
    }
    let verdict = of(&run);
    let change = verdict.workloads[0].change.as_ref().expect("it is established");
    let opposite = change.opposite.as_ref().expect("the other path is faster");
    assert_eq!((change.result.as_str(), opposite.path.as_str()), ("up/bulk/vhost=on", "down"));
    assert!(opposite.change.ratio > 1.5, "{opposite:?}");
}
