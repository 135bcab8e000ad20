//! Extracts English text from a file: comments, messages (string literals that contain a space), or a Markdown
//! document.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Comments,
    Messages,
    Docs,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Prose {
    pub(crate) kind: Kind,
    pub(crate) line: usize,
    pub(crate) text: String,
}

pub(crate) fn of(path: &str, text: &str) -> Vec<Prose> {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.').map_or(name, |(_, extension)| extension) {
        "rs" | "c" | "h" | "ts" => Lexer::new(text).run(),
        "md" => of_markdown(text),
        "toml" | "sh" | "py" | "yaml" | "yml" | "Makefile" => of_hashes(text),
        _ => Vec::new(),
    }
}

fn of_markdown(text: &str) -> Vec<Prose> {
    let mut is_code = false;
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code && !line.starts_with("    ") {
            found.push(Prose { kind: Kind::Docs, line: at + 1, text: line.to_owned() });
        }
    }
    found
}

/// Includes the help texts of Makefile targets (`##`).
fn of_hashes(text: &str) -> Vec<Prose> {
    let comment = |line: &str| match line.trim_start().strip_prefix("# ") {
        Some(comment) => Some(comment.to_owned()),
        None => line.split_once(" # ").or(line.split_once(" ## ")).map(|(_, comment)| comment.to_owned()),
    };
    let lines = text.lines().enumerate();
    let found = lines.filter_map(|(at, line)| comment(line).map(|text| (at + 1, text)));
    found.map(|(line, text)| Prose { kind: Kind::Comments, line, text }).collect()
}

struct Lexer<'a> {
    rest: &'a str,
    line: usize,
    found: Vec<Prose>,
}

impl<'a> Lexer<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: text, line: 1, found: Vec::new() }
    }

    fn run(mut self) -> Vec<Prose> {
        while let Some(first) = self.rest.chars().next() {
            let rest = self.rest;
            if rest.starts_with("//") {
                let length = rest.find('\n').unwrap_or(rest.len());
                self.take(length, Some(Kind::Comments));
            } else if rest.starts_with("/*") {
                let length = rest.find("*/").map_or(rest.len(), |at| at + 2);
                self.take(length, Some(Kind::Comments));
            } else if first == '"' {
                let length = string_length(rest);
                self.take(length, Some(Kind::Messages));
            } else if let Some(length) = raw_string_length(rest) {
                self.take(length, Some(Kind::Messages));
            } else if first.is_alphanumeric() || first == '_' {
                let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
                self.take(rest.find(|letter| !is_word(letter)).unwrap_or(rest.len()), None);
            } else {
                self.take(if first == '\'' { quote_length(rest) } else { first.len_utf8() }, None);
            }
        }
        self.found
    }

    fn take(&mut self, length: usize, kind: Option<Kind>) {
        let (taken, rest) = self.rest.split_at(length);
        let is_prose = |kind: Kind| kind == Kind::Comments || taken.trim_matches('"').trim().contains(' ');
        if let Some(kind) = kind.filter(|kind| is_prose(*kind)) {
            let lines = taken.lines().enumerate().filter(|(_, text)| !text.trim().is_empty());
            let prose = |(at, text): (usize, &str)| Prose {
                kind,
                line: self.line + at,
                text: text.trim().to_owned(),
            };
            self.found.extend(lines.map(prose));
        }
        self.line += taken.matches('\n').count();
        self.rest = rest;
    }
}

fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => (),
        }
    }
    text.len()
}

fn raw_string_length(text: &str) -> Option<usize> {
    let hashes = text.strip_prefix('r')?;
    let count = hashes.len() - hashes.trim_start_matches('#').len();
    let body = hashes[count..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(count));
    let start = text.len() - body.len();
    Some(body.find(&end).map_or(text.len(), |at| start + at + end.len()))
}

fn quote_length(text: &str) -> usize {
    let mut letters = text.char_indices().skip(1);
    match letters.next() {
        // A backslash may escape a quote.
        Some((_, '\\')) => text[3.min(text.len())..].find('\'').map_or(1, |at| at + 4),
        Some(_) => letters.next().filter(|(_, letter)| *letter == '\'').map_or(1, |(at, _)| at + 1),
        None => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<(Kind, usize, String)> {
        of(path, text).into_iter().map(|prose| (prose.kind, prose.line, prose.text)).collect()
    }

    #[test]
    fn finds_comments_and_messages_of_rust() {
        let text = "/// Doc.\nfn f<'a>() {\n    let c = ['\"', '\\'', '\\\\']; // Tail.\n    g(\"a // b\", \"word\", \
                    r#\"c \"d\n e\"#);\n}\n/* One\n two */\n";
        let expected = [
            (Kind::Comments, 1, "/// Doc."),
            (Kind::Comments, 3, "// Tail."),
            (Kind::Messages, 4, "\"a // b\""),
            (Kind::Messages, 4, "r#\"c \"d"),
            (Kind::Messages, 5, "e\"#"),
            (Kind::Comments, 7, "/* One"),
            (Kind::Comments, 8, "two */"),
        ];
        assert_eq!(
            found("crates/a/src/lib.rs", text),
            expected.map(|(kind, line, text)| (kind, line, text.to_owned()))
        );
    }

    #[test]
    fn ignores_code_blocks_of_markdown() {
        let text = "One.\n```\ncode here\n```\n    $ code\nTwo.\n";
        let expected = [(Kind::Docs, 1, "One.".to_owned()), (Kind::Docs, 6, "Two.".to_owned())];
        assert_eq!(found("docs/a.md", text), expected);
    }

    #[test]
    fn finds_comments_after_hashes() {
        let text = "#!/bin/sh\n# One.\nx=1 # Two.\ny=\"#3\"\nhelp: ## Three.\n";
        let lines: Vec<usize> = of("a/Makefile", text).iter().map(|prose| prose.line).collect();
        assert_eq!(lines, [2, 3, 5]);
        assert_eq!(of("a.json", text), []);
    }
}
