//! JSON documents within a text: where one begins, ends, or breaks off.
//! Must not know what a document means.

use std::{borrow::Cow, collections::BTreeMap, ops::RangeInclusive};

use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::{
    format::{Claim, Out},
    lines::LONGEST,
    prefix,
};

/// A format of JSON documents. It is offered every document that no other format took.
pub(crate) trait Document {
    /// Takes the document, or leaves it to others.
    fn read(&mut self, text: &str, lines: RangeInclusive<u64>, out: &mut Out) -> Claim;

    /// No more documents belong to what is under way: a heading or the end of the file.
    fn end(&mut self, out: &mut Out);
}

/// Collects the lines of a document until its braces balance.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    text: String,
    first: u64,
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// What stands before its lines is taken off, as off its first.
    prefixed: bool,
    /// Its lines are indented, so that one that is not begins something else.
    indented: bool,
}

/// What became of a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LineOutcome {
    /// Documents that end with it, each with its lines: some write `}{` between them, or an array of them.
    pub(crate) documents: Vec<(String, RangeInclusive<u64>)>,
    /// A document that was under way broke off before this line.
    pub(crate) broken: Option<RangeInclusive<u64>>,
    /// Whether it is a document's; else it is yet to be looked at.
    pub(crate) claim: Claim,
}

impl Collector {
    /// Whether a document is under way.
    pub(crate) const fn is_open(&self) -> bool {
        self.depth > 0
    }

    /// Takes a line.
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

    /// What a line adds to the document under way, and those that begin behind it.
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
            // `{` alone may begin anything with braces: only what goes on as JSON does is a document.
            let after = text.trim_start().strip_prefix('{').map(str::trim_start);
            if after.is_some_and(|after| after.starts_with(['"', '}'])) {
                outcome.documents.push((text, lines));
            } else {
                outcome.claim = Claim::Declined;
            }
        }
    }

    /// The end of the file: what was under way broke off.
    pub(crate) fn end(&mut self, last: u64) -> Option<RangeInclusive<u64>> {
        self.is_open().then(|| self.broken(last))
    }

    fn broken(&mut self, last: u64) -> RangeInclusive<u64> {
        let first = self.first;
        *self = Self::default();
        first..=last.max(first)
    }

    /// Where the document ends, if it does.
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

    /// Whether no document goes on like this: a line of its own that begins with what no JSON value does, another
    /// document, or more than is kept.
    fn breaks(&self, line: &str) -> bool {
        let begins_another = line.starts_with('{') && self.indented;
        let text = line.trim_start();
        let is_value = |sign: char| matches!(sign, '"' | '{' | '}' | '[' | ']' | ',' | ':' | '-' | '0'..='9');
        let words = ["true", "false", "null"];
        let foreign = text.chars().next().is_some_and(|sign| !is_value(sign))
            && !words.iter().chain(&NO_NUMBERS).any(|word| text.starts_with(word));
        begins_another || foreign || self.text.len() + line.len() > LONGEST
    }
}

/// What follows the end of a document or the begin of an array.
fn between(line: &str) -> &str {
    line.trim_start_matches([' ', '\t', ',', '[', ']'])
}

/// Whether a document may begin here: what follows the brace, if anything, is JSON's.
fn begins(line: &str) -> bool {
    let Some(after) = line.trim_start().strip_prefix('{') else { return false };
    let after = after.trim_start();
    after.is_empty() || after.starts_with(['"', '}'])
}

/// What C and Python write for what is no number; JSON has no word for it.
const NO_NUMBERS: [&str; 8] = ["-nan", "nan", "-inf", "inf", "NaN", "-NaN", "-Infinity", "Infinity"];
/// Documents stand in others so deep at most.
const DEEPEST: usize = 4;

/// What became of a document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    Read,
    /// It is of something else.
    Foreign,
    /// It looks like a log's, and nobody knows it.
    Unknown,
    /// It is no JSON.
    Invalid(String),
}

impl Reading {
    /// What the user must know of it.
    pub(crate) fn complaint(&self) -> Option<String> {
        match self {
            Self::Read | Self::Foreign => None,
            Self::Unknown => Some(
                "this JSON document looks like a log, but like none of iperf3 or flent: not read".to_owned(),
            ),
            Self::Invalid(error) => Some(format!("this is no valid JSON ({error}): not read")),
        }
    }
}

/// Offers a document, and if nobody takes it the documents in it.
pub(crate) fn read_with_parts(text: &str, read: &mut dyn FnMut(&str) -> bool) -> Reading {
    let numbers = match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(with_numbers_alone(text)),
    };
    match serde_json::from_str::<&RawValue>(&numbers) {
        Err(error) => Reading::Invalid(error.to_string()),
        Ok(value) if read_parts(value.get(), read, 0) => Reading::Read,
        Ok(_) if LOOKS.iter().any(|key| text.contains(key)) => Reading::Unknown,
        Ok(_) => Reading::Foreign,
    }
}

/// Keys of what measures.
const LOOKS: [&str; 3] = ["\"bits_per_second\"", "\"x_values\"", "\"raw_values\""];

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

/// With `null` for what is no number.
fn with_numbers_alone(text: &str) -> String {
    let mut left = String::with_capacity(text.len());
    let mut rest = text;
    let (mut in_string, mut escaped) = (false, false);
    while let Some(sign) = rest.chars().next() {
        let may_be_one = !in_string && matches!(sign, '-' | 'n' | 'N' | 'i' | 'I');
        let starts_value = || left.trim_end().ends_with([':', ',', '[']);
        if may_be_one
            && let Some(word) = NO_NUMBERS.iter().find(|word| rest.starts_with(**word))
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

    /// What came of each line: `.` nothing, `+` more must follow, `!` something broke off, else the documents' texts.
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
    fn a_document_ends_where_its_braces_balance() {
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
    fn documents_in_others_are_read_and_what_is_no_number_is_none() {
        let mut seen = Vec::new();
        let mut read = |text: &str| {
            let ours = text.contains("start") && !text.contains("runs");
            seen.extend(ours.then(|| text.to_owned()));
            ours
        };
        let text = r#"{"runs": [{"start": -nan}, [{"start": "nan, -nan"}], 1], "x": NaN}"#;
        assert_eq!(read_with_parts(text, &mut read), Reading::Read);
        assert_eq!(seen, [r#"{"start": null}"#, r#"{"start": "nan, -nan"}"#]);
        let none = &mut |_: &str| false;
        assert_eq!(read_with_parts(r#"{"a": {"bits_per_second": 1}}"#, none), Reading::Unknown);
        assert_eq!(read_with_parts(r#"{"a": 1}"#, none), Reading::Foreign);
        assert!(matches!(read_with_parts(r#"{"a": 1,}"#, none), Reading::Invalid(_)));
    }
}
