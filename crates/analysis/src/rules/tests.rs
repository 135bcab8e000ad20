//! Every rule against a run that triggers it, a near one that does not, and its page.

use std::path::Path;

use findings::{Finding, Severity};
use samples::{Doubt, Measurement, PathCheck, Trial};

use super::ALL;
use crate::{
    analyse,
    fixtures::{Fixture, egress, ping_of, stream_at},
};

/// A rule's two runs.
struct Case {
    rule: &'static str,
    triggers: fn() -> Fixture,
    spares: fn() -> Fixture,
    severity: Severity,
    /// What the claim, evidence or remedy has to say.
    says: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        rule: "offload-off",
        triggers: || egress(6),
        // The same devices and settings, too few blocks to establish anything.
        spares: || egress(4),
        severity: Severity::Serious,
        says: &["node1:egress.vxlan", "ethtool -K egress.vxlan tso on gso on", "# in node1", "0.300x (0.29"],
    },
    Case {
        rule: "mtu-mismatch",
        triggers: || mtu(1400),
        spares: || mtu(1450),
        severity: Severity::Warning,
        says: &["1400 bytes", "at least 1450"],
    },
    Case {
        rule: "bimodal",
        triggers: || levels(&[5e9, 9e9]),
        spares: || levels(&[8.6e9, 9e9]),
        severity: Severity::Serious,
        says: &["5.01 Gbit/s", "9.02 Gbit/s", "must not be trusted"],
    },
    Case {
        rule: "noisy-host",
        triggers: || swinging(0.12),
        spares: || swinging(0.02),
        severity: Severity::Warning,
        says: &["The host is noisy", "differs from itself"],
    },
    Case {
        rule: "retransmits",
        triggers: || retransmitting(1000),
        spares: || retransmitting(100),
        severity: Severity::Warning,
        says: &["vxlan-to-vxlan/bulk", "tc -s qdisc"],
    },
    Case {
        rule: "vxlan-cost",
        triggers: || nested(8.5e9),
        spares: || nested(10e9),
        severity: Severity::Note,
        says: &["0.850x", "the throughput of plain", "tx-udp_tnl-segmentation", "ethtool -k vxlan  # in a"],
    },
    Case {
        rule: "generator-limited",
        triggers: || doubted(3, |busy| Doubt::GeneratorLimited { end: "client".into(), busy }),
        spares: || doubted(2, |busy| Doubt::GeneratorLimited { end: "client".into(), busy }),
        severity: Severity::Note,
        says: &["sending thread", "98.0 %", "client"],
    },
    Case {
        rule: "receiver-limited",
        triggers: || doubted(3, |busy| Doubt::ReceiverLimited { end: "server".into(), busy }),
        spares: || doubted(3, |busy| Doubt::GeneratorLimited { end: "client".into(), busy }),
        severity: Severity::Note,
        says: &["receiving thread", "98.0 %", "server"],
    },
];

fn nested(rate: f64) -> Fixture {
    let mut run = Fixture::new(6);
    run.path("plain", &["wire"]).path("vxlan-to-vxlan", &["wire", "vxlan"]);
    run.stream("plain", &[], 10e9).stream("vxlan-to-vxlan", &[], rate);
    run.devices("vxlan-to-vxlan/bulk", &[("a:eth0", 1500, &[]), ("a:vxlan", 1450, &[])]);
    run
}

fn mtu(carried: u32) -> Fixture {
    let mut run = nested(9e9);
    run.each("vxlan-to-vxlan/bulk", |trial| trial.path_check = PathCheck { mtu: Some(carried) });
    run
}

fn levels(rates: &[f64; 2]) -> Fixture {
    let mut run = nested(9e9);
    run.each("vxlan-to-vxlan/bulk", |trial| {
        let near = |rate: f64| rate * (1.0 + f64::from(trial.block) / 1000.0);
        let [one, other] = rates.map(near);
        trial.measurement = stream_at(&[one, one, one, other, other]);
    });
    run
}

fn swinging(by: f64) -> Fixture {
    let mut run = Fixture::new(6);
    run.path("plain", &["wire"]).ping("plain", &[], 40_000.0);
    run.each("plain/ping", |trial| {
        let sign = f64::from((trial.block + trial.index) % 3) - 1.0;
        trial.measurement = ping_of(40_000.0 * (1.0 + by * sign));
    });
    run
}

fn retransmitting(segments: u32) -> Fixture {
    let mut run = nested(9e9);
    // 1.125 GB after the warm-up: 777 thousand segments.
    run.each("vxlan-to-vxlan/bulk", |trial| {
        let Measurement::Stream(data) = &mut trial.measurement else { return };
        let tcp = data.flows[0].sender.intervals[2].tcp.as_mut();
        tcp.expect("the fixture samples TCP_INFO").retransmits = segments;
    });
    run
}

fn doubted(trials: u32, doubt: fn(f64) -> Doubt) -> Fixture {
    let mut run = nested(9e9);
    let add = |trial: &mut Trial| trial.doubts.push(doubt(0.9 + 0.04 * f64::from(trial.block)));
    run.each("vxlan-to-vxlan/bulk", |trial| {
        if trial.block < trials {
            add(trial);
        }
    });
    run
}

fn claims(run: &Fixture, rule: &str) -> Vec<Finding> {
    analyse(&run.record).claims.into_iter().filter(|claim| claim.id == rule).collect()
}

#[test]
fn every_rule_speaks_when_it_should_and_only_then() {
    for case in CASES {
        let said = claims(&(case.triggers)(), case.rule);
        assert_eq!(said.len(), 1, "{}: {said:#?}", case.rule);
        assert_eq!(said[0].severity, case.severity, "{}: {said:#?}", case.rule);
        assert!(!said[0].evidence.is_empty() && !said[0].cells.is_empty(), "{said:#?}");
        let text = format!("{:?}", said[0]);
        for word in case.says {
            assert!(text.contains(word), "{}: `{word}` is not in {said:#?}", case.rule);
        }
        assert_eq!(claims(&(case.spares)(), case.rule), [], "{}", case.rule);
    }
}

#[test]
fn every_rule_has_a_case_and_a_page() {
    for rule in ALL {
        assert!(CASES.iter().any(|case| case.rule == rule.id), "{} has no case", rule.id);
        let page = format!("{}/../../docs/findings/{}.md", env!("CARGO_MANIFEST_DIR"), rule.id);
        #[expect(clippy::disallowed_methods, reason = "the test reads the pages that the rules name")]
        let text = std::fs::read_to_string(Path::new(&page)).unwrap_or_default();
        for part in ["# `", "## What it looks at", "## When it is wrong", "## What to do"] {
            assert!(text.contains(part), "docs/findings/{}.md has no `{part}`", rule.id);
        }
    }
    assert_eq!(CASES.len(), ALL.len());
}

#[test]
fn an_offload_that_is_off_at_the_first_level_is_found_as_well() {
    let mut run = Fixture::new(6);
    run.path("plain", &["wire"]);
    run.stream("plain", &[("offload", "off")], 5e9).stream("plain", &[("offload", "on")], 20e9);
    run.devices("plain/bulk/offload=off", &[("a:eth0", 1500, &[("rx-gro", false)])]);
    run.devices("plain/bulk/offload=on", &[("a:eth0", 1500, &[("rx-gro", true)])]);
    let said = claims(&run, "offload-off");
    assert_eq!(said.len(), 1, "{said:#?}");
    assert_eq!(said[0].cells, ["plain/bulk/offload=off"]);
    assert_eq!(said[0].remedy.as_ref().expect("has one").commands, ["ethtool -K eth0 gro on  # in a"]);
}

#[test]
fn an_offload_that_is_off_and_costs_nothing_is_not_complained_of() {
    let mut run = Fixture::new(6);
    run.path("plain", &["wire"]);
    for (level, on) in [("on", true), ("off", false)] {
        run.stream("plain", &[("offload", level)], 5e9);
        run.devices(&format!("plain/bulk/offload={level}"), &[("a:eth0", 1500, &[("rx-gro", on)])]);
    }
    assert_eq!(claims(&run, "offload-off"), []);
}

#[test]
fn a_factor_that_costs_throughput_without_changing_an_offload_is_not_blamed_on_one() {
    let mut run = Fixture::new(6);
    run.path("plain", &["wire"]);
    run.stream("plain", &[("mtu", "9000")], 20e9).stream("plain", &[("mtu", "1500")], 5e9);
    for level in ["9000", "1500"] {
        run.devices(&format!("plain/bulk/mtu={level}"), &[("a:eth0", 1500, &[("rx-gro", false)])]);
    }
    assert_eq!(claims(&run, "offload-off"), []);
}

#[test]
fn the_most_severe_claim_stands_first() {
    let severities: Vec<Severity> =
        analyse(&egress(6).record).claims.iter().map(|claim| claim.severity).collect();
    assert!(severities.len() > 1 && severities.is_sorted_by(|one, other| one >= other), "{severities:?}");
}

#[test]
fn stolen_time_alone_makes_a_host_noisy() {
    let mut run = nested(9e9);
    run.each("plain/bulk", |trial| trial.cpu.machine.steal = trial.cpu.machine.elapsed);
    let said = claims(&run, "noisy-host");
    assert!(said[0].claim.contains("the hypervisor took up to 50.0 %"), "{said:#?}");
}
