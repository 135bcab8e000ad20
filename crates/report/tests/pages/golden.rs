//! Compares each format of a whole report with a golden file.
//! `UPDATE_GOLDEN=1 cargo test -p report --test pages golden` rewrites them: review the difference before committing.

use std::{env, fs, path::PathBuf};

use report::{Format, Options, SingleFormat, View, render, render_comparison, render_single};

use crate::sample;

pub(crate) fn check(name: &str, actual: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if env::var("UPDATE_GOLDEN").is_ok() {
        fs::write(&path, actual).expect("writes the golden file");
    }
    let golden = fs::read_to_string(&path).expect("golden file");
    let differs = golden.lines().zip(actual.lines()).position(|(golden, actual)| golden != actual);
    assert!(golden == actual, "{name} differs, first in line {:?}:\n{actual}", differs.map(|line| line + 1));
}

pub(crate) fn check_document(text: &str, document: &impl serde::Serialize) {
    let read: serde_json::Value = serde_json::from_str(text).expect("it is JSON");
    assert_eq!(read, serde_json::to_value(document).expect("it is JSON"));
}

fn full(width: usize) -> Options {
    Options { width, view: Some(View::Full), ..Options::default() }
}

#[test]
fn terminal_shows_summary_layer_costs_and_findings() {
    let options = Options { colour: false, width: 100, ..Options::default() };
    check("egress.txt", &render(&sample::findings(), None, Format::Terminal, &options));
}

#[test]
fn narrow_terminal_has_the_same_content() {
    let options = Options { colour: false, width: 60, ..Options::default() };
    check("egress-60.txt", &render(&sample::findings(), None, Format::Terminal, &options));
}

#[test]
fn coloured_terminal_shows_tones() {
    let options = Options { colour: true, width: 100, ..Options::default() };
    check("egress-colour.txt", &render(&sample::findings(), None, Format::Terminal, &options));
}

#[test]
fn markdown_is_complete() {
    let record = sample::record::record();
    let text = render(&sample::findings(), Some(&record), Format::Markdown, &Options::default());
    check("egress.md", &text);
}

#[test]
fn recommends_cheapest_configuration_that_meets_requirements() {
    let required = |bounds: &[&str]| {
        let requirements = bounds.iter().map(|bound| bound.parse().expect("a bound")).collect();
        let view = Some(View::Section("trade-offs"));
        render(
            &sample::alternatives::alternatives(),
            None,
            Format::Terminal,
            &Options { requirements, view, ..full(100) },
        )
    };
    check("trade-offs.txt", &required(&["throughput>10Gbit/s", "boot<4.25s"]));
    assert!(required(&["throughput>30Gbit/s"]).contains("4 of 4 miss throughput > 30"));
    let near = required(&["cpu-time<0.26"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(near.contains("(2 of 4 do; 2 undecided)"), "the scatter of CPU time is unknown: {near}");
}

#[test]
fn summary_answers_requirements() {
    let required = |findings: &findings::Findings, bound: &str| {
        let requirements = vec![bound.parse().expect("a bound")];
        let view = Some(View::Section("summary"));
        render(findings, None, Format::Terminal, &Options { requirements, view, ..full(100) })
    };
    let mut findings = sample::alternatives::alternatives();
    let phrase = required(&findings, "throughput>10Gbit/s");
    assert!(phrase.contains("Required") && phrase.contains("meets throughput > 10.0 Gbit/s"), "{phrase}");
    findings.results.truncate(1);
    for (bound, answer) in [
        ("throughput>10Gbit/s", "node-to-node meets throughput"),
        ("throughput>90Gbit/s", "node-to-node misses throughput"),
        ("boot<1s", "node-to-node has no measurement for boot"),
    ] {
        let phrase = required(&findings, bound);
        assert!(phrase.contains(answer), "{bound}: {phrase}");
    }
}

#[test]
fn list_of_calls_separates_waiting_from_work() {
    let mut findings = sample::imported::imported();
    findings.results.retain(|result| !result.syscalls.is_empty());
    (findings.matched_pairs, findings.rankings, findings.answers) = Default::default();
    findings.verdict.workloads.retain(|workload| workload.workload == "syscalls");
    findings.verdict.conclusion = findings::Conclusion::Values;
    let page = |findings: &findings::Findings| {
        render(findings, None, Format::Terminal, &Options { view: Some(View::Short), ..full(100) })
    };
    let phrase = page(&findings);
    assert!(phrase.contains("Counted  412 k system calls, 51 % of these ioctl"), "{phrase}");
    assert!(phrase.contains("System calls") && !phrase.contains("Results"), "{phrase}");
    let calls = findings.results.iter_mut().flat_map(|result| &mut result.syscalls);
    calls.for_each(|call| call.running = Some(units::Nanos(if call.call == "writev" { 3 } else { 1 })));
    let phrase = page(&findings);
    assert!(phrase.contains("50 % of the CPU time in writev"), "{phrase}");
}

#[test]
fn unreliable_values_never_meet_a_requirement() {
    let required = |bound: &str, findings: &findings::Findings| {
        let requirements = vec![bound.parse().expect("a bound")];
        let view = Some(View::Section("trade-offs"));
        render(findings, None, Format::Terminal, &Options { requirements, view, ..full(100) })
    };
    let mut doubted = sample::alternatives::alternatives();
    let results =
        doubted.results.iter().filter(|result| result.path == "node-to-node").map(|result| result.id.clone());
    let bimodal = findings::Finding { results: results.collect(), ..serious() };
    doubted.findings.push(bimodal);
    let phrase = required("throughput>10Gbit/s", &doubted);
    assert!(phrase.contains("23.5 Gbit/s, undecided") && phrase.contains("(2 of 4 do; 1"), "{phrase}");

    let mut halved = sample::alternatives::alternatives();
    for result in halved.results.iter_mut().filter(|result| result.workload == "ping-pong") {
        result.measured = findings::WorkloadSummary::Reported;
        result.warnings.push((samples::ValidityWarning::HalfRoundTrips, 1));
        result.reported = vec![workload::ReportedValue {
            name: "p99".into(),
            quantity: workload::Quantity::Time,
            value: result.value.estimate,
        }];
    }
    let phrase = required("p99<100us", &halved);
    assert!(phrase.contains("65.7 µs, undecided"), "131 µs, for half round trips: {phrase}");
    assert!(phrase.contains("2 of 4 miss p99") && phrase.contains("half round trips"), "{phrase}");
}

fn serious() -> findings::Finding {
    use findings::{Finding, Role, Severity};
    Finding::new("bimodal", Role::Measurement, Severity::Serious, "Two levels")
}

#[test]
fn csv_has_one_row_per_result() {
    check("results.csv", &render(&sample::findings(), None, Format::Csv, &Options::default()));
}

#[test]
fn csv_has_one_row_per_trial() {
    let record = sample::record::record();
    check("trials.csv", &render(&sample::findings(), Some(&record), Format::CsvTrials, &Options::default()));
    check("trials-kept.csv", &render(&sample::findings(), None, Format::CsvTrials, &Options::default()));
}

#[test]
fn report_mentions_missing_trials() {
    check("nothing.txt", &render(&sample::nothing(), None, Format::Terminal, &Options::default()));
    check("nothing.md", &render(&sample::nothing(), None, Format::Markdown, &Options::default()));
}

#[test]
fn reports_every_kind_of_workload() {
    check("engine.txt", &render(&sample::engine(), None, Format::Terminal, &full(100)));
    check("engine.md", &render(&sample::engine(), None, Format::Markdown, &Options::default()));
    check("engine.csv", &render(&sample::engine(), None, Format::Csv, &Options::default()));
}

#[test]
fn single_trial_has_its_own_summary() {
    let terminal = |single| render_single(&single, SingleFormat::Terminal, &Options::default());
    check("single-stream.txt", &terminal(sample::single::stream()));
    check("single-datagrams.txt", &terminal(sample::single::datagrams()));
    check("single-open-loop.txt", &terminal(sample::single::open_loop()));
    check("single-connections.txt", &terminal(sample::single::connections()));
    check("single-nothing.txt", &terminal(sample::single::nothing()));
    check(
        "single-stream.md",
        &render_single(&sample::single::stream(), SingleFormat::Markdown, &Options::default()),
    );
}

#[test]
fn sweep_has_recommendation_and_savings() {
    let narrow = Options { width: 80, ..Options::default() };
    let sweep = sample::sweep::sweep();
    check("sweep.txt", &render(&sweep, None, Format::Terminal, &narrow));
    check(
        "alternatives-short.txt",
        &render(&sample::alternatives::alternatives(), None, Format::Terminal, &narrow),
    );
    check("sweep.md", &render(&sweep, None, Format::Markdown, &Options::default()));
    let frugal = Options { objective: Some(findings::Objective::LowCpu), ..narrow };
    let text = render(&sweep, None, Format::Terminal, &frugal);
    let (low, most) = (text.find("Lowest CPU time"), text.find("Best value"));
    assert!(low.is_some() && low < most, "the requested objective is first:\n{text}");
}

#[test]
fn shows_probe_data_by_owner_step_and_call() {
    let probed = sample::probed::probed();
    check("probed.txt", &render(&probed, None, Format::Terminal, &full(100)));
    check("probed.md", &render(&probed, None, Format::Markdown, &Options::default()));
    check("probed.csv", &render(&probed, None, Format::Csv, &Options::default()));
}

#[test]
fn ranks_alternatives_and_compares_matched_pairs() {
    let four = sample::alternatives::alternatives();
    check("alternatives.txt", &render(&four, None, Format::Terminal, &full(100)));
    check("alternatives.md", &render(&four, None, Format::Markdown, &Options::default()));
    check("alternatives.csv", &render(&four, None, Format::Csv, &Options::default()));
}

#[test]
fn shows_guest_time_as_seen_by_host_and_guest() {
    let machines = sample::machines::machines();
    check("machines.txt", &render(&machines, None, Format::Terminal, &full(100)));
    check("machines.md", &render(&machines, None, Format::Markdown, &Options::default()));
    check("machines.csv", &render(&machines, None, Format::Csv, &Options::default()));
}

#[test]
fn shows_known_values_of_imported_run() {
    check("imported.txt", &render(&sample::imported::imported(), None, Format::Terminal, &full(80)));
    let options = Options::default();
    check("imported.md", &render(&sample::imported::imported(), None, Format::Markdown, &options));
    check("imported.csv", &render(&sample::imported::imported(), None, Format::Csv, &options));
}

#[test]
fn compares_two_runs() {
    use sample::comparison::{inconclusive, lost, nothing_in_common, run_comparison, same};
    let narrow = Options { width: 80, ..Options::default() };
    let full = Options::default();
    let gated = |format, options| render_comparison(&run_comparison(), Some(&lost()), format, options);
    check("comparison.txt", &render_comparison(&run_comparison(), None, Format::Terminal, &full));
    check("comparison-80.txt", &gated(Format::Terminal, &narrow));
    check("comparison.md", &gated(Format::Markdown, &full));
    check("comparison.csv", &gated(Format::Csv, &full));
    check("comparison-same.txt", &render_comparison(&same(), None, Format::Terminal, &narrow));
    let apart = render_comparison(&nothing_in_common(), Some(&inconclusive()), Format::Terminal, &narrow);
    check("comparison-apart.txt", &apart);
    let passed = findings::Gate { outcome: findings::GateOutcome::Passed, ..inconclusive() };
    let passed = render_comparison(&run_comparison(), Some(&passed), Format::Terminal, &full);
    assert!(passed.contains("A guarded metric got worse."), "{passed}");
}

#[test]
fn shows_noise_between_runs_in_header_and_results() {
    use sample::comparison::{hidden, learned};
    let narrow = Options { width: 80, ..Options::default() };
    let gated = |format, options| render_comparison(&learned(), Some(&hidden()), format, options);
    check("comparison-learned.txt", &gated(Format::Terminal, &narrow));
    check("comparison-learned.md", &gated(Format::Markdown, &Options::default()));
}

#[test]
fn json_of_a_comparison_is_its_document() {
    let (comparison, gate) = (sample::comparison::run_comparison(), sample::comparison::lost());
    let options = Options::default();
    let bare = render_comparison(&comparison, None, Format::Json, &options);
    check_document(&bare, &comparison);
    let gated = render_comparison(&comparison, Some(&gate), Format::Json, &options);
    check_document(&gated, &findings::CheckReport { gate, comparison });
}

#[test]
fn json_of_a_single_trial_is_its_document() {
    let text = render_single(&sample::single::stream(), SingleFormat::Json, &Options::default());
    check_document(&text, &sample::single::stream());
}
