//! Mutates built-in scenarios. Each mutant must either parse or produce diagnostics with valid positions.

use miette::{GraphicalReportHandler, GraphicalTheme};
use proptest::prelude::*;
use scenario::{Plan, PlanOptions, Scenario, builtin};

/// Positions are fractions of the text's length, so that they apply to any text.
#[derive(Debug, Clone)]
enum Mistake {
    DeleteLine(f64),
    RepeatLine(f64),
    SwapLines(f64, f64),
    DeleteToken(f64),
    RepeatToken(f64),
    SwapTokens(f64, f64),
    ReplaceToken(f64, String),
    CutAt(f64),
    Bytes(f64, Vec<u8>),
    ReplaceValue(f64, String),
    SwapValues(f64, f64),
    DeleteTable(f64),
}

/// Mutations that usually leave the TOML valid, so that they reach the semantic checks.
fn plausible_mistake() -> impl Strategy<Value = Mistake> {
    let at = || 0.0..1.0_f64;
    prop_oneof![
        (at(), word()).prop_map(|(at, word)| Mistake::ReplaceValue(at, word)),
        (at(), at()).prop_map(|(one, other)| Mistake::SwapValues(one, other)),
        at().prop_map(Mistake::DeleteTable),
        at().prop_map(Mistake::DeleteLine),
    ]
}

fn mistake() -> impl Strategy<Value = Mistake> {
    let at = || 0.0..1.0_f64;
    prop_oneof![
        at().prop_map(Mistake::DeleteLine),
        at().prop_map(Mistake::RepeatLine),
        (at(), at()).prop_map(|(one, other)| Mistake::SwapLines(one, other)),
        at().prop_map(Mistake::DeleteToken),
        at().prop_map(Mistake::RepeatToken),
        (at(), at()).prop_map(|(one, other)| Mistake::SwapTokens(one, other)),
        (at(), word()).prop_map(|(at, word)| Mistake::ReplaceToken(at, word)),
        at().prop_map(Mistake::CutAt),
        (at(), prop::collection::vec(any::<u8>(), 1..8)).prop_map(|(at, bytes)| Mistake::Bytes(at, bytes)),
    ]
}

fn word() -> impl Strategy<Value = String> {
    let words = vec![
        "0",
        "1",
        "-1",
        "4294967295",
        "18446744073709551616",
        "1.5",
        "true",
        "\"\"",
        "\"none\"",
        "\"node1\"",
        "\"app\"",
        "\"eth0\"",
        "\"vx0\"",
        "\"cni0\"",
        "\"node1:eth0\"",
        "\"pve:vmbr0\"",
        "\"198.18.1.1/24\"",
        "\"198.18.64.1\"",
        "\"0.0.0.0/0\"",
        "\"198.18.0.0/15\"",
        "\"255.255.255.255/32\"",
        "\"1ns\"",
        "\"99999h\"",
        "\"512KiB\"",
        "\"off\"",
        "\"stream\"",
        "\"ping-pong\"",
        "\"connect\"",
        "\"udp\"",
        "\"limit\"",
        "\"spin\"",
        "\"open\"",
        "\"schedule\"",
        "\"all\"",
        "[\"packet-way\"]",
        "[probes]",
        "\"rate\"",
        "\"unlimited\"",
        "{ client = [0], server = [] }",
        "{ mode = \"limit\", rate = \"1Gbit/s\" }",
        "\"mtu\"",
        "\"streams\"",
        "\"offload\"",
        "[]",
        "{}",
        "[[routes]]",
        "[hosts]",
        "[hosts.pve.x]",
        "mtu",
        "bridge",
        "host",
        "via",
        "1979-05-27",
        "\"ü\u{1f600}\"",
        "nan",
    ];
    prop_oneof![4 => prop::sample::select(words).prop_map(str::to_owned), 1 => ".{0,12}"]
}

impl Mistake {
    fn make(&self, text: &str) -> String {
        let lines = || text.split_inclusive('\n').map(str::to_owned).collect::<Vec<String>>();
        match self {
            Self::DeleteLine(at) => without(lines(), *at),
            Self::RepeatLine(at) => twice(lines(), *at),
            Self::SwapLines(one, other) => swapped(lines(), *one, *other),
            Self::ReplaceValue(at, word) => with_values(lines(), |values| {
                if let Some(place) = place(values, *at) {
                    values[place] = format!("{word}\n");
                }
            }),
            Self::SwapValues(one, other) => with_values(lines(), |values| {
                if let (Some(one), Some(other)) = (place(values, *one), place(values, *other)) {
                    values.swap(one, other);
                }
            }),
            Self::DeleteTable(at) => {
                without(text.split("\n\n").map(|block| format!("{block}\n\n")).collect(), *at)
            }
            Self::DeleteToken(at) => without(tokens(text), *at),
            Self::RepeatToken(at) => twice(tokens(text), *at),
            Self::SwapTokens(one, other) => swapped(tokens(text), *one, *other),
            Self::ReplaceToken(at, word) => {
                let mut tokens = tokens(text);
                if let Some(place) = place(&tokens, *at) {
                    tokens[place].clone_from(word);
                }
                tokens.concat()
            }
            Self::CutAt(at) => String::from_utf8_lossy(&text.as_bytes()[..byte(text, *at)]).into_owned(),
            Self::Bytes(at, bytes) => {
                let (before, after) = text.as_bytes().split_at(byte(text, *at));
                String::from_utf8_lossy(&[before, bytes, after].concat()).into_owned()
            }
        }
    }
}

fn with_values(lines: Vec<String>, change: impl FnOnce(&mut Vec<String>)) -> String {
    let (places, mut values): (Vec<usize>, Vec<String>) = lines
        .iter()
        .enumerate()
        .filter_map(|(index, line)| Some((index, line.split_once(" = ")?.1.to_owned())))
        .unzip();
    change(&mut values);
    let mut lines = lines;
    for (index, value) in places.into_iter().zip(values) {
        let key = lines[index].split_once(" = ").expect("the line has a value").0.to_owned();
        lines[index] = format!("{key} = {value}");
    }
    lines.concat()
}

fn byte(text: &str, at: f64) -> usize {
    (text.len() as f64 * at) as usize
}

fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = vec![String::new()];
    let mut quoted = false;
    for c in text.chars() {
        let plain = c.is_alphanumeric() || matches!(c, '-' | '_');
        let inside = tokens
            .last()
            .is_some_and(|last| last.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_')));
        if !(quoted || plain && inside) {
            tokens.push(String::new());
        }
        quoted ^= c == '"';
        tokens.last_mut().expect("never empty").push(c);
    }
    tokens
}

fn place(parts: &[String], at: f64) -> Option<usize> {
    (!parts.is_empty()).then(|| ((parts.len() as f64 * at) as usize).min(parts.len() - 1))
}

fn without(mut parts: Vec<String>, at: f64) -> String {
    if let Some(place) = place(&parts, at) {
        parts.remove(place);
    }
    parts.concat()
}

fn twice(mut parts: Vec<String>, at: f64) -> String {
    if let Some(place) = place(&parts, at) {
        parts.insert(place, parts[place].clone());
    }
    parts.concat()
}

fn swapped(mut parts: Vec<String>, one: f64, other: f64) -> String {
    if let (Some(one), Some(other)) = (place(&parts, one), place(&parts, other)) {
        parts.swap(one, other);
    }
    parts.concat()
}

fn check(text: &str) -> Result<bool, TestCaseError> {
    let diagnosis = match Scenario::parse("mutated", text) {
        Ok(scenario) => {
            let plan = Plan::expand(&scenario, 1, &PlanOptions { trials: Some(1), ..PlanOptions::default() });
            prop_assert!(plan.results.iter().any(|result| result.baseline));
            for result in &plan.results {
                let path =
                    scenario.paths.iter().find(|path| path.name == result.path).expect("the path exists");
                prop_assert!(path.mtu(&scenario.lab, &result.devices) >= 526);
            }
            return Ok(true);
        }
        Err(diagnosis) => diagnosis,
    };
    let lines: Vec<&str> = text.split('\n').collect();
    prop_assert!(diagnosis.problems().next().is_some(), "error without a problem");
    for problem in diagnosis.problems() {
        prop_assert!((1..=lines.len()).contains(&problem.line), "line {} of {}", problem.line, lines.len());
        let columns = lines[problem.line - 1].chars().count() + 1;
        prop_assert!((1..=columns).contains(&problem.column), "column {} of {columns}", problem.column);
        prop_assert!(!problem.message.is_empty());
    }
    let mut shown = String::new();
    GraphicalReportHandler::new_themed(GraphicalTheme::none())
        .render_report(&mut shown, &diagnosis)
        .expect("writes to a string");
    Ok(false)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reports_positions_of_mutated_text(
        original in prop::sample::select(builtin::all().to_vec()),
        mistakes in prop::collection::vec(mistake(), 1..4),
    ) {
        let text = mistakes.iter().fold(original.text.to_owned(), |text, mistake| mistake.make(&text));
        check(&text)?;
    }

    #[test]
    fn reports_positions_of_mutated_values(
        original in prop::sample::select(builtin::all().to_vec()),
        mistakes in prop::collection::vec(plausible_mistake(), 1..4),
    ) {
        let text = mistakes.iter().fold(original.text.to_owned(), |text, mistake| mistake.make(&text));
        check(&text)?;
    }

    #[test]
    fn reports_positions_of_arbitrary_text(text in "\\PC{0,200}") {
        prop_assert!(!check(&text)?, "the text parsed as a scenario");
    }
}

#[test]
fn tokens_concatenate_to_the_text() {
    for original in builtin::all() {
        assert_eq!(tokens(original.text).concat(), original.text);
    }
}

#[test]
fn rejects_deep_nesting_and_empty_text() {
    for text in
        ["", "\n", "\u{feff}", &"[".repeat(5000), &format!("x = {}", "[".repeat(100_000)), &"a.".repeat(5000)]
    {
        assert!(!check(text).expect("diagnostics are valid"));
    }
}
