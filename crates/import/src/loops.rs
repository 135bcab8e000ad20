//! Finds the loop around a command: `for i in 1 2 3; do` in shells, `for /L %i in (1,1,3) do` in cmd, and
//! `foreach ($i in 1..3) {` or `1..3 | % {` in PowerShell.

use crate::shell;

/// A placeholder for the missing variable of a `while` loop.
const NO_VARIABLE: &str = "\0";

const KEYWORDS: [&str; 5] = ["for", "while ", "until ", "do", "}"];

/// The usual placeholder of `seq 3 | xargs -I{}`.
const ARGUMENT: &str = "{}";

#[derive(Debug, Default)]
pub(crate) struct Loops {
    variable: Option<String>,
    /// The variable of the previous line, which is a loop only if `do` follows.
    announced: Option<String>,
    ends: bool,
}

impl Loops {
    pub(crate) fn line(&mut self, text: &str) -> bool {
        let announced = self.announced.take();
        if std::mem::take(&mut self.ends) {
            self.variable = None;
        }
        // Fast path: most lines start with another word and contain no prompt or pipe.
        let unmarked = text.trim_start_matches(['+', '-', '*', '`', ' ']);
        let begins = |word: &&str| unmarked.starts_with(*word);
        if !KEYWORDS.iter().any(begins) && !text.contains(['$', '#', '>', '|']) {
            return false;
        }
        let start = shell::after_prompt(text).trim();
        if start == "do" || start.starts_with("do ") {
            self.variable = announced.or(self.variable.take());
        } else if is_end(start) {
            self.variable = None;
        } else if let Some(variable) = repeated(text, start) {
            let ends = start.trim_end_matches([' ', '`', ';']).ends_with("done") || start.ends_with('}');
            self.ends = ends || variable == ARGUMENT;
            self.variable = Some(variable);
        } else {
            self.announced = head(start);
            return false;
        }
        start == "do" || is_end(start)
    }

    /// Returns the loop's variable, with its `$` or `%`.
    pub(crate) fn variable(&self) -> Option<&str> {
        self.variable.as_deref()
    }
}

fn is_end(start: &str) -> bool {
    start == "done" || start.starts_with("done ") || start == "}"
}

/// Returns the variable if the line is certainly a loop. A sentence may contain the same words, so a loop must either
/// have its own `do`, or start the line and list values.
fn repeated(text: &str, start: &str) -> Option<String> {
    let words: Vec<&str> = start.split_whitespace().collect();
    let is_do = |(at, word): (usize, &&str)| {
        word.ends_with(";do")
            || (*word == "do" && (at + 1 == words.len() || words[at - 1].ends_with([';', ')'])))
    };
    let has_do = words.iter().enumerate().skip(1).any(is_do);
    let lists = |list: &str| {
        list.contains(|sign: char| sign.is_ascii_digit() || matches!(sign, '$' | '{' | '(' | '"'))
    };
    let lowercase = text.to_ascii_lowercase();
    if lowercase.contains("| % {") || lowercase.contains("| foreach-object {") {
        return Some("$_".to_owned());
    }
    if let Some(at) = lowercase.find("foreach")
        && let Some((variable, _)) =
            text[at + "foreach".len()..].trim_start_matches([' ', '(']).split_once(" in ")
        && variable.starts_with('$')
    {
        return Some(variable.to_owned());
    }
    if start.starts_with("seq ") && start.contains("| xargs ") {
        return Some(ARGUMENT.to_owned());
    }
    let (before, rest) = start.split_once("for ").unwrap_or_default();
    let is_for = (has_do || before.is_empty()) && !before.ends_with(|sign: char| sign.is_alphanumeric());
    if let Some((name, list)) = variable(rest).filter(|_| is_for)
        && (rest.starts_with("((") || list.strip_prefix(" in ").is_some_and(|list| has_do || lists(list)))
    {
        return Some(name);
    }
    (has_do && words.iter().any(|word| matches!(*word, "while" | "until"))).then(|| NO_VARIABLE.to_owned())
}

/// Returns the variable of `for h in a b` or `while sleep 1`. A sentence may start like this, too.
fn head(start: &str) -> Option<String> {
    if start.starts_with("while ") || start.starts_with("until ") {
        return Some(NO_VARIABLE.to_owned());
    }
    let (name, list) = variable(start.strip_prefix("for ")?)?;
    list.starts_with(" in ").then_some(name)
}

/// Splits `i in 1 2 3`, `((i = 0; i < 3; i++))` or `/L %i in (1,1,3)` after the variable.
fn variable(rest: &str) -> Option<(String, &str)> {
    let (sign, name) = match rest.strip_prefix("/L ").or_else(|| rest.strip_prefix("/l ")) {
        Some(name) => ('%', name.trim_start_matches('%')),
        None => ('$', rest.trim_start_matches(['(', ' '])),
    };
    let end = name.find(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_')).unwrap_or(name.len());
    let (name, list) = name.split_at(end);
    (!name.is_empty()).then(|| (format!("{sign}{name}"), list))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_loops_of_shells() {
        for (text, variable) in [
            ("for i in 1 2 3; do", Some("$i")),
            ("$ for h in a b\ndo", Some("$h")),
            ("for ((i = 0; i < 3; i++)); do", Some("$i")),
            ("while sleep 1\ndo", Some("\0")),
            ("C:\\> for /L %i in (1,1,3) do", Some("%i")),
            ("PS> 1..3 | % { x }", Some("$_")),
            ("PS> foreach ($n in 1..3) {", Some("$n")),
            ("PS> ForEach ($Server in $Servers) {", Some("$Server")),
            ("+ for i in 1 2 3", Some("$i")),
            ("- `for i in 1 2 3; do x", Some("$i")),
            ("$ seq 3 | xargs -I{} x", Some("{}")),
            ("for i in 1 2 3; do\n  x\ndone", None),
            ("for i in 1 2 3; do x; done\nnext", None),
            ("for pods in the same node\n$ x", None),
            ("while it ran\nwe saw this", None),
        ] {
            let mut loops = Loops::default();
            for line in text.lines() {
                loops.line(line);
            }
            assert_eq!(loops.variable(), variable, "{text}");
        }
    }
}
