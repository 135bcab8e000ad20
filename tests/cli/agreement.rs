//! Tests that the numbers of a run agree within each format and between formats.

use std::collections::{BTreeMap, BTreeSet};

use plumb_tests::Sandbox;
use serde_json::Value;

use crate::{
    printed::{Printed, Table, words},
    sandbox,
    stored_runs::{
        Csv, GOLDEN, SHORT, SILENT, SLOWED, every_run, varied, varied_runs, with_run, with_uneven_run,
    },
};

/// At this width, no cell of the checked tables is broken by the cell next to it.
const WIDTH: &str = "80";

struct Change {
    own: Printed,
    reference: Printed,
    ratio: Printed,
    judgement: &'static str,
}

impl Change {
    /// Checks the change against the two values, and returns whether the comparison has its number and judgement.
    fn check(&self, comparison: &Value) -> bool {
        self.ratio.check_ratio(self.own, self.reference);
        let is_bare = comparison["ratio_interval"].is_null() && self.judgement.is_empty();
        self.ratio.rounds(number(&comparison["ratio"]))
            && (is_bare || self.judgement == judgement(comparison))
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("no {key} in {value}"))
}

fn judgement(comparison: &Value) -> &'static str {
    match text(comparison, "verdict") {
        "none" => "not significant",
        "unclear" => "unclear",
        _ => "",
    }
}

fn printed_judgement(text: &str) -> &'static str {
    let words = ["not significant", "unclear"];
    words.into_iter().find(|word| text.contains(word)).unwrap_or_default()
}

fn steps(findings: &Value) -> impl Iterator<Item = &Value> {
    list(findings, "cost_breakdowns").iter().flat_map(|breakdown| list(breakdown, "steps"))
}

fn joined(step: &Value, separator: &str) -> String {
    list(step, "adds").iter().filter_map(Value::as_str).collect::<Vec<_>>().join(separator)
}

/// Returns the last value that follows the path's name.
fn last_value(text: &str, path: &str) -> Option<(usize, Printed)> {
    let name = format!(" {path}");
    text.rmatch_indices(&name).find_map(|(at, _)| {
        let value = text[at + name.len()..].trim_start_matches([':', ' ']);
        Some((at, Printed::quantity(value)?.0))
    })
}

/// Checks changes such as `+ vxlan: −20.0 % (...) of node-to-node, −3.99 Gbit/s`, and returns their number.
fn check_breakdowns(findings: &Value, page: &str) -> usize {
    let costs = || steps(findings).filter(|step| !step["cost"].is_null());
    let paths: BTreeSet<&str> = steps(findings).map(|step| text(step, "path")).collect();
    let leads: BTreeSet<String> = costs().map(|step| format!("+ {}: ", joined(step, ", "))).collect();
    let mut changes = 0;
    for (at, lead) in leads.iter().flat_map(|lead| page.match_indices(lead.as_str())) {
        let (before, after) = (&page[..at], &page[at + lead.len()..]);
        let shown = &after[..after.char_indices().nth(160).map_or(after.len(), |(end, _)| end)];
        let values = paths.iter().filter_map(|path| Some((last_value(before, path)?, *path)));
        let ((_, own), path) = values.max_by_key(|((at, _), _)| *at).expect(shown);
        let (ratio, rest) = Printed::ratio(after).expect(shown);
        let (below, rest) = rest.split_once(" of ").and_then(|(_, rest)| rest.split_once(", ")).expect(shown);
        let (difference, rest) = Printed::quantity(rest).expect(shown);
        let (_, reference) = last_value(before, below).expect(shown);
        difference.check_difference(own, reference);
        let judgement =
            if rest.starts_with(", ") { printed_judgement(&rest[..rest.len().min(20)]) } else { "" };
        let change = Change { own, reference, ratio, judgement };
        let mut same = costs().filter(|step| (text(step, "path"), text(step, "below")) == (path, below));
        assert!(same.any(|step| change.check(&step["cost"])), "{path} {own:?}: {shown}");
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

fn report(sandbox: &Sandbox, format: &str) -> String {
    paged(sandbox, &["report", "latest", "--full", "--format", format])
}

/// Returns each page's text, as [`words`] does.
pub(crate) fn pages(sandbox: &Sandbox) -> [(&'static str, String); 4] {
    ["terminal", "markdown", "html", "latex"].map(|format| (format, words(format, &report(sandbox, format))))
}

fn paged(sandbox: &Sandbox, words: &[&str]) -> String {
    let output = sandbox.command(words).env("COLUMNS", WIDTH).output().expect("plumb was built");
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn values(tables: &[Table]) -> Vec<(&str, Printed)> {
    let results = tables.iter().filter(|table| table.section == "Results");
    let cells = results.flat_map(|table| &table.rows).flatten();
    let values = cells.filter_map(|cell| cell.split('(').next()).map(|it| it.trim().trim_end_matches(" !"));
    values.filter_map(|cell| Some((cell, Printed::quantity(cell)?.0))).collect()
}

/// Checks the tables of results and cases.
fn check_of_baseline(findings: &Value, table: &Table) -> usize {
    let Some(column) = table.column("Of baseline") else { return 0 };
    let value = |row: &[String]| Printed::quantity(&row[column - 1]).map(|(value, _)| value);
    let mut baselines = table.rows.iter().filter(|row| row[column] == "baseline");
    let (Some(baseline), None) = (baselines.next(), baselines.next()) else { return 0 };
    let mut changes = 0;
    for row in table.rows.iter().filter(|row| !["baseline", "-"].contains(&row[column].as_str())) {
        let Some((own, reference)) = value(row).zip(value(baseline)) else { continue };
        let ratio = Printed::ratio(&row[column]).expect("a ratio").0;
        let change = Change { own, reference, ratio, judgement: printed_judgement(&row[column]) };
        let mut same =
            list(findings, "results").iter().filter(|it| own.rounds(number(&it["value"]["estimate"])));
        let same = same.any(|it| !it["against_baseline"].is_null() && change.check(&it["against_baseline"]));
        assert!(same, "{row:?}\n{baseline:?}");
        changes += 1;
    }
    changes
}

fn check_pairs(findings: &Value, table: &Table) -> usize {
    let with = |word| table.column(&format!("{word} vhost")).filter(|_| table.section == "Effect of vhost");
    let Some((without, with)) = with("Without").zip(with("With")) else { return 0 };
    let pairs = || list(findings, "matched_pairs").iter().flat_map(|it| list(it, "pairs"));
    for row in &table.rows {
        let value = |column: usize| Printed::quantity(&row[column]).expect("a value").0;
        let ratio = Printed::ratio(&row[with + 1]).expect("a ratio").0;
        let judgement = printed_judgement(&row[with + 1]);
        let change = Change { own: value(with), reference: value(without), ratio, judgement };
        assert!(pairs().any(|pair| change.check(&pair["change"])), "{row:?}");
    }
    table.rows.len()
}

fn estimate(findings: &Value, id: &Value) -> f64 {
    let result = list(findings, "results").iter().find(|result| result["id"] == *id);
    number(&result.expect("a result")["value"]["estimate"])
}

fn printed(values: &[(&str, Printed)], exact: f64) -> Printed {
    let value = values.iter().map(|(_, value)| *value).find(|value| value.rounds(exact));
    value.unwrap_or_else(|| panic!("{exact} is not among {values:?}"))
}

fn check_effects(findings: &Value, table: &Table, values: &[(&str, Printed)]) -> usize {
    if table.section != "Effect of each setting" {
        return 0;
    }
    let columns = ["Ratio", "Change"].map(|title| table.column(title).expect("a column"));
    assert_eq!(table.rows.len(), list(findings, "effects").len(), "{table:?}");
    for (row, effect) in table.rows.iter().zip(list(findings, "effects")) {
        let [own, reference] =
            ["result", "reference_result"].map(|name| printed(values, estimate(findings, &effect[name])));
        let ratio = Printed::ratio(&row[columns[0]]).expect("a ratio").0;
        let (difference, judgement) = (&row[columns[1]], printed_judgement(&row[columns[1]]));
        assert!(Change { own, reference, ratio, judgement }.check(&effect["change"]), "{row:?}: {effect}");
        Printed::quantity(difference).expect("a difference").0.check_difference(own, reference);
    }
    table.rows.len()
}

/// Checks changes such as `vxlan −41.8 %` in the summary.
fn check_layers(findings: &Value, page: &str) -> usize {
    let workloads = || list(&findings["verdict"], "workloads").iter();
    let layers = || workloads().flat_map(|workload| list(workload, "layers"));
    let names: BTreeSet<String> = layers().map(|layer| format!(" {} ", joined(layer, " + "))).collect();
    let mut changes = 0;
    for (at, name) in names.iter().flat_map(|name| page.match_indices(name.as_str())) {
        let after = &page[at + name.len()..];
        let Some((ratio, _)) = Printed::ratio(after).filter(|_| after.starts_with(['−', '+'])) else {
            continue;
        };
        let mut same = layers().filter(|layer| format!(" {} ", joined(layer, " + ")).ends_with(name));
        assert!(same.any(|layer| ratio.rounds(number(&layer["cost"]["ratio"]))), "{name}: {ratio:?}");
        changes += 1;
    }
    changes
}

fn check_answer(findings: &Value, page: &str, values: &[(&str, Printed)]) -> usize {
    let workloads = list(&findings["verdict"], "workloads").iter();
    let mut changes = 0;
    for workload in workloads.filter(|workload| !workload["change"].is_null()) {
        let change = &workload["change"];
        let lead = format!("{}: {}", text(workload, "workload"), text(change, "what"));
        let Some((_, after)) = page.split_once(&lead) else { continue };
        let mut starts = after.char_indices().filter(|(_, sign)| *sign == ' ').map(|(at, _)| &after[at..]);
        let (ratio, _) = starts.find_map(Printed::ratio).expect("a change");
        let [own, reference] =
            ["result", "reference"].map(|name| printed(values, estimate(findings, &change[name])));
        ratio.check_ratio(own, reference);
        assert!(ratio.rounds(number(&change["change"]["ratio"])), "{ratio:?}: {change}");
        changes += 1;
    }
    changes
}

/// Checks that all pages have the numbers of the Markdown page, with the same judgements. In a terminal, narrow columns
/// may break a cell before its brackets.
fn check_same_cells(table: &Table, pages: &[(&str, String)]) {
    for (format, page) in pages {
        let shown = |cell: &&String| match *format {
            "terminal" => page.contains(cell.split(" (").next().unwrap_or_default()),
            _ => page.contains(cell.as_str()),
        };
        let is_number =
            |cell: &&String| cell.starts_with(|sign: char| sign.is_ascii_digit() || "+−".contains(sign));
        let missing = table.rows.iter().flatten().filter(is_number).find(|cell| !shown(cell));
        assert_eq!(missing, None, "{format}: {page}");
    }
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

/// A comparison with its result and its reference.
type Compared<'a> = (&'a str, &'a str, &'a Value);

fn of_baselines(findings: &Value) -> Vec<Compared<'_>> {
    let results = list(findings, "results");
    let compared = results.iter().filter(|result| !result["against_baseline"].is_null()).map(|result| {
        let is_own = |it: &&Value| it["baseline"] == true && it["workload"] == result["workload"];
        let baseline = results.iter().find(is_own).expect("a baseline");
        (text(result, "id"), text(baseline, "id"), &result["against_baseline"])
    });
    compared.collect()
}

fn of_layers_settings_and_pairs(findings: &Value) -> Vec<Compared<'_>> {
    let steps = list(findings, "cost_breakdowns").iter().flat_map(|breakdown| {
        let steps = list(breakdown, "steps");
        steps.iter().filter(|step| !step["cost"].is_null()).map(move |step| {
            let below = steps.iter().find(|it| it["path"] == step["below"]).expect("a step below");
            (text(step, "result"), text(below, "result"), &step["cost"])
        })
    });
    let effects = list(findings, "effects").iter();
    let effects = effects.map(|it| (text(it, "result"), text(it, "reference_result"), &it["change"]));
    let pairs = list(findings, "matched_pairs").iter().flat_map(|it| list(it, "pairs"));
    let pairs = pairs.map(|it| (text(it, "with"), text(it, "without"), &it["change"]));
    steps.chain(effects).chain(pairs).collect()
}

/// Checks that each comparison follows from its two values and is the same wherever it appears.
fn check_comparisons(findings: &Value) {
    let ranks = list(findings, "rankings").iter().flat_map(|ranking| {
        let best = &list(ranking, "ranks")[0];
        let others = list(ranking, "ranks").iter().filter(|rank| !rank["against_best"].is_null());
        others.map(|rank| (text(rank, "result"), text(best, "result"), &rank["against_best"]))
    });
    let workloads = list(&findings["verdict"], "workloads").iter();
    let changes = workloads.map(|it| &it["change"]).filter(|change| !change.is_null());
    let changes = changes.map(|it| (text(it, "result"), text(it, "reference"), &it["change"]));
    let all = of_baselines(findings).into_iter().chain(of_layers_settings_and_pairs(findings));
    let mut known: BTreeMap<(&str, &str), &Value> = BTreeMap::new();
    for (result, reference, comparison) in all.chain(ranks).chain(changes) {
        let [own, other] = [result, reference].map(|id| estimate(findings, &id.into()));
        let ratio = number(&comparison["ratio"]);
        assert!((ratio * other - own).abs() <= 1e-9 * own.abs(), "{result}, {reference}: {comparison}");
        let difference = number(&comparison["difference"]);
        assert!((difference - (own - other)).abs() <= 1e-9 * own.max(other), "{result}: {comparison}");
        let first = known.entry((result, reference)).or_insert(comparison);
        assert_eq!(*first, comparison, "{result}, {reference}");
    }
}

/// The comparisons that the verdict counts. A baseline counts where nothing else is compared.
fn counted(findings: &Value) -> Vec<Compared<'_>> {
    let results = list(findings, "results");
    let workload = |id: &str| &results.iter().find(|it| it["id"] == id).expect("a result")["workload"];
    let mut all = of_layers_settings_and_pairs(findings);
    let ranked = list(findings, "rankings").iter().map(|ranking| &ranking["workload"]);
    let known: Vec<&Value> = all.iter().map(|(result, ..)| workload(result)).chain(ranked).collect();
    let baselines = of_baselines(findings).into_iter();
    all.extend(baselines.filter(|(result, ..)| !known.contains(&workload(result))));
    all
}

fn check_counts(findings: &Value, pages: &[(&str, String)]) {
    let (run, verdict) = (&findings["run"], &findings["verdict"]);
    let reasons = list(&verdict["trust"], "reasons").iter().find(|reason| reason["kind"] == "unclear");
    for (format, page) in pages {
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
    let counted = counted(findings);
    let unclear = counted.iter().filter(|(.., change)| change["verdict"] == "unclear").count();
    let decided = counted.len() - unclear;
    assert_eq!(verdict["comparisons"], serde_json::json!({ "decided": decided, "open": unclear }));
    let of_reason = reasons
        .map_or((0, counted.len()), |it| (number(&it["comparisons"]) as usize, number(&it["of"]) as usize));
    assert_eq!(of_reason, (unclear, counted.len()), "{verdict}");
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
        let is_marked = [page.contains("within one trial"), page.contains(")*")];
        assert_eq!(is_marked, [within; 2], "{format}: {page}");
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
    let mut counts = BTreeMap::new();
    for sandbox in every_run().chain(varied_runs()) {
        let findings = sandbox.findings("latest");
        let rows = Csv::reported(&sandbox, "csv");
        let tables = Table::all(&report(&sandbox, "markdown"));
        let values = values(&tables);
        let pages = pages(&sandbox);
        check_comparisons(&findings);
        check_counts(&findings, &pages);
        check_marks(&findings, &pages);
        let mut count = |name: &'static str, more: usize| *counts.entry(name).or_insert(0) += more;
        count("rows", check_rows(&sandbox, &rows));
        count("steps", check_steps(&findings));
        count("values", values.len());
        for table in &tables {
            if table.section == "Results" || table.section.starts_with("Effect of ") {
                check_same_cells(table, &pages);
            }
            count("of a baseline", check_of_baseline(&findings, table));
            count("pairs", check_pairs(&findings, table));
            count("effects", check_effects(&findings, table, &values));
        }
        let layers = pages.each_ref().map(|(_, page)| check_breakdowns(&findings, page));
        assert!(layers[0] == layers[1] && layers[2] >= layers[1], "{layers:?}");
        for (format, page) in &pages {
            count(format, check_layers(&findings, page));
            count("answers", check_answer(&findings, page, &values));
        }
        count("layers", layers[1]);
    }
    assert!(counts.values().all(|count| *count > 4), "{counts:?}");
}

/// Checks the tables of all results, which have a ratio, and the details, which have a difference.
fn check_compared_rows(comparison: &Value, table: &Table) -> usize {
    let [Some(a), Some(b)] = ["A", "B"].map(|title| table.column(title)) else { return 0 };
    let (ratios, differences) = (table.column("B/A"), table.column("B − A"));
    let mut checked = 0;
    for row in &table.rows {
        let value = |column: usize| Printed::quantity(&row[column]).expect("a value").0;
        if let Some(column) = ratios.filter(|column| row[*column] != "-") {
            let ratio = Printed::ratio(&row[column]).expect("a ratio").0;
            ratio.check_ratio(value(b), value(a));
            let word = row.last().expect("a verdict");
            let same = list(comparison, "results").iter().any(|it| {
                let is_own = value(a).rounds(number(&it["a"]["estimate"]))
                    && value(b).rounds(number(&it["b"]["estimate"]))
                    && ratio.rounds(it["comparison"]["ratio"].as_f64().unwrap_or_default());
                is_own && word.contains(text(it, "verdict"))
            });
            assert!(same, "{row:?}: {comparison}");
            checked += 1;
        }
        if let Some(column) = differences.filter(|column| row[*column] != "-") {
            Printed::quantity(&row[column]).expect("a difference").0.check_difference(value(b), value(a));
            checked += 1;
        }
    }
    checked
}

fn check_compared_values(comparison: &Value, rows: &Csv) {
    assert_eq!(rows.rows.len(), list(comparison, "results").len());
    for (row, result) in list(comparison, "results").iter().enumerate() {
        let field = |column: &str| rows.field(row, column).parse::<f64>().ok();
        let [a, b] = ["a", "b"].map(|run| number(&result[run]["estimate"]));
        assert_eq!([field("a_value"), field("b_value")], [Some(a), Some(b)], "{result}");
        assert_eq!(rows.field(row, "verdict"), result["verdict"], "{result}");
        let (ratio, difference) = (&result["comparison"]["ratio"], &result["comparison"]["difference"]);
        assert_eq!([field("ratio"), field("difference")], [ratio.as_f64(), difference.as_f64()], "{result}");
        let Some(ratio) = ratio.as_f64() else { continue };
        assert!((ratio * a - b).abs() <= 1e-9 * b.abs(), "{result}");
        assert!((number(difference) - (b - a)).abs() <= 1e-9 * a.max(b), "{result}");
    }
}

pub(crate) fn compared_runs_agree_in_every_format() {
    let mut checked = 0;
    for seeds in [[1, 2], [3, 4], [5, 5]] {
        let sandbox = sandbox();
        let files = ["a.json", "b.json"].into_iter().zip(seeds);
        let [a, b] =
            &files.map(|(name, seed)| sandbox.file(name, &varied(seed).to_string())).collect::<Vec<_>>()[..]
        else {
            unreachable!("two runs")
        };
        let shown = |format: &str| paged(&sandbox, &["compare", a, b, "--format", format]);
        let comparison: Value = serde_json::from_str(&shown("json")).expect("JSON");
        check_compared_values(&comparison, &Csv::read(&shown("csv")));
        let markdown = shown("markdown");
        let pages = ["terminal", "html"].map(|format| (format, words(format, &shown(format))));
        for table in Table::all(&markdown) {
            checked += check_compared_rows(&comparison, &table);
            if ["All results", "Guarded metrics"].contains(&table.section.as_str()) {
                check_same_cells(&table, &pages);
            }
        }
    }
    assert!(checked > 30, "{checked}");
}
