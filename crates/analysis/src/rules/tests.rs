//! Tests every rule with a run that triggers it and a similar one that does not, and checks its documentation page.

mod further;
pub(super) mod made;
mod odd;

pub(super) mod imported;
pub(super) mod watched;

use std::path::Path;

use findings::{Finding, Severity};
use samples::WorkloadSource;
use workload::{Direction, WorkloadSettings};

use super::{ALL, CASES, Rule};
use crate::{
    analyse,
    fixtures::{Fixture, egress},
    hints,
};
use made::nested;

/// Two similar runs, one of which triggers the rule.
pub(super) struct Case {
    pub(super) triggers: fn() -> Fixture,
    pub(super) spares: fn() -> Fixture,
    pub(super) severity: Severity,
    pub(super) says: &'static [&'static str],
    /// The kind of change, if `--try-remedies` can test it.
    pub(super) change: Option<&'static str>,
}

/// Two lines of 80 columns.
const MOST_OF_A_LEAD: usize = 160;

fn claims(run: &Fixture, rule: &str) -> Vec<Finding> {
    analyse(&run.record).findings.into_iter().filter(|claim| claim.id == rule).collect()
}

fn change(finding: &Finding) -> Option<String> {
    let change = finding.remedy.as_ref()?.change.as_ref()?;
    let json = serde_json::to_value(change).expect("a change serialises");
    json["kind"].as_str().map(str::to_owned)
}

#[test]
fn each_rule_reports_only_if_it_applies() {
    for (Rule { id, .. }, case) in ALL.iter().zip(CASES) {
        let reported = claims(&(case.triggers)(), id);
        assert_eq!(reported.len(), 1, "{id}: {reported:#?}");
        assert_eq!(reported[0].severity, case.severity, "{id}: {reported:#?}");
        assert!(!reported[0].evidence.is_empty() && !reported[0].results.is_empty(), "{reported:#?}");
        assert_eq!(change(&reported[0]).as_deref(), case.change, "{id}: {reported:#?}");
        let text = format!("{} {:?}", reported[0].claim(), reported[0]);
        for word in case.says {
            assert!(text.contains(word), "{id}: `{word}` is not in {reported:#?}");
        }
        let action = reported[0].remedy.as_ref().map(|remedy| remedy.action.clone());
        for lead in [reported[0].sentence.to_string(), action.unwrap_or_default()] {
            assert!(lead.chars().count() <= MOST_OF_A_LEAD, "{id}: too long for a summary: {lead}");
            assert!(!lead.ends_with(['.', ':']), "{id}: the layout adds the full stop: {lead}");
        }
        assert_eq!(claims(&(case.spares)(), id), [], "{id}");
    }
}

#[test]
fn each_rule_has_a_page() {
    for rule in ALL {
        let page = format!("{}/../../docs/findings/{}.md", env!("CARGO_MANIFEST_DIR"), rule.id);
        #[expect(clippy::disallowed_methods, reason = "the test reads the pages that the rules name")]
        let text = std::fs::read_to_string(Path::new(&page)).unwrap_or_default();
        for part in ["# `", "## Evidence", "## Limitations", "## Remedy"] {
            assert!(text.contains(part), "docs/findings/{}.md has no `{part}`", rule.id);
        }
    }
}

#[test]
fn superseded_rules_exist() {
    for rule in ALL {
        for id in rule.supersedes {
            assert!(ALL.iter().any(|other| other.id == *id), "{} supersedes unknown rule {id}", rule.id);
        }
    }
}

#[test]
fn each_page_belongs_to_a_rule_or_hint() {
    let folder = format!("{}/../../docs/findings", env!("CARGO_MANIFEST_DIR"));
    for page in std::fs::read_dir(folder).expect("there are pages") {
        let name = page.expect("it can be listed").file_name().into_string().expect("it is plain text");
        let id = name.trim_end_matches(".md");
        let known = ALL.iter().any(|rule| rule.id == id) || hints::ALL.iter().any(|hint| hint.id == id);
        assert!(known || id == "README", "docs/findings/{name} has no rule");
    }
}

#[test]
fn server_sends_the_packets_of_a_reverse_stream() {
    for (direction, expected) in [(Direction::Forward, 0), (Direction::Reverse, 1), (Direction::Both, 1)] {
        let mut run = Fixture::new(6);
        run.path("path", &["network"]).stream("path", &[], 5e9);
        run.devices("path/bulk", &[("a:eth0", 1300, &[]), ("b:eth0", 1500, &[])]);
        let WorkloadSource::Load(load) = &mut run.record.header.results[0].sent else { unreachable!() };
        let WorkloadSettings::Stream(settings) = load else { unreachable!() };
        settings.direction = direction;
        assert_eq!(claims(&run, "mtu-mismatch").len(), expected, "{direction:?}");
    }
}

#[test]
fn smaller_mtu_concerns_only_its_own_path() {
    let mut run = Fixture::new(6);
    for (path, middle) in [("a-to-b", "node:va"), ("a-to-c", "node:vc")] {
        run.path(path, &["network"]).stream(path, &[], 5e9);
        run.devices(&format!("{path}/bulk"), &[("a:eth0", 1500, &[]), (middle, 1300, &[])]);
    }
    let found = claims(&run, "mtu-mismatch");
    let named: Vec<(&str, &str)> =
        found.iter().map(|it| (it.sentence.lead.parts()[0].text.as_str(), it.results[0].as_str())).collect();
    assert_eq!(named, [("node:va", "a-to-b/bulk"), ("node:vc", "a-to-c/bulk")]);
    assert!(found.iter().all(|it| it.results.len() == 1), "{found:#?}");
}

#[test]
fn reports_settings_of_existing_hosts_without_comparison() {
    let run = |layer: &str| {
        let mut run = Fixture::new(6);
        run.path("a-to-b", &[layer]).stream("a-to-b", &[], 5e9).ping("a-to-b", &[], 50e3);
        for result in ["a-to-b/bulk", "a-to-b/ping"] {
            let off = [("tx-tcp-segmentation", false)];
            run.devices(result, &[("a:eth0", 1500, &[]), ("node:va", 1300, &off), ("b:eth0", 1500, &[])]);
        }
        run
    };
    for (rule, severity, results, claim, command) in [
        ("offload-off", Severity::Note, 1, "Offloads of node:va are off", "ethtool -k va  # in node"),
        (
            "mtu-mismatch",
            Severity::Warning,
            2,
            "node:va has an MTU of 1300, but a:eth0",
            "ip link set va mtu 1500  # in node",
        ),
    ] {
        let reported = claims(&run("network"), rule);
        assert_eq!(reported.len(), 1, "{rule}: {reported:#?}");
        assert_eq!((reported[0].severity, reported[0].results.len()), (severity, results), "{rule}");
        assert!(reported[0].claim().to_string().contains(claim), "{reported:#?}");
        assert_eq!(reported[0].remedy.as_ref().map(|it| &it.commands[..]), Some(&[command.to_owned()][..]));
        // A scenario chooses the settings of its lab, so these are not reported as findings.
        assert_eq!(claims(&run("wire"), rule), [], "{rule}");
    }
}

#[test]
fn finds_offload_off_at_the_first_level() {
    let mut run = Fixture::new(6);
    run.path("plain", &["wire"]);
    run.stream("plain", &[("offload", "off")], 5e9).stream("plain", &[("offload", "on")], 20e9);
    run.devices("plain/bulk/offload=off", &[("a:eth0", 1500, &[("rx-gro", false)])]);
    run.devices("plain/bulk/offload=on", &[("a:eth0", 1500, &[("rx-gro", true)])]);
    let reported = claims(&run, "offload-off");
    assert_eq!(reported.len(), 1, "{reported:#?}");
    assert_eq!(reported[0].results, ["plain/bulk/offload=off"]);
    assert_eq!(reported[0].sentence.lead.to_string(), "Offloads of a:eth0 are off with offload=off");
    let detail = reported[0].sentence.detail.to_string();
    assert!(detail.ends_with(" with on"), "{detail}");
    assert_eq!(reported[0].remedy.as_ref().expect("has one").commands, ["ethtool -K eth0 gro on  # in a"]);
}

#[test]
fn offload_off_without_loss_is_not_reported() {
    let mut run = Fixture::new(6);
    run.path("plain", &["wire"]);
    for (level, on) in [("on", true), ("off", false)] {
        run.stream("plain", &[("offload", level)], 5e9);
        run.devices(&format!("plain/bulk/offload={level}"), &[("a:eth0", 1500, &[("rx-gro", on)])]);
    }
    assert_eq!(claims(&run, "offload-off"), []);
}

#[test]
fn loss_without_offload_change_is_not_offload_off() {
    let mut run = Fixture::new(6);
    run.path("plain", &["wire"]);
    run.stream("plain", &[("mtu", "9000")], 20e9).stream("plain", &[("mtu", "1500")], 5e9);
    for level in ["9000", "1500"] {
        run.devices(&format!("plain/bulk/mtu={level}"), &[("a:eth0", 1500, &[("rx-gro", false)])]);
    }
    assert_eq!(claims(&run, "offload-off"), []);
}

#[test]
fn most_severe_claim_is_first() {
    let severities: Vec<Severity> =
        analyse(&egress(6).record).findings.iter().map(|claim| claim.severity).collect();
    assert!(severities.len() > 1 && severities.is_sorted_by(|one, other| one >= other), "{severities:?}");
}

#[test]
fn steal_time_alone_makes_a_host_noisy() {
    let mut run = nested(9e9);
    run.each("plain/bulk", |trial| trial.cpu.machine.steal = trial.cpu.machine.elapsed);
    let reported = claims(&run, "noisy-host");
    assert!(
        reported[0].claim().to_string().contains("the hypervisor took up to 50.0 % of the CPU time"),
        "{reported:#?}"
    );
}
