//! Compares each format of a whole report with a golden file. To rewrite the files, run
//! `UPDATE_GOLDEN=1 cargo test -p report --test pages golden`, and review the diff.

use std::{collections::BTreeSet, env, fs, path::PathBuf};

use findings::Compliance;
use report::{Format, Options, SingleFormat, View, render, render_comparison, render_junit, render_single};
use resvg::usvg::roxmltree;

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
fn shows_configurations_that_meet_requirements() {
    let findings = sample::alternatives::required();
    let section = |name, findings: &findings::Findings| {
        let view = Some(View::Section(name));
        render(findings, None, Format::Terminal, &Options { view, ..full(100) })
    };
    check("trade-offs.txt", &section("trade-offs", &findings));
    let summary = section("summary", &findings);
    assert!(summary.contains("Required") && summary.contains("meets throughput > 10.0 Gbit/s"), "{summary}");
    for (compliance, answer) in [
        (Compliance::Met, "microvm meets throughput"),
        (Compliance::Unclear, "microvm may not meet throughput"),
        (Compliance::Unknown, "microvm has no measurement for throughput"),
        (Compliance::Missed, "microvm misses throughput"),
    ] {
        let mut one = findings.clone();
        let configurations = &mut one.trade_offs.as_mut().expect("it has them").configurations;
        configurations.truncate(1);
        configurations[0].compliance = compliance;
        let summary = section("summary", &one);
        assert!(summary.contains(answer), "{summary}");
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
    use sample::comparison::{gated, inconclusive, lost, nothing_in_common, run_comparison, same};
    let narrow = Options { width: 80, ..Options::default() };
    let full = Options::default();
    let failed = |format, options| render_comparison(&gated(run_comparison(), lost()), format, options);
    check("comparison.txt", &render_comparison(&run_comparison(), Format::Terminal, &full));
    check("comparison-80.txt", &failed(Format::Terminal, &narrow));
    check("comparison.md", &failed(Format::Markdown, &full));
    check("comparison.csv", &failed(Format::Csv, &full));
    check("comparison-same.txt", &render_comparison(&same(), Format::Terminal, &narrow));
    let apart = render_comparison(&gated(nothing_in_common(), inconclusive()), Format::Terminal, &narrow);
    check("comparison-apart.txt", &apart);
    let passed = findings::Gate { outcome: findings::GateOutcome::Passed, ..inconclusive() };
    let passed = render_comparison(&gated(run_comparison(), passed), Format::Terminal, &full);
    assert!(passed.contains("A guarded metric got worse."), "{passed}");
}

#[test]
fn junit_has_one_case_for_each_result() {
    use sample::comparison::{inconclusive, lost, nothing_in_common, run_comparison};
    check("check.xml", &render_junit(&run_comparison(), &lost()));
    let mut hostile = run_comparison();
    hostile.results[0].path = "a<b>\"&'\u{1b}[2J".into();
    for (comparison, gate, counts) in [
        (run_comparison(), lost(), ["6", "2", "3"]),
        (hostile, lost(), ["6", "2", "3"]),
        (nothing_in_common(), inconclusive(), ["8", "0", "8"]),
    ] {
        let text = render_junit(&comparison, &gate);
        let document = roxmltree::Document::parse(&text).expect("XML");
        let count =
            |name: &str| document.descendants().filter(|it| it.has_tag_name(name)).count().to_string();
        for suite in document.descendants().filter(|it| it.tag_name().name().starts_with("testsuite")) {
            let written =
                ["tests", "failures", "skipped"].map(|name| suite.attribute(name).expect("a count"));
            assert_eq!(written, counts, "{text}");
        }
        assert_eq!(["testcase", "failure", "skipped"].map(count), counts, "{text}");
        let cases = document.descendants().filter(|it| it.has_tag_name("testcase"));
        let names: BTreeSet<&str> = cases.map(|it| it.attribute("name").expect("a name")).collect();
        assert_eq!(names.len().to_string(), counts[0], "{text}");
        assert!(names.iter().all(|name| !name.contains('\u{1b}')), "{text}");
    }
}

#[test]
fn shows_noise_between_runs_in_header_and_results() {
    use sample::comparison::{gated, hidden, learned};
    let narrow = Options { width: 80, ..Options::default() };
    let hidden = |format, options| render_comparison(&gated(learned(), hidden()), format, options);
    check("comparison-learned.txt", &hidden(Format::Terminal, &narrow));
    check("comparison-learned.md", &hidden(Format::Markdown, &Options::default()));
}

#[test]
fn json_of_a_comparison_is_its_document() {
    let bare = sample::comparison::run_comparison();
    let gated = sample::comparison::gated(bare.clone(), sample::comparison::lost());
    for comparison in [bare, gated] {
        let text = render_comparison(&comparison, Format::Json, &Options::default());
        check_document(&text, &comparison);
    }
}

#[test]
fn json_of_a_single_trial_is_its_document() {
    let text = render_single(&sample::single::stream(), SingleFormat::Json, &Options::default());
    check_document(&text, &sample::single::stream());
}
