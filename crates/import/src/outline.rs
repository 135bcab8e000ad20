//! Tracks the headings above a line: Markdown headings and summaries of `<details>`.

use crate::{format::Line, shell};

const LONGEST: usize = 200;
const DEEPEST: usize = 12;

#[derive(Debug, Default)]
pub(crate) struct Outline {
    stack: Vec<Part>,
    in_code: bool,
}

#[derive(Debug)]
enum Part {
    Heading(usize, String),
    /// `<details>`, with its summary once read.
    Folded(Option<String>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    Stays,
    /// The line starts or ends a section or code block, and thereby ends the current test.
    Turns,
}

impl Outline {
    pub(crate) fn line(&mut self, line: &Line<'_>) -> Turn {
        let text = line.text.trim();
        let first = text.as_bytes().first();
        // Fast path for log lines.
        if !matches!(first, Some(b'#' | b'<' | b'`' | b'~' | b'=')) {
            return Turn::Stays;
        }
        if text.starts_with("```") || text.starts_with("~~~") {
            self.in_code = !self.in_code || text.trim_matches(['`', '~']).len() > 1;
            return Turn::Turns;
        }
        if self.folds(text) {
            return Turn::Turns;
        }
        if self.in_code {
            return Turn::Stays;
        }
        self.heading(text)
    }

    pub(crate) fn title(&self) -> Vec<String> {
        let written = |part: &Part| match part {
            Part::Heading(_, text) => Some(text.clone()),
            Part::Folded(text) => text.clone(),
        };
        self.stack.iter().filter_map(written).collect()
    }

    /// Handles `<details>`, `<summary>` and `</details>`. They never occur in code, so they also end an unclosed
    /// code block.
    fn folds(&mut self, text: &str) -> bool {
        let lowercase = text.to_ascii_lowercase();
        if lowercase.starts_with("</details") {
            self.in_code = false;
            let opened = self.stack.iter().rposition(|part| matches!(part, Part::Folded(_)));
            self.stack.truncate(opened.unwrap_or(self.stack.len()));
            return true;
        }
        let opens = lowercase.starts_with("<details");
        if opens {
            self.in_code = false;
            self.push(Part::Folded(None));
        }
        let summary = between(&lowercase, text, "<summary>", "</summary>");
        if let (Some(summary), Some(Part::Folded(title))) = (summary, self.stack.last_mut()) {
            *title = Some(clean(summary));
            return true;
        }
        opens
    }

    fn heading(&mut self, text: &str) -> Turn {
        let written = text.trim_start_matches('#');
        let level = text.len() - written.len();
        // `# iperf3 -c a` is a command after a root prompt, not a heading.
        if !(1..=6).contains(&level) || !written.starts_with([' ', '\t']) || shell::command(text).is_some() {
            return Turn::Stays;
        }
        let within = |part: &Part| match part {
            Part::Heading(other, _) => *other < level,
            Part::Folded(_) => true,
        };
        let depth = self.stack.iter().rposition(within).map_or(0, |last| last + 1);
        self.stack.truncate(depth);
        self.push(Part::Heading(level, clean(written.trim_end_matches('#'))));
        Turn::Turns
    }

    fn push(&mut self, part: Part) {
        if self.stack.len() < DEEPEST {
            self.stack.push(part);
        }
    }
}

fn between<'a>(lowercase: &str, text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let start = lowercase.find(open)? + open.len();
    let end = lowercase[start..].find(close).map_or(text.len(), |end| start + end);
    text.get(start..end)
}

fn clean(text: &str) -> String {
    let plain = text.replace(['`', '*'], "").replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&");
    let words: Vec<&str> = plain.split_whitespace().collect();
    words.join(" ").chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn title_after(text: &str) -> Vec<String> {
        let mut outline = Outline::default();
        for (line, number) in text.lines().zip(1..) {
            outline.line(&Line { number, text: line, whole: true });
        }
        outline.title()
    }

    #[test]
    fn title_is_all_headings_outermost_first() {
        for (text, title) in [
            ("# A\n## B\n", vec!["A", "B"]),
            ("# A\n## B\n### C\n## D\n", vec!["A", "D"]),
            ("## A\n<details> <summary> B </summary>\n", vec!["A", "B"]),
            (
                "## A\n<details><summary>B</summary>\n<details>\n<summary>C</summary>\n</details>\n",
                vec!["A", "B"],
            ),
            ("<details><summary>a</summary>\n## In it\n</details>\n", vec![]),
            ("# A\n```sh\n# a comment\n```\n", vec!["A"]),
            ("# A\n```sh\nunclosed block\n<details><summary>B</summary>\n## C\n", vec!["A", "B", "C"]),
            ("### Client: `gate` (**`10.1.0.1`**) ###\n", vec!["Client: gate (10.1.0.1)"]),
            ("<details><summary>Host-&gt;VM</summary>\n", vec!["Host->VM"]),
            ("#!/bin/bash\n#no heading\n", vec![]),
            ("# A\n# ip netns exec a iperf3 -c b\n", vec!["A"]),
        ] {
            assert_eq!(title_after(text), title, "{text}");
        }
    }

    #[test]
    fn limits_length_of_headings() {
        let many = "<details><summary>x</summary>\n".repeat(1000);
        assert_eq!(title_after(&many).len(), DEEPEST);
        assert_eq!(title_after(&format!("# {}", "x".repeat(100_000)))[0].len(), LONGEST);
    }
}
