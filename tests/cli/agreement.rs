//! Tests that the numbers of a run agree within each format and between formats.

use std::collections::BTreeMap;

use plumb_tests::Sandbox;
use serde_json::Value;

use crate::stored_runs::{Csv, GOLDEN, SHORT, SILENT, SLOWED, every_run, with_run, with_uneven_run};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Printed {
    pub(crate) value: f64,
    half: f64,
}

/// Half a unit in a ratio's last digit is at least this fraction of the range that rounded values allow. For
/// values with three digits, this range is 0.2 to 2 %.
const FINEST: f64 = 0.025;

impl Printed {
    pub(crate) fn read(text: &str) -> Option<(Self, &str)> {
        let text = text.trim_start();
        let sign = if text.starts_with('−') { -1.0 } else { 1.0 };
        let text = text.trim_start_matches(['−', '+']);
        let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
        let (digits, rest) = text.split_at(end);
        let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let value: f64 = digits.parse().ok()?;
        Some((Self { value: sign * value, half: 0.5 * 0.1_f64.powi(decimals as i32) }, rest))
    }

    pub(crate) fn quantity(text: &str) -> Option<Self> {
        let (number, rest) = Self::read(text)?;
        let unit = rest.split_whitespace().next()?.trim_end_matches([',', ';']);
        let factor = match unit {
            "Gbit/s" | "G/s" => 1e9,
            "Mbit/s" | "M/s" => 1e6,
            "kbit/s" | "k/s" => 1e3,
            "bit/s" | "/s" => 1.0,
            "s" => 1e9,
            "ms" => 1e6,
            "µs" => 1e3,
            "ns" => 1.0,
            _ => return None,
        };
        Some(Self { value: number.value * factor, half: number.half * factor })
    }

    fn range(self) -> [f64; 2] {
        [self.value - self.half, self.value + self.half]
    }

    fn has_supported_digits(self, allowed: f64) -> bool {
        self.half >= allowed * (1.0 - 1e-9)
    }

    pub(crate) fn allows(self, low: f64, high: f64) -> bool {
        let slack = 1e-9 * high.abs();
        self.value + self.half + slack >= low && self.value - self.half - slack <= high
    }
}

/// Checks changes such as `+ vxlan: −20.0 % (...) of node-to-node, −3.99 Gbit/s`, and returns their number.
fn check_breakdowns(page: &str) -> usize {
    let (mut values, mut last, mut changes) = (BTreeMap::new(), String::new(), 0);
    for line in page.lines() {
        let bar = line.find(['█', '●']).and_then(|_| line.rsplit(['█', '●', '┤']).next());
        if let Some(value) = bar.and_then(Printed::quantity) {
            last = line.split_whitespace().next().unwrap_or_default().to_owned();
            values.insert(last.clone(), value);
            continue;
        }
        let Some((_, change)) = line.trim_start().strip_prefix("+ ").and_then(|line| line.split_once(": "))
        else {
            continue;
        };
        let (of, difference) =
            change.rsplit_once(" of ").and_then(|(_, of)| of.split_once(", ")).expect(line);
        let (own, reference) = (values[&last], values[of]);
        let (printed, unit) = Printed::read(change).expect(line);
        let [least, most] = reference.range().map(|it| it.max(f64::MIN_POSITIVE));
        let ratios = [own.range()[0] / most, own.range()[1] / least];
        let [low, high] = match unit.starts_with('x') {
            true => ratios,
            false => ratios.map(|ratio| (ratio - 1.0) * 100.0),
        };
        assert!(printed.allows(low, high), "{line}: {own:?} of {reference:?}\n{page}");
        assert!(printed.has_supported_digits((high - low) * FINEST), "{line}: {own:?} of {reference:?}");
        let difference = Printed::quantity(difference).expect(line);
        let [low, high] = [own.range()[0] - most, own.range()[1] - least];
        assert!(difference.allows(low, high), "{line}: {own:?} of {reference:?}\n{page}");
        assert!(
            difference.has_supported_digits(own.half.max(reference.half)),
            "{line}: {own:?} of {reference:?}"
        );
        changes += 1;
    }
    changes
}

fn check_rows(sandbox: &Sandbox, rows: &Csv) -> usize {
    let findings = sandbox.findings("latest");
    let number = |row: usize, column: &str| rows.field(row, column).parse::<f64>().ok();
    let is_near = |one: f64, other: f64, scale: f64| (one - other).abs() <= 1e-9 * scale.abs();
    let mut comparisons = 0;
    for row in 0..rows.rows.len() {
        let id = rows.field(row, "result");
        let document = findings["results"].as_array().expect("results").iter().find(|it| it["id"] == id);
        let document = document.expect("the same results");
        let value = number(row, "value").expect("a value");
        assert_eq!(number(row, "trials"), document["value"]["trials"].as_f64(), "{id}");
        if let (Some(low), Some(high)) = (number(row, "low"), number(row, "high")) {
            assert!((0.0..=value).contains(&low) && value <= high, "{id}: {low} {value} {high}");
            assert_eq!(document["value"]["basis"] == "intervals", rows.field(row, "trials") == "1", "{id}");
        }
        let Some(ratio) = number(row, "baseline_ratio") else { continue };
        let baseline = (0..rows.rows.len()).find(|other| {
            rows.field(*other, "baseline") == "true"
                && rows.field(*other, "workload") == rows.field(row, "workload")
        });
        let reference = number(baseline.expect("a baseline"), "value").expect("a value");
        assert!(is_near(ratio, value / reference, ratio), "{id}: {ratio} for {value} of {reference}");
        let difference = number(row, "baseline_difference").expect("a difference");
        assert!(is_near(difference, value - reference, value.max(reference)), "{id}: {difference}");
        assert_eq!(document["against_baseline"]["verdict"], rows.field(row, "baseline_verdict"), "{id}");
        comparisons += 1;
    }
    comparisons
}

pub(crate) fn words(format: &str, page: &str) -> String {
    let mut text = page.replace('\u{a0}', " ");
    match format {
        "html" => {
            let mut parts = text.split('<');
            let first = parts.next().unwrap_or_default().to_owned();
            let rest: Vec<&str> =
                parts.map(|part| part.split_once('>').map_or("", |(_, text)| text)).collect();
            text = format!("{first}{}", rest.join(" "));
        }
        "latex" => {
            text = text.replace("\\textmu{}", "µ").replace("\\%", "%").replace('$', "").replace("{-}", "-");
        }
        _ => {}
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn report(sandbox: &Sandbox, format: &str) -> String {
    sandbox.succeed(&["report", "latest", "--full", "--format", format]).out
}

pub(crate) fn pages(sandbox: &Sandbox) -> [(&'static str, String); 4] {
    ["terminal", "markdown", "html", "latex"].map(|format| (format, report(sandbox, format)))
}

fn values(markdown: &str) -> Vec<String> {
    let results = markdown.split("\n## ").filter(|section| section.starts_with("Results"));
    let cells = results.flat_map(str::lines).filter(|line| line.starts_with("| **"));
    let values = cells.flat_map(|line| line.split('|')).filter_map(|cell| {
        let value = cell.split('(').next()?.trim().trim_end_matches(" !");
        Printed::quantity(value).map(|_| value.to_owned())
    });
    values.collect()
}

pub(crate) fn list<'a>(document: &'a Value, name: &str) -> &'a [Value] {
    document[name].as_array().map_or(&[], Vec::as_slice)
}

fn check_steps(findings: &Value) -> usize {
    let mut steps = 0;
    for breakdown in list(findings, "cost_breakdowns") {
        let mut below: BTreeMap<&str, f64> = BTreeMap::new();
        for step in list(breakdown, "steps") {
            let (path, value) = (step["path"].as_str().expect("a path"), step["value"].as_f64());
            let Some(ratio) = step["cost"]["ratio"].as_f64() else {
                below.insert(path, value.expect("a value"));
                continue;
            };
            let total = ratio * below[step["below"].as_str().expect("a path below")];
            assert!((total / value.expect("a value") - 1.0).abs() < 1e-9, "{step} of {below:?}");
            below.insert(path, total);
            steps += 1;
        }
    }
    steps
}

fn check_counts(findings: &Value, pages: &[(&str, String)]) {
    let (run, verdict) = (&findings["run"], &findings["verdict"]);
    let reasons = list(&verdict["trust"], "reasons").iter().find(|reason| reason["kind"] == "unclear");
    for (format, page) in pages {
        let page = words(format, page);
        let trials = match run["origin"]["kind"] == "imported" {
            true => format!("{} trial", run["completed"]),
            false => format!("{} of {} trials", run["completed"], run["planned"]),
        };
        assert!(page.contains(&trials), "{trials} is not in {format}: {page}");
        if let Some(reason) = reasons {
            let phrase = format!("{} of {} comparisons unclear", reason["comparisons"], reason["of"]);
            assert!(page.contains(&phrase), "{phrase} is not in {format}: {page}");
        }
    }
    let open = verdict["comparisons"]["open"].as_u64().expect("a count");
    assert_eq!(reasons.map_or(0, |it| it["comparisons"].as_u64().expect("a count")), open, "{verdict}");
    let steps =
        list(findings, "cost_breakdowns").iter().flat_map(|it| list(it, "steps")).map(|it| &it["cost"]);
    let effects = list(findings, "effects").iter().map(|effect| &effect["change"]);
    let unclear = steps.chain(effects).filter(|change| change["verdict"] == "unclear").count();
    assert_eq!(open, unclear as u64, "{open} open comparisons, {unclear} unclear steps and effects");
}

fn check_marks(findings: &Value, pages: &[(&str, String)]) {
    let values = || list(findings, "results").iter().map(|result| &result["value"]);
    let within = values().any(|value| value["basis"] == "intervals" && !value["interval"].is_null());
    let imported = findings["run"]["origin"]["kind"] == "imported";
    assert!(imported || !within, "{findings}");
    for value in values().filter(|value| !value["interval"].is_null()) {
        assert_eq!(value["basis"] == "intervals", value["trials"] == 1, "{value}");
    }
    for (format, page) in pages {
        let is_marked = words(format, page).contains("within one trial");
        assert_eq!(is_marked, within, "{format}: {page}");
    }
}

pub(crate) fn silent_slowed_and_missing_trials_leave_their_comparisons() {
    let (whole, uneven) = (with_run(GOLDEN).findings("latest"), with_uneven_run());
    let findings = uneven.findings("latest");
    let result = |findings: &Value, id: &str| {
        list(findings, "results").iter().find(|it| it["id"] == id).expect("the result").clone()
    };
    for (id, trials, outages) in [(SILENT, 6, Some(1)), (SLOWED, 6, None), (SHORT, 5, None)] {
        let (before, after) = (result(&whole, id), result(&findings, id));
        let of = |it: &Value| it["against_baseline"]["ratio"].as_f64().expect("a ratio");
        assert!((of(&after) / of(&before) - 1.0).abs() < 0.05, "{before} {after}");
        assert_eq!(after["against_baseline"]["verdict"], "lower", "{after}");
        let value = &after["value"];
        assert_eq!((value["trials"].as_i64(), value["outages"].as_i64()), (Some(trials), outages), "{after}");
    }
    for format in ["terminal", "markdown", "html"] {
        let page = words(format, &report(&uneven, format));
        assert!(
            page.contains("Nothing arrived in some trials") && page.contains("(1 of 6 trials)"),
            "{page}"
        );
    }
}

pub(crate) fn numbers_agree_in_every_format() {
    let (mut comparisons, mut changes, mut shown, mut steps) = (0, 0, 0, 0);
    for sandbox in every_run() {
        let rows = Csv::reported(&sandbox, "csv");
        comparisons += check_rows(&sandbox, &rows);
        let pages = pages(&sandbox);
        let findings = sandbox.findings("latest");
        steps += check_steps(&findings);
        check_counts(&findings, &pages);
        check_marks(&findings, &pages);
        changes += check_breakdowns(&pages[1].1);
        for value in values(&pages[1].1) {
            for (format, page) in &pages {
                assert!(words(format, page).contains(&value), "{value} is not in {format}:\n{page}");
            }
            shown += 1;
        }
    }
    assert!(
        comparisons > 10 && changes > 4 && shown > 20 && steps > 4,
        "{comparisons}, {changes}, {shown}, {steps}"
    );
}
