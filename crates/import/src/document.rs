//! Finds JSON documents in text, including truncated ones.

use std::{borrow::Cow, collections::BTreeMap, ops::RangeInclusive};

use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::{
    format::{Claim, Out},
    lines::LONGEST,
    prefix,
};

/// A format based on JSON documents. It gets each document that no other format has claimed.
pub(crate) trait Document {
    fn read(&mut self, text: &str, lines: RangeInclusive<u64>, out: &mut Out) -> Claim;

    fn end(&mut self, out: &mut Out);
}

#[derive(Debug, Default)]
pub(crate) struct Collector {
    text: String,
    first: u64,
    depth: usize,
    in_string: bool,
    escaped: bool,
    prefixed: bool,
    indented: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LineOutcome {
    /// Documents that end on this line, with their line ranges. Some writers put `}{` between documents or wrap them in
    /// an array.
    pub(crate) documents: Vec<(String, RangeInclusive<u64>)>,
    pub(crate) broken: Option<RangeInclusive<u64>>,
    pub(crate) claim: Claim,
}

impl Collector {
    pub(crate) const fn is_open(&self) -> bool {
        self.depth > 0
    }

    pub(crate) fn line(&mut self, line: &str, number: u64) -> LineOutcome {
        let mut outcome = LineOutcome { documents: Vec::new(), broken: None, claim: Claim::Declined };
        let mut line = if self.prefixed { prefix::stripped(line).unwrap_or(line) } else { line };
        if self.is_open() {
            if self.breaks(line) {
                outcome.broken = Some(self.broken(number - 1));
                return outcome;
            }
            self.indented |= line.starts_with([' ', '\t']);
        } else if !begins(between(line)) {
            match prefix::stripped(line).filter(|bare| begins(between(bare))) {
                Some(bare) => (line, self.prefixed) = (bare, true),
                None => return outcome,
            }
        }
        self.take(line, number, &mut outcome);
        outcome
    }

    fn take(&mut self, line: &str, number: u64, outcome: &mut LineOutcome) {
        let mut rest = line;
        loop {
            if !self.is_open() {
                rest = between(rest);
                if !begins(rest) {
                    return;
                }
                self.first = number;
            }
            let end = self.follow(rest);
            if self.in_string {
                outcome.broken = Some(self.broken(number));
                outcome.claim = Claim::Declined;
                return;
            }
            self.text.push_str(&rest[..end.unwrap_or(rest.len())]);
            self.text.push('\n');
            outcome.claim = Claim::Claimed;
            let Some(end) = end else { return };
            rest = &rest[end..];
            let (text, lines) = (std::mem::take(&mut self.text), self.first..=number);
            *self = Self { prefixed: self.prefixed, ..Self::default() };
            // A single `{` may open any block. Wait until JSON follows.
            let after = text.trim_start().strip_prefix('{').map(str::trim_start);
            if after.is_some_and(|after| after.starts_with(['"', '}'])) {
                outcome.documents.push((text, lines));
            } else {
                outcome.claim = Claim::Declined;
            }
        }
    }

    pub(crate) fn end(&mut self, last: u64) -> Option<RangeInclusive<u64>> {
        self.is_open().then(|| self.broken(last))
    }

    fn broken(&mut self, last: u64) -> RangeInclusive<u64> {
        let first = self.first;
        *self = Self::default();
        first..=last.max(first)
    }

    fn follow(&mut self, line: &str) -> Option<usize> {
        for (at, byte) in line.bytes().enumerate() {
            match (self.in_string, byte) {
                (true, _) if self.escaped => self.escaped = false,
                (true, b'\\') => self.escaped = true,
                (_, b'"') => self.in_string = !self.in_string,
                (false, b'{') => self.depth += 1,
                (false, b'}') => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Returns whether the line cannot continue the document, because it does not look like JSON, starts another
    /// document, or exceeds the size limit.
    fn breaks(&self, line: &str) -> bool {
        let begins_another = line.starts_with('{') && self.indented;
        let text = line.trim_start();
        let is_value = |sign: char| matches!(sign, '"' | '{' | '}' | '[' | ']' | ',' | ':' | '-' | '0'..='9');
        let words = ["true", "false", "null"];
        let foreign = text.chars().next().is_some_and(|sign| !is_value(sign))
            && !words.iter().chain(&NON_FINITE).any(|word| text.starts_with(word));
        begins_another || foreign || self.text.len() + line.len() > LONGEST
    }
}

fn between(line: &str) -> &str {
    line.trim_start_matches([' ', '\t', ',', '[', ']'])
}

fn begins(line: &str) -> bool {
    let Some(after) = line.trim_start().strip_prefix('{') else { return false };
    let after = after.trim_start();
    after.is_empty() || after.starts_with(['"', '}'])
}

/// Non-finite numbers as printed by C and Python, which JSON does not allow.
const NON_FINITE: [&str; 8] = ["-nan", "nan", "-inf", "inf", "NaN", "-NaN", "-Infinity", "Infinity"];
const DEEPEST: usize = 4;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    Read,
    Foreign,
    Unknown(&'static str),
    Invalid(String),
}

impl Reading {
    pub(crate) fn complaint(&self) -> Option<String> {
        match self {
            Self::Read | Self::Foreign => None,
            Self::Unknown("") => {
                Some("skipped: this JSON document looks like a log, but not of iperf3 or flent".to_owned())
            }
            Self::Unknown(tool) => Some(format!("skipped output of {tool}, which is not supported")),
            Self::Invalid(error) => Some(format!("skipped: invalid JSON ({error})")),
        }
    }
}

pub(crate) fn read_with_parts(text: &str, read: &mut dyn FnMut(&str) -> bool) -> Reading {
    let numbers = match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(without_non_finite(text)),
    };
    match serde_json::from_str::<&RawValue>(&numbers) {
        Err(error) => Reading::Invalid(error.to_string()),
        Ok(value) if read_parts(value.get(), read, 0) => Reading::Read,
        Ok(_) => {
            let looks = LOOKS.iter().find(|(key, _)| text.contains(key));
            looks.map_or(Reading::Foreign, |(_, tool)| Reading::Unknown(tool))
        }
    }
}

/// Keys that suggest a measurement, and the tool that writes each.
const LOOKS: [(&str, &str); 7] = [
    ("\"throughput_mbps\"", "xfr"),
    ("\"ipdv_round_trip\"", "irtt"),
    ("\"BitsPerSecond\"", "ethr"),
    ("\"bits_per_second\"", ""),
    ("\"x_values\"", ""),
    ("\"raw_values\"", ""),
    ("\"ntttcps\"", "ntttcp"),
];

fn read_parts(text: &str, read: &mut dyn FnMut(&str) -> bool, depth: usize) -> bool {
    if text.starts_with('{') && read(text) {
        return true;
    }
    if depth == DEEPEST {
        return false;
    }
    let parts: Vec<&RawValue> = if text.starts_with('{') {
        let parts = serde_json::from_str::<BTreeMap<Cow<'_, str>, &RawValue>>(text);
        parts.unwrap_or_default().into_values().collect()
    } else {
        serde_json::from_str(text).unwrap_or_default()
    };
    let mut any = false;
    for part in parts.iter().map(|part| part.get()).filter(|part| part.starts_with(['{', '['])) {
        any |= read_parts(part, read, depth + 1);
    }
    any
}

fn without_non_finite(text: &str) -> String {
    let mut left = String::with_capacity(text.len());
    let mut rest = text;
    let (mut in_string, mut escaped) = (false, false);
    while let Some(sign) = rest.chars().next() {
        let may_be_one = !in_string && matches!(sign, '-' | 'n' | 'N' | 'i' | 'I');
        let starts_value = || left.trim_end().ends_with([':', ',', '[']);
        if may_be_one
            && let Some(word) = NON_FINITE.iter().find(|word| rest.starts_with(**word))
            && starts_value()
        {
            left.push_str("null");
            rest = &rest[word.len()..];
            continue;
        }
        match (in_string, sign) {
            (true, _) if escaped => escaped = false,
            (true, '\\') => escaped = true,
            (_, '"') => in_string = !in_string,
            _ => {}
        }
        left.push(sign);
        rest = &rest[sign.len_utf8()..];
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shows the outcome per line: documents, `+` for an incomplete document, `!` for a truncated one, and `.`
    /// otherwise.
    fn collect(text: &str) -> Vec<String> {
        let mut collector = Collector::default();
        let mut all = Vec::new();
        for (line, number) in text.lines().zip(1..) {
            let outcome = collector.line(line, number);
            all.extend(outcome.broken.map(|lines| format!("!{lines:?}")));
            let documents: Vec<&str> = outcome.documents.iter().map(|(text, _)| text.trim_end()).collect();
            all.push(match (outcome.claim, &documents[..]) {
                (Claim::Declined, _) => ".".to_owned(),
                (Claim::Claimed, []) => "+".to_owned(),
                (Claim::Claimed, documents) => documents.join("|"),
            });
        }
        all.extend(collector.end(text.lines().count() as u64).map(|lines| format!("!{lines:?}")));
        all
    }

    #[test]
    fn document_ends_when_its_braces_balance() {
        for (text, expected) in [
            ("x\n{\"a\": {}}\n", vec![".", "{\"a\": {}}"]),
            ("{\n\t\"a\": \"}\\\"{\"\n}\n", vec!["+", "+", "{\n\t\"a\": \"}\\\"{\"\n}"]),
            ("{\n  // code\n", vec!["+", "!1..=1", "."]),
            ("{\n\t\"a\": 1,\n{\"b\": 2}\n", vec!["+", "+", "!1..=2", "."]),
            ("{\n\t\"a\": \"cut off\n", vec!["+", "!1..=2", "."]),
            ("{\n\t\"a\": 1,\n", vec!["+", "+", "!1..=2"]),
            ("{ nothing of ours }\n", vec!["."]),
            ("[{\"a\": 1}, {\"b\": 2}]\n", vec!["{\"a\": 1}|{\"b\": 2}"]),
            ("[\n  {\n    \"a\": 1\n  },\n  {}\n]\n", vec![".", "+", "+", "{\n    \"a\": 1\n  }", "{}", "."]),
            (
                "{\n  \"a\": 1\n}{\n  \"b\": 2\n}\n",
                vec!["+", "+", "{\n  \"a\": 1\n}", "+", "{\n  \"b\": 2\n}"],
            ),
            ("{\n\"a\":\n{\n\"b\": 1\n}\n}\n", vec!["+", "+", "+", "+", "+", "{\n\"a\":\n{\n\"b\": 1\n}\n}"]),
            ("01:30:50 {\n01:30:51  \"a\": 1}\n", vec!["+", "{\n \"a\": 1}"]),
            ("{\"a\": 1} and so on\n", vec!["{\"a\": 1}"]),
        ] {
            assert_eq!(collect(text), expected, "{text}");
        }
    }

    #[test]
    fn reads_nested_documents_and_replaces_non_finite_numbers() {
        let mut offered = Vec::new();
        let mut read = |text: &str| {
            let ours = text.contains("start") && !text.contains("runs");
            offered.extend(ours.then(|| text.to_owned()));
            ours
        };
        let text = r#"{"runs": [{"start": -nan}, [{"start": "nan, -nan"}], 1], "x": NaN}"#;
        assert_eq!(read_with_parts(text, &mut read), Reading::Read);
        assert_eq!(offered, [r#"{"start": null}"#, r#"{"start": "nan, -nan"}"#]);
        let none = &mut |_: &str| false;
        assert_eq!(read_with_parts(r#"{"a": {"bits_per_second": 1}}"#, none), Reading::Unknown(""));
        assert_eq!(read_with_parts(r#"{"a": 1}"#, none), Reading::Foreign);
        assert!(matches!(read_with_parts(r#"{"a": 1,}"#, none), Reading::Invalid(_)));
    }
}
