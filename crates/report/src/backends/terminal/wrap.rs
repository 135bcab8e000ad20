//! Wraps text and preserves tones. Widths are in terminal columns: a wide character takes two.

use console::measure_text_width;

use crate::{
    page::*,
    text::{GLUE, SOFT, Span},
};

pub(super) type Line = Vec<Span>;

type Characters = Vec<(char, Tone)>;

struct Word {
    characters: Characters,
    spaced: bool,
}

/// Only breaks words that are wider than a line.
pub(super) fn wrap(text: &Text, width: usize) -> Vec<Line> {
    let width = width.max(1);
    let mut lines: Vec<Characters> = vec![Characters::new()];
    for word in words(text) {
        let line = lines.last_mut().expect("there is a first line");
        let gap = usize::from(!line.is_empty() && word.spaced);
        if columns(line) + gap + columns(&word.characters) <= width {
            if gap > 0 {
                line.push(space_between(line, &word.characters));
            }
            line.extend(word.characters);
        } else {
            if !line.is_empty() {
                lines.push(Characters::new());
            }
            break_up(&mut lines, word.characters, width);
        }
    }
    lines.into_iter().map(spans).collect()
}

pub(super) fn hanging(text: &Text, width: usize) -> Vec<Line> {
    let characters = text.characters();
    if measure_text_width(&characters) <= width {
        return vec![text.0.clone()];
    }
    let indent = characters.len() - characters.trim_start().len();
    indented(wrap(text, width.saturating_sub(indent)), indent)
}

pub(super) fn indented(lines: Vec<Line>, columns: usize) -> Vec<Line> {
    let indent = Span { text: " ".repeat(columns), tone: Tone::Plain };
    let moved = |line: Line| if line.is_empty() { line } else { [vec![indent.clone()], line].concat() };
    lines.into_iter().map(moved).collect()
}

pub(super) fn width_of(line: &[Span]) -> usize {
    measure_text_width(&line.iter().map(|span| span.text.as_str()).collect::<String>())
}

pub(super) fn extent(text: &Text) -> (usize, usize) {
    let longest = words(text).iter().map(|word| columns(&word.characters)).max().unwrap_or(0);
    (longest, measure_text_width(&text.characters()))
}

fn words(text: &Text) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let (mut begun, mut spaced) = (false, false);
    let of_span = |span: &Span| span.text.chars().map(|character| (character, span.tone)).collect::<Vec<_>>();
    let mut characters = text.0.iter().flat_map(of_span).peekable();
    while let Some((character, tone)) = characters.next() {
        // Keep a number and its percent sign together, even without a no-break space.
        let signed = characters.peek().is_some_and(|(next, _)| *next == '%');
        let space = character != GLUE && character.is_whitespace() && !signed;
        match words.last_mut() {
            _ if space || character == SOFT => {
                spaced = space || (spaced && !begun);
                begun = false;
                continue;
            }
            Some(word) if begun => word.characters.push((character, tone)),
            _ => words.push(Word { characters: vec![(character, tone)], spaced }),
        }
        begun = true;
    }
    words
}

fn columns(characters: &Characters) -> usize {
    measure_text_width(&characters.iter().map(|(character, _)| *character).collect::<String>())
}

/// A space between two words of the same tone gets that tone.
fn space_between(line: &Characters, word: &Characters) -> (char, Tone) {
    let tone = |character: Option<&(char, Tone)>| character.map_or(Tone::Plain, |(_, tone)| *tone);
    let (before, after) = (tone(line.last()), tone(word.first()));
    (' ', if before == after { before } else { Tone::Plain })
}

fn break_up(lines: &mut Vec<Characters>, word: Characters, width: usize) {
    for character in word {
        let line = lines.last_mut().expect("there is a first line");
        line.push(character);
        if columns(line) > width && line.len() > 1 {
            line.pop();
            lines.push(vec![character]);
        }
    }
}

fn spans(characters: Characters) -> Line {
    let mut line = Line::new();
    for (character, tone) in characters {
        match line.last_mut() {
            Some(span) if span.tone == tone => span.text.push(character),
            _ => line.push(Span { text: character.into(), tone }),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &Text, width: usize, expected: &[&str]) {
        let lines: Vec<String> = wrap(text, width).into_iter().map(|line| Text(line).characters()).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn breaks_lines_at_ordinary_spaces_only() {
        check(&"what the wire takes".into(), 8, &["what the", "wire", "takes"]);
        check(&"takes 9.41\u{a0}Gbit/s".into(), 12, &["takes", "9.41 Gbit/s"]);
    }

    #[test]
    fn breaks_words_at_soft_breaks() {
        check(&"underlay-\u{200b}offload on".into(), 10, &["underlay-", "offload on"]);
        check(&"underlay-\u{200b}offload on".into(), 20, &["underlay-offload on"]);
    }

    #[test]
    fn breaks_words_wider_than_the_line() {
        check(&"a 0123456789".into(), 4, &["a", "0123", "4567", "89"]);
    }

    #[test]
    fn wide_characters_take_two_columns() {
        check(&"네트워크 속도".into(), 8, &["네트워크", "속도"]);
        check(&"네트워크".into(), 5, &["네트", "워크"]);
    }

    #[test]
    fn keeps_percent_sign_with_its_number() {
        check(&"it is 131.20 %.".into(), 12, &["it is", "131.20 %."]);
    }

    #[test]
    fn preserves_tones_across_lines() {
        let text = Text::bad("lost much").and_plain(", indeed");
        let lines = wrap(&text, 6);
        assert_eq!(lines[0][0].tone, Tone::Bad);
        assert_eq!(lines[1].iter().map(|span| span.tone).collect::<Vec<_>>(), [Tone::Bad, Tone::Plain]);
    }
}
