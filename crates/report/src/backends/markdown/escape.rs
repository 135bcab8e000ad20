//! Escapes text so that Markdown renders it literally.

use crate::{page::*, text::Span};

pub(super) fn inline(text: &Text) -> String {
    let joined = text.0.iter().map(span).collect::<String>();
    guarded(joined.trim())
}

pub(super) fn fence(language: &str, lines: &[String]) -> String {
    let longest = lines.iter().map(|line| longest_run(line)).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}{language}\n{}\n{fence}", lines.join("\n"))
}

fn span(span: &Span) -> String {
    let text = span.printed();
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return text;
    }
    // Markers must touch the text, so keep spaces outside the markers.
    let (before, after) = text.split_once(trimmed).unwrap_or_default();
    match span.tone {
        Tone::Code => format!("{before}{}{after}", code(trimmed)),
        Tone::Strong => format!("{before}**{}**{after}", escaped(trimmed)),
        Tone::Plain | Tone::Good | Tone::Bad | Tone::Doubtful | Tone::Faint => {
            format!("{before}{}{after}", escaped(trimmed))
        }
    }
}

fn code(text: &str) -> String {
    let ticks = "`".repeat(longest_run(text) + 1);
    let gap = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{ticks}{gap}{text}{gap}{ticks}")
}

/// Skips underscores between letters or digits: they never start emphasis.
fn escaped(text: &str) -> String {
    let mut before = None;
    let mut escaped = String::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let inside = [before, characters.peek().copied()].map(|c| c.is_some_and(char::is_alphanumeric));
        let special = match character {
            '_' => inside != [true, true],
            '\\' | '`' | '*' | '<' | '[' | ']' | '~' | '&' => true,
            _ => false,
        };
        escaped.extend(special.then_some('\\'));
        escaped.push(character);
        before = Some(character);
    }
    escaped
}

fn guarded(line: &str) -> String {
    let marks =
        line.starts_with(['#', '>', '+', '=', '|']) || line.starts_with("- ") || line.starts_with("---");
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered =
        number.len() < line.len() && number.starts_with(['.', ')']) && number[1..].starts_with(' ');
    if numbered {
        let digits = line.len() - number.len();
        return format!("{}\\{number}", &line[..digits]);
    }
    if marks { format!("\\{line}") } else { line.to_owned() }
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &Text, expected: &str) {
        assert_eq!(inline(text), expected);
    }

    #[test]
    fn escapes_markup_in_names() {
        check(
            &"a*b* <script> [x](y) ~~no~~ a\\b".into(),
            "a\\*b\\* \\<script> \\[x\\](y) \\~\\~no\\~\\~ a\\\\b",
        );
        check(&"x86_64 _emphasis_ a__b".into(), "x86_64 \\_emphasis\\_ a\\_\\_b");
        check(&"# no heading".into(), "\\# no heading");
        check(&"1. no list".into(), "1\\. no list");
        check(&"9.41 Gbit/s".into(), "9.41 Gbit/s");
        check(&"−6.9 (−7 to -6)".into(), "−6.9 (−7 to -6)");
    }

    #[test]
    fn markers_touch_the_marked_text() {
        check(&Text::strong(" much ").and_plain("lost"), "**much** lost");
        check(&Text::code("a`b"), "``a`b``");
        check(&Text::code("`"), "`` ` ``");
    }

    #[test]
    fn fence_is_longer_than_its_content() {
        assert_eq!(fence("sh", &["echo ```".to_owned()]), "````sh\necho ```\n````");
    }
}
