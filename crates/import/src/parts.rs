//! Divides a file into parts. Text, a heading or another command between two tests suggests that they differ in
//! something the tool does not print, so tests in different parts are never trials of the same result.

use std::{collections::VecDeque, sync::Arc};

use crate::{
    imported_test::{Evidence, Part},
    loops::Loops,
    prefix, shell, title,
};

const LONGEST: usize = 60;
const MOST: usize = 256;
/// Text more than this many lines above a test does not name the test.
const MOST_WAITING: usize = 64;
/// Longer lines are truncated to this many bytes. This also limits the length of a command.
const LONGEST_LINE: usize = 1000;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    #[default]
    Nothing,
    Command,
    Sentence,
    Heading,
}

#[derive(Debug, Default)]
pub(crate) struct Parts {
    known: VecDeque<Part>,
    rank: Rank,
    has_log: bool,
    command: String,
    loops: Loops,
    above: Option<String>,
    /// Lines since the last log line. They matter only if another log line follows.
    waiting: VecDeque<(u64, String)>,
    dropped: bool,
}

impl Parts {
    pub(crate) fn log(&mut self) {
        if self.waiting.is_empty() {
            self.has_log = true;
            return;
        }
        self.settle();
        self.has_log = true;
        self.above = None;
    }

    pub(crate) fn line(&mut self, text: &str, line: u64) {
        if text.trim().is_empty() {
            self.above = None;
            return;
        }
        let free = if self.waiting.len() == MOST_WAITING { self.waiting.pop_front() } else { None };
        self.dropped |= free.is_some();
        let mut kept = free.map(|(_, text)| text).unwrap_or_default();
        kept.clear();
        kept.push_str(text.get(..text.floor_char_boundary(LONGEST_LINE)).unwrap_or_default());
        self.waiting.push_back((line, kept));
    }

    fn settle(&mut self) {
        if std::mem::take(&mut self.dropped)
            && self.has_log
            && let Some((line, _)) = self.waiting.front()
        {
            self.begin(*line, None, Rank::Nothing);
        }
        for (line, text) in std::mem::take(&mut self.waiting) {
            self.words(&text, line);
        }
    }

    pub(crate) fn heading(&mut self, text: &str, line: u64) {
        self.settle();
        if title::is_run(text) {
            self.repeats();
        } else if !title::is_role_alone(text) {
            self.begin(line, Some(shortened(text)), Rank::Heading);
        }
    }

    fn words(&mut self, text: &str, line: u64) {
        let text = text.trim();
        let keyword = self.loops.line(text);
        if let Some(command) = shell::command(text) {
            return self.command(&command, line);
        }
        if text.matches('|').count() > 1 {
            if self.has_log {
                self.begin(line, None, Rank::Nothing);
            }
            return;
        }
        if keyword {
            return;
        }
        let above = self.above.take();
        if is_underline(text) {
            if let Some(label) = above {
                self.name(label, Rank::Heading, line);
            }
            return;
        }
        let label = clean(text);
        if label.is_empty()
            || is_prompt(text)
            || prefix::stripped(text).is_some_and(|rest| rest.trim().is_empty())
        {
            return;
        }
        if title::is_run(&label) {
            return self.repeats();
        }
        if title::is_role_alone(&label) {
            return;
        }
        let is_heading =
            text.ends_with([':', '：']) || text.starts_with(['#', '-', '*', '=', '•']) || numbered(text);
        self.above = Some(label.clone());
        self.name(label, if is_heading { Rank::Heading } else { Rank::Sentence }, line);
    }

    pub(crate) fn of(&self, line: u64) -> Part {
        let part = self.known.iter().rev().find(|part| part.start <= line).or(self.known.front());
        part.cloned().unwrap_or_default()
    }

    fn command(&mut self, command: &shell::Command<'_>, line: u64) {
        let evidence = match self.loops.variable() {
            Some(variable) if shell::uses(command, variable) => Evidence::Varies,
            Some(_) => Evidence::Repeated,
            None => Evidence::Adjacent,
        };
        if self.command != command.text || !self.has_log {
            let new: Vec<&str> = command.text.split_whitespace().collect();
            let old: Vec<&str> = self.command.split_whitespace().collect();
            let differing: Vec<&str> = new.iter().copied().filter(|word| !old.contains(word)).collect();
            let label = if differing.is_empty() || old.is_empty() { new } else { differing };
            let label = shortened(&label.join(" "));
            command.text.clone_into(&mut self.command);
            self.name(label, Rank::Command, line);
        }
        if evidence != Evidence::Adjacent
            && let Some(part) = self.known.back_mut()
        {
            part.evidence = evidence;
        }
        self.above = None;
    }

    fn name(&mut self, label: String, rank: Rank, line: u64) {
        if self.has_log || self.known.is_empty() {
            self.begin(line, Some(label), rank);
        } else if rank >= self.rank
            && let Some(part) = self.known.back_mut()
        {
            (part.label, self.rank) = (Some(label.into()), rank);
        }
    }

    fn begin(&mut self, start: u64, label: Option<String>, rank: Rank) {
        (self.has_log, self.rank) = (false, rank);
        let label = label.map(Arc::from);
        self.known.push_back(Part { start, label, evidence: Evidence::Adjacent });
        if self.known.len() > MOST {
            self.known.pop_front();
        }
    }

    /// Handles the label of a run. The first label only announces a test; several tests below it may differ.
    fn repeats(&mut self) {
        let is_later = self.has_log;
        if self.known.is_empty() {
            self.begin(0, None, Rank::Nothing);
        }
        if let Some(part) = self.known.back_mut().filter(|_| is_later) {
            part.evidence = Evidence::Repeated;
        }
    }
}

fn is_underline(text: &str) -> bool {
    text.len() >= 3 && (text.bytes().all(|byte| byte == b'=') || text.bytes().all(|byte| byte == b'-'))
}

fn is_prompt(text: &str) -> bool {
    text.len() <= 60 && text.ends_with(['$', '#', '%', '>']) && text.split_whitespace().count() <= 2
}

fn numbered(text: &str) -> bool {
    let number = text.split_once(['.', ')']).map_or("", |(number, _)| number);
    (1..=2).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
}

fn clean(text: &str) -> String {
    let plain = text.replace(['`', '*'], "");
    let plain =
        plain.trim_matches(|sign: char| !sign.is_alphanumeric() && !matches!(sign, '(' | ')' | '%' | '"'));
    if plain.chars().any(char::is_alphanumeric) { shortened(plain) } else { String::new() }
}

fn shortened(text: &str) -> String {
    let mut label = String::new();
    for word in text.split_whitespace() {
        if !label.is_empty() && label.chars().count() + word.chars().count() >= LONGEST {
            break;
        }
        label.push_str(if label.is_empty() { "" } else { " " });
        label.extend(word.chars().take(LONGEST));
    }
    label
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<(Option<String>, Evidence)> {
        let mut parts = Parts::default();
        let mut all = Vec::new();
        for (line, number) in text.lines().zip(1..) {
            if line.starts_with('[') {
                parts.log();
                let part = parts.of(number);
                all.push((part.label.map(|label| label.to_string()), part.evidence));
            } else {
                parts.line(line, number);
            }
        }
        all
    }

    #[test]
    fn words_and_other_commands_start_a_part() {
        for (text, labels) in [
            ("[1]\n\n---\n[2]\n", [None, None]),
            ("First:\n[1]\nSecond:\n[2]\n", [Some("First"), Some("Second")]),
            (
                "# before\n[1]\nNow it is limited:\n$ tc qdisc add x\n$ iperf3 -c a\n[2]\n",
                [Some("before"), Some("Now it is limited")],
            ),
            ("Old\n===\n[1]\nNew\n===\n[2]\n", [Some("Old"), Some("New")]),
            ("$ iperf3 -c a -p 1\n[1]\n$ iperf3 -c a -p 2\n[2]\n", [Some("iperf3 -c a -p 1"), Some("2")]),
            ("$ iperf3 -c a\n[1]\n$ iperf3 -c a\n[2]\n", [Some("iperf3 -c a"), Some("iperf3 -c a")]),
            ("Server:\n[1]\nClient log\n[2]\n", [None, None]),
        ] {
            let found: Vec<Option<String>> = parts(text).into_iter().map(|(label, _)| label).collect();
            assert_eq!(found, labels.map(|label| label.map(str::to_owned)), "{text}");
        }
    }

    #[test]
    fn loops_and_numbered_runs_are_repetitions() {
        use Evidence::{Adjacent, Repeated, Varies};
        for (text, evidence) in [
            ("$ for i in 1 2; do iperf3 -c a; done\n[1]\n[2]\n", [Repeated, Repeated]),
            ("$ for p in 1 2; do iperf3 -c a -P $p; done\n[1]\n[2]\n", [Varies, Varies]),
            ("for i in 1 2\n  iperf3 -c a\ndone\n[1]\n[2]\n", [Repeated, Repeated]),
            ("while true; do\n  iperf3 -c a\ndone\n[1]\n[2]\n", [Repeated, Repeated]),
            ("Run 1\n[1]\nRun 2\n[2]\n", [Adjacent, Repeated]),
            ("Run 1\n[1]\n[2]\n", [Adjacent, Adjacent]),
            ("Rates for pods in the same node:\n$ iperf3 -c a\n[1]\n[2]\n", [Adjacent, Adjacent]),
            ("for pods in the same node\n$ iperf3 -c a\n[1]\n[2]\n", [Adjacent, Adjacent]),
            ("Measured while the download ran\n$ iperf3 -c a\n[1]\n[2]\n", [Adjacent, Adjacent]),
            ("$ iperf3 -c a\n[1]\n$ iperf3 -c a\n[2]\n", [Adjacent, Adjacent]),
        ] {
            let found: Vec<Evidence> = parts(text).into_iter().map(|(_, evidence)| evidence).collect();
            assert_eq!(found, evidence, "{text}");
        }
    }
}
