//! For any name and any width, no text is wider than the terminal, and no name breaks the markup.

use console::{measure_text_width, strip_ansi_codes};
use findings::{
    Cause, Conclusion, Finding, Findings, Remedy, Sentence, Severity, Statement, WorkloadSummary,
};
use report::{
    Format, Options, SingleFormat, Summary, View, render, render_comparison, render_single, section_names,
};
use samples::{AttributionSource, RunState, SkippedResult};

use crate::{golden::check_document, sample};

const FULL: Options = Options {
    view: Some(View::Full),
    width: 100,
    colour: false,
    objective: None,
    summary: Summary::First,
    database: None,
};

const NAMES: [&str; 4] = [
    "네트워크-속도-테스트-게이트웨이",
    "a-very-long-name-without-any-space-in-it-that-goes-on-and-on-and-on",
    "a|b_*c*<d>",
    "\u{1b}[31mred\n",
];

fn renamed(name: &str) -> Findings {
    let mut findings = sample::findings();
    let rename = |path: &mut String| *path = format!("{name}{path}");
    findings.run.title = name.into();
    findings.results.iter_mut().for_each(|result| rename(&mut result.path));
    findings.run.paths.iter_mut().for_each(|path| rename(&mut path.name));
    findings
        .cost_breakdowns
        .iter_mut()
        .flat_map(|breakdown| &mut breakdown.steps)
        .for_each(|step| rename(&mut step.path));
    findings.effects.iter_mut().for_each(|effect| rename(&mut effect.path));
    findings.skipped.iter_mut().for_each(|skipped| rename(&mut skipped.result));
    rename_verdict(&mut findings, name);
    findings
}

fn rename_verdict(findings: &mut Findings, name: &str) {
    for workload in &mut findings.verdict.workloads {
        workload.values.iter_mut().for_each(|value| value.path.insert_str(0, name));
        if let Some(change) = &mut workload.change {
            change.what.push_str(name);
            if let Cause::Found(cause) = &mut change.cause {
                let lead = &mut cause.sentence.lead;
                *lead = format!("{lead} {name}").repeat(2).into();
            }
        }
    }
    findings.results.iter_mut().for_each(|result| result.label.insert_str(0, name));
}

fn check_width(findings: &Findings, width: usize) {
    for view in [View::Short, View::Full] {
        let options = Options { colour: true, width, view: Some(view), ..Options::default() };
        for line in render(findings, None, Format::Terminal, &options).lines() {
            let taken = measure_text_width(line);
            assert!(taken <= width.max(60), "{taken} columns of {width}: {line}");
        }
    }
}

#[test]
fn single_trial_fits_the_terminal() {
    let trials = [
        sample::single::stream(),
        sample::single::datagrams(),
        sample::single::open_loop(),
        sample::single::connections(),
        sample::single::nothing(),
    ];
    for (single, width) in trials.iter().flat_map(|single| [60, 72, 80, 100].map(|width| (single, width))) {
        let text = render_single(
            single,
            SingleFormat::Terminal,
            &Options { colour: true, width, ..Options::default() },
        );
        for line in text.lines() {
            assert!(measure_text_width(line) <= width, "{width}: {line}");
        }
    }
}

#[test]
fn lines_fit_the_terminal() {
    check_width(&sample::engine(), 72);
    for width in [60, 61, 72, 80, 99, 100, 120, 200] {
        check_width(&sample::findings(), width);
        check_width(&sample::nothing(), width);
        NAMES.iter().for_each(|name| check_width(&renamed(name), width));
    }
}

#[test]
fn sweep_and_import_fit_the_terminal() {
    for width in [60, 72, 80, 100, 120] {
        check_width(&sample::sweep::sweep(), width);
        check_width(&sample::imported::imported(), width);
        check_width(&sample::probed::probed(), width);
        check_width(&sample::machines::machines(), width);
        check_width(&sample::alternatives::alternatives(), width);
    }
}

#[test]
fn comparison_fits_the_terminal() {
    use sample::comparison::{
        gated, hidden, inconclusive, learned, lost, nothing_in_common, run_comparison, same,
    };
    let comparisons = [
        (run_comparison(), lost()),
        (learned(), hidden()),
        (same(), lost()),
        (nothing_in_common(), inconclusive()),
    ];
    for ((comparison, gate), width) in
        comparisons.iter().flat_map(|comparison| [60, 72, 80, 100].map(|width| (comparison, width)))
    {
        for name in NAMES {
            let mut comparison = comparison.clone();
            comparison.results.iter_mut().for_each(|result| result.path.insert_str(0, name));
            comparison.environment_changes.iter_mut().for_each(|change| change.a.push_str(name));
            let options = Options { colour: true, width, ..Options::default() };
            let text = render_comparison(&gated(comparison, gate.clone()), Format::Terminal, &options);
            for line in text.lines() {
                assert!(measure_text_width(line) <= width, "{width}: {line}");
            }
        }
    }
}

fn summary(text: &str) -> Vec<&str> {
    let after = text.lines().skip_while(|line| *line != "Summary").skip(1);
    after.take_while(|line| !line.is_empty()).collect()
}

#[test]
fn summary_has_at_most_twelve_lines() {
    let runs = [
        sample::findings(),
        sample::engine(),
        sample::sweep::sweep(),
        sample::imported::imported(),
        sample::probed::probed(),
        sample::machines::machines(),
        sample::alternatives::alternatives(),
    ];
    for (findings, name) in runs.iter().flat_map(|findings| ["", NAMES[1]].map(|name| (findings, name))) {
        let mut findings = findings.clone();
        rename_verdict(&mut findings, name);
        findings.results.iter_mut().for_each(|result| result.path.insert_str(0, name));
        let options = Options { width: 80, ..Options::default() };
        let text = render(&findings, None, Format::Terminal, &options);
        let lines = summary(&text);
        assert!((3..=12).contains(&lines.len()), "{} lines:\n{text}", lines.len());
        assert!(lines.iter().all(|line| measure_text_width(line) <= 80), "{text}");
    }
}

#[test]
fn run_ends_with_summary_and_report_starts_with_it() {
    let text = |summary| {
        render(&sample::findings(), None, Format::Terminal, &Options { summary, ..Options::default() })
    };
    let (first, last) = (text(Summary::First), text(Summary::Last));
    assert!(last.ends_with(&format!("{}\n", summary(&first).join("\n"))), "{last}");
    assert!(first.find("\nSummary") < first.find("\nFindings"), "{first}");
}

#[test]
fn shows_single_section_and_full_report() {
    let text = |view| {
        render(
            &sample::probed::probed(),
            None,
            Format::Terminal,
            &Options { view: Some(view), ..Options::default() },
        )
    };
    let full = text(View::Full);
    for name in section_names() {
        let alone = text(View::Section(name));
        let title = alone.lines().skip_while(|line| !line.is_empty()).nth(1).expect("a title");
        let nothing = alone.contains("This run has no data for this section.");
        assert_eq!(full.lines().any(|line| line == title), !nothing, "{name}:\n{alone}");
    }
    let short = text(View::Short);
    assert!(short.lines().count() < full.lines().count() && !short.contains("System calls\n"), "{short}");
}

#[test]
fn unreliable_run_suggests_only_a_repetition() {
    let mut findings = sample::findings();
    let reason = Statement {
        finding: "disturbed".into(),
        sentence: Sentence::new("The machine was busy", "`cc1` used up to 1.20 CPUs"),
    };
    let action = Some("Measure again when the machine is idle".into());
    findings.verdict.conclusion = Conclusion::Repeat { reason, action };
    findings.verdict.next = None;
    let text = render(&findings, None, Format::Terminal, &Options::default());
    let lines = summary(&text);
    let first = "Answer      Measure again when the machine is idle. The machine was busy: `cc1` used";
    assert!(lines[0].trim().starts_with(first), "{text}");
    assert!(!lines.iter().any(|line| line.contains("Why") || line.contains("Set  ")), "{text}");
}

#[test]
fn marks_unreliable_layers_unless_all_are() {
    let mut findings = sample::findings();
    findings.verdict.workloads[0].layers[0].unreliable = true;
    let text = render(&findings, None, Format::Terminal, &Options::default());
    assert!(summary(&text).iter().any(|line| line.contains("unreliable: vxlan −41.8 %")), "{text}");
    findings.verdict.workloads[0].layers.iter_mut().for_each(|layer| layer.unreliable = true);
    let text = render(&findings, None, Format::Terminal, &Options::default());
    assert!(!text.contains("unreliable"), "the caution covers all: {text}");
}

#[test]
fn superseded_finding_names_its_explanation() {
    let mut findings = sample::findings();
    findings.findings[0].superseded_by = Some("disturbed".into());
    let text = render(&findings, None, Format::Terminal, &Options::default());
    let (_, listed) = text.split_once("\nFindings").expect("there are findings");
    let words = listed.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("Explained by disturbed.") && !words.contains("Remedy"), "{text}");
}

#[test]
fn narrow_terminal_is_treated_as_sixty_columns() {
    let narrow = |width| {
        render(
            &sample::findings(),
            None,
            Format::Terminal,
            &Options { colour: false, width, ..Options::default() },
        )
    };
    assert_eq!(narrow(0), narrow(60));
    check_width(&sample::findings(), 0);
}

#[test]
fn colours_do_not_change_the_text() {
    let text = |colour| {
        render(
            &sample::findings(),
            None,
            Format::Terminal,
            &Options { colour, width: 100, ..Options::default() },
        )
    };
    assert!(!text(false).contains('\u{1b}'));
    assert!(text(true).contains("\u{1b}[31m"));
    assert_eq!(strip_ansi_codes(&text(true)), text(false));
}

#[test]
fn escapes_names_on_the_terminal() {
    for format in [Format::Terminal, Format::Markdown, Format::Html] {
        let text = render(&renamed(NAMES[3]), None, format, &Options::default());
        assert!(text.chars().all(|character| character == '\n' || !character.is_control()), "{text}");
    }
}

#[test]
fn markdown_tables_have_complete_rows() {
    let bars = |line: &str| line.replace("\\|", "").matches('|').count();
    for name in NAMES {
        let record = sample::record::record();
        let text = render(&renamed(name), Some(&record), Format::Markdown, &Options::default());
        let mut before: Option<usize> = None;
        for line in text.lines() {
            let now = line.starts_with("| ").then(|| bars(line));
            if let (Some(before), Some(now)) = (before, now) {
                assert_eq!(before, now, "{line}");
            }
            before = now;
        }
        let outside_fences: String = text.split("```").step_by(2).collect();
        assert!(!outside_fences.replace("\\<", "").contains("<d>"), "{outside_fences}");
    }
}

#[test]
fn markdown_details_are_closed() {
    let record = sample::record::record();
    let text = render(&sample::findings(), Some(&record), Format::Markdown, &Options::default());
    assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
    assert!(text.contains("<details>"));
    assert!(text.contains("- **Speed**: ping-pong: ") && !text.contains("****"), "{text}");
}

#[test]
fn html_is_well_formed_and_fetches_nothing() {
    let record = sample::record::record();
    for name in NAMES {
        let page = render(&renamed(name), Some(&record), Format::Html, &Options::default());
        let (text, _) = page.split_once("<script>").expect("it has one");
        for tag in [
            "section", "details", "summary", "table", "tr", "td", "th", "p", "ul", "li", "dl", "svg", "text",
            "tspan",
        ] {
            let opened =
                text.matches(&format!("<{tag}>")).count() + text.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, text.matches(&format!("</{tag}>")).count(), "{tag} of {name}");
        }
        for sign in ["<d>", "<script", "src=", "url(", "@import"] {
            assert!(!text.contains(sign), "{sign} of {name}: {text}");
        }
        let elsewhere = text.replace("http://www.w3.org/2000/svg", "");
        assert!(!elsewhere.contains("://"), "{elsewhere}");
        let anchors: Vec<&str> =
            text.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let once: std::collections::BTreeSet<&&str> = anchors.iter().collect();
        assert_eq!(once.len(), anchors.len(), "each anchor once: {anchors:?}");
        for link in text.split(" href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(anchors.contains(&link), "{link} leads nowhere");
        }
    }
}

/// Values are formatted before a backend is chosen.
#[test]
fn html_has_the_same_values_as_markdown() {
    let record = sample::record::record();
    let [html, markdown] = [Format::Html, Format::Markdown]
        .map(|format| render(&sample::findings(), Some(&record), format, &Options::default()));
    let numbers = |text: &str| -> std::collections::BTreeSet<String> {
        let words = text.split(|sign: char| sign.is_whitespace() || "<>|()`".contains(sign));
        let is_number = |word: &&str| word.contains('.') && word.parse::<f64>().is_ok();
        words.filter(is_number).map(str::to_owned).collect()
    };
    let missing: Vec<String> = numbers(&markdown).difference(&numbers(&html)).cloned().collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn run_with_only_skipped_results_gives_reasons() {
    let mut findings = sample::nothing();
    findings.run.state = RunState::Complete;
    findings.skipped =
        vec![SkippedResult { result: "vxlan/stream".into(), reason: "no vxlan: modprobe vxlan".into() }];
    for format in [Format::Terminal, Format::Markdown] {
        let text = render(&findings, None, format, &Options::default());
        assert!(text.contains("every result was skipped"), "{text}");
        assert!(text.contains("modprobe vxlan"), "{text}");
    }
}

#[test]
fn counts_trials_without_a_value_by_reason() {
    let mut record = sample::record::record();
    let text = |record: &samples::RunRecord| {
        let mut findings = sample::nothing();
        findings.run.completed = u32::try_from(record.trials.len()).expect("few");
        render(&findings, Some(record), Format::Terminal, &Options::default())
    };
    for trial in &mut record.trials {
        trial.measurement = workload::Measurement::Stream(workload::StreamData { flows: Vec::new() });
    }
    let phrase = text(&record);
    assert!(!phrase.contains("no trial has finished yet"), "{phrase}");
    assert!(phrase.contains("no value: no connection was established."), "{phrase}");
    record.trials.clear();
    assert!(text(&record).contains("no trial has finished yet"));
}

#[test]
fn unknown_tcp_values_are_not_zero() {
    let mut record = sample::record::record();
    let rows = |record: &samples::RunRecord| {
        let page = render(&sample::findings(), Some(record), Format::Markdown, &Options::default());
        let text = page.split("Sender, connection 0").nth(1).expect("it has intervals").to_owned();
        text.lines().skip(4).take(2).map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(rows(&record).iter().all(|row| row.contains(" 0 ns |")), "{:?}", rows(&record));
    for trial in &mut record.trials {
        let workload::Measurement::Stream(stream) = &mut trial.measurement else { continue };
        let ends = stream.flows.iter_mut().flat_map(|flow| [&mut flow.sender, &mut flow.receiver]);
        let tcp = ends.flat_map(|end| &mut end.intervals).filter_map(|interval| interval.tcp.as_mut());
        tcp.for_each(|tcp| tcp.segments = 0);
    }
    let rows = rows(&record);
    assert!(rows.iter().all(|row| row.contains("321 KiB") && !row.contains(" 0 ns")), "{rows:?}");
}

#[test]
fn labels_sender_rate_as_sent() {
    let mut findings = sample::findings();
    for result in &mut findings.results {
        let WorkloadSummary::Stream(stream) = &mut result.measured else { continue };
        (stream.received, stream.forward, stream.reverse) = (None, None, None);
    }
    let text = render(&findings, None, Format::Terminal, &FULL);
    assert!(text.contains(" Sent (94 % interval)") && !text.contains("Received"), "{text}");
    let text = render(&findings, None, Format::Markdown, &Options::default());
    assert!(text.contains("unknown receiver"), "{text}");
}

#[test]
fn ratios_without_interval_have_no_marks_and_one_style() {
    let mut findings = sample::findings();
    let mut ratios = [2.5, 1.5].into_iter().cycle();
    for comparison in findings.results.iter_mut().filter_map(|result| result.against_baseline.as_mut()) {
        comparison.ratio_interval = None;
        comparison.verdict = ::findings::Difference::Unclear;
        comparison.ratio = ratios.next().expect("it is endless");
    }
    let text = render(&findings, None, Format::Terminal, &FULL);
    let results = text.split("Results").nth(1).and_then(|rest| rest.split("\nFindings").next());
    let results = results.expect("there are some");
    assert!(!results.contains("unclear") && !results.contains("no interval)"), "{text}");
    assert!(results.contains("2.50x") && results.contains("1.50x"), "{text}");
    assert!(results.contains("A number without brackets has no interval"), "{text}");
}

fn check_copied(command: &str, expected: &str) {
    let mut findings = sample::findings();
    let remedy = Remedy::manual("Do it", vec![command.into()]);
    let serious = findings.findings.swap_remove(0);
    findings.findings = vec![Finding { severity: Severity::Warning, remedy: Some(remedy), ..serious }];
    let text = render(
        &findings,
        None,
        Format::Terminal,
        &Options { colour: false, width: 60, ..Options::default() },
    );
    let (_, after) = text.split_once("$ ").expect("the command is shown");
    let shell = after.replace("\\\n", " ");
    let typed: Vec<&str> = shell.lines().next().expect("a line").split_whitespace().collect();
    assert_eq!(typed.join(" "), expected);
}

#[test]
fn long_commands_can_be_copied() {
    let long =
        "ethtool -K egress.vxlan tx-checksum-ip-generic on tx-tcp-segmentation on generic-receive-offload on";
    check_copied(long, long);
    check_copied(&format!("{long} # in node1"), long);
    check_copied("ethtool -K vxlan0 tso on # in node1", "ethtool -K vxlan0 tso on # in node1");
}

#[test]
fn json_is_the_document() {
    let findings = sample::findings();
    let text = render(&findings, None, Format::Json, &Options::default());
    check_document(&text, &findings);
    assert!(text.contains(&format!("\"schema\": {}", findings::SCHEMA)));
}

#[test]
fn csv_rows_match_the_header() {
    let fields = |line: &str| {
        let mut quoted = false;
        let comma = |c: char| {
            quoted ^= c == '"';
            c == ',' && !quoted
        };
        line.chars().map(comma).filter(|&comma| comma).count()
    };
    let record = sample::record::record();
    for (format, record) in
        [(Format::Csv, None), (Format::CsvTrials, None), (Format::CsvTrials, Some(&record))]
    {
        let text = render(&sample::findings(), record, format, &Options::default());
        let head = fields(text.lines().next().expect("a head"));
        assert!(text.lines().count() > 3);
        text.lines().for_each(|line| assert_eq!(fields(line), head, "{line}"));
    }
}

#[test]
fn explains_inexact_attribution_below_the_table() {
    let mut findings = sample::probed::probed();
    for cpu in findings.results.iter_mut().filter_map(|result| result.probed.as_mut()?.cpu.as_mut()) {
        (cpu.source, cpu.reason) =
            (AttributionSource::Sampled, Some("this user may not load programs".into()));
    }
    let text = render(&findings, None, Format::Markdown, &Options::default());
    assert_eq!(text.matches("Not traced exactly: this user may not load programs.").count(), 1, "{text}");
}
