//! JSON documents within a text: where one begins, ends, or breaks off.
//! Must not know what a document means.

use std::ops::RangeInclusive;

use crate::{
    format::{Claim, Out},
    lines::LONGEST,
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
}

/// What became of a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LineOutcome {
    /// It is no part of a document.
    No,
    /// It is, and more must follow.
    More,
    /// The document that ends with it.
    Document { text: String, lines: RangeInclusive<u64> },
    /// The document that was under way broke off before this line, which is yet to be looked at.
    Broken { lines: RangeInclusive<u64> },
}

impl Collector {
    /// Whether a document is under way.
    pub(crate) const fn is_open(&self) -> bool {
        self.depth > 0
    }

    /// Takes a line.
    pub(crate) fn line(&mut self, line: &str, number: u64) -> LineOutcome {
        if self.is_open() {
            if breaks(line, self.text.len()) {
                return self.broken(number - 1);
            }
        } else if begins(line) {
            self.first = number;
        } else {
            return LineOutcome::No;
        }
        self.follow(line);
        if self.in_string {
            return self.broken(number);
        }
        self.text.push_str(line);
        self.text.push('\n');
        if self.is_open() {
            return LineOutcome::More;
        }
        let text = std::mem::take(&mut self.text);
        // `{` alone may begin anything with braces: only what goes on as JSON does is a document.
        let Some(after) = text.trim_start().strip_prefix('{') else { return LineOutcome::No };
        if after.trim_start().starts_with(['"', '}']) {
            LineOutcome::Document { text, lines: self.first..=number }
        } else {
            LineOutcome::No
        }
    }

    /// The end of the file: what was under way broke off.
    pub(crate) fn end(&mut self, last: u64) -> Option<RangeInclusive<u64>> {
        match self.is_open().then(|| self.broken(last)) {
            Some(LineOutcome::Broken { lines }) => Some(lines),
            _ => None,
        }
    }

    fn broken(&mut self, last: u64) -> LineOutcome {
        let first = self.first;
        *self = Self::default();
        LineOutcome::Broken { lines: first..=last.max(first) }
    }

    fn follow(&mut self, line: &str) {
        for byte in line.bytes() {
            match (self.in_string, byte) {
                (true, _) if self.escaped => self.escaped = false,
                (true, b'\\') => self.escaped = true,
                (_, b'"') => self.in_string = !self.in_string,
                (false, b'{') => self.depth += 1,
                (false, b'}') => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }
}

/// Whether a document may begin here: what follows the brace, if anything, is JSON's.
fn begins(line: &str) -> bool {
    let Some(after) = line.trim_start().strip_prefix('{') else { return false };
    let after = after.trim_start();
    after.is_empty() || after.starts_with(['"', '}'])
}

/// Whether no document goes on like this: a line of its own that begins with what no JSON value does, another
/// document, or more than is kept.
fn breaks(line: &str, length: usize) -> bool {
    let begins_another = line.starts_with('{');
    let foreign = match line.trim_start().chars().next() {
        None => false,
        Some(sign) => {
            !(matches!(sign, '"' | '{' | '}' | '[' | ']' | ',' | ':' | '-' | '0'..='9')
                || ["true", "false", "null"].iter().any(|word| line.trim_start().starts_with(word)))
        }
    };
    begins_another || foreign || length + line.len() > LONGEST
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect(text: &str) -> Vec<LineOutcome> {
        let mut collector = Collector::default();
        let mut all: Vec<LineOutcome> =
            text.lines().zip(1..).map(|(line, number)| collector.line(line, number)).collect();
        all.extend(collector.end(text.lines().count() as u64).map(|lines| LineOutcome::Broken { lines }));
        all
    }

    fn document(text: &str, lines: RangeInclusive<u64>) -> LineOutcome {
        LineOutcome::Document { text: text.to_owned(), lines }
    }

    #[test]
    fn a_document_ends_where_its_braces_balance() {
        use LineOutcome::{Broken, More, No};
        for (text, expected) in [
            ("x\n{\"a\": {}}\n", vec![No, document("{\"a\": {}}\n", 2..=2)]),
            ("{\n\t\"a\": \"}\\\"{\"\n}\n", vec![More, More, document("{\n\t\"a\": \"}\\\"{\"\n}\n", 1..=3)]),
            ("{\n  // code\n", vec![More, Broken { lines: 1..=1 }]),
            ("{\n\t\"a\": 1,\n{\"b\": 2}\n", vec![More, More, Broken { lines: 1..=2 }]),
            ("{\n\t\"a\": \"cut off\n", vec![More, Broken { lines: 1..=2 }]),
            ("{\n\t\"a\": 1,\n", vec![More, More, Broken { lines: 1..=2 }]),
            ("{ nothing of ours }\n", vec![No]),
        ] {
            assert_eq!(collect(text), expected, "{text}");
        }
    }
}
