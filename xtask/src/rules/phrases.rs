//! Rule `phrases`: output, help, documents and comments use standard terms.

use anyhow::Result;

use super::Verdict;
use crate::workspace::Workspace;

const PRIVATE: &[(&str, &str)] = &[
    ("gather at two levels", "are bimodal"),
    ("gathers at two levels", "is bimodal"),
    ("must not be trusted", "do not use it"),
    ("two ways are not alike", "is asymmetric"),
    ("is of no level", "matches neither level"),
    ("So it is in", "3 results affected"),
    ("a meaningful share", "the number"),
    ("hardly pay", "at most 8 % more for 2.4x the CPU"),
    ("none above the noise", "the number, not significant"),
    ("Hold one run against another", "compare two runs"),
    ("What surrounds", "environment"),
    ("what surrounds", "environment"),
    ("runs anyway", "running"),
    ("Tell by the exit status", "exit non-zero"),
    ("makes no sense", "usage error; is invalid"),
    ("last words", "last console output"),
    ("raising the lab", "creating the lab"),
    ("lowering the lab", "removing the lab"),
    ("raised as root", "created as root"),
    ("no rule could look at", "not in the log, so not checked"),
    ("way of a message", "latency breakdown"),
    ("there are doubts about", "has warnings"),
];

const ADVICE: &str = "use the field's term";

/// Skipped, because this file contains the list above.
const OWN: &str = file!();

pub(crate) fn hold(workspace: &Workspace) -> Result<Verdict> {
    let mut places = Vec::new();
    for path in workspace.files.iter().filter(|path| !OWN.ends_with(path.as_str())) {
        let text = flat(&workspace.text(path)?.unwrap_or_default());
        let found = PRIVATE.iter().filter(|(phrase, _)| text.contains(phrase));
        places.extend(found.map(|(phrase, term)| format!("{path}: `{phrase}`: {term}")));
    }
    Ok(Verdict::broken(ADVICE, places))
}

/// Joins lines, because a phrase may be broken at any word.
fn flat(text: &str) -> String {
    let marks = |line: &str| {
        line.trim().trim_start_matches(['/', '!', '#', '>']).trim_end_matches('\\').trim().to_owned()
    };
    text.lines().map(marks).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_phrase_across_lines() {
        for text in ["x makes\nno sense", "/// x makes\n/// no sense", "\"x makes \\\n   no sense\""] {
            assert!(flat(text).contains("makes no sense"), "{text}");
        }
        assert!(!flat("makes some\nsense").contains("makes no sense"));
    }
}
