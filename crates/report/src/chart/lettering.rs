//! Measures text and fits it into a width.

use console::measure_text_width;

/// Widths of the characters from space to tilde, in hundredths of the font size.
#[rustfmt::skip]
const WIDTHS: [u8; 95] = [
    32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 53,
    100, 68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63, 61, 73, 68, 99, 69, 61, 69, 39, 34, 39, 84,
    50, 50, 61, 63, 55, 63, 62, 35, 63, 63, 28, 28, 58, 28, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84,
];
const OTHER: f64 = 0.84;
const FULL: f64 = 1.1;
const BOLD: f64 = 1.17;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Strong,
    Note,
    Tick,
}

impl Style {
    pub(super) const fn size(self) -> f64 {
        match self {
            Self::Plain | Self::Strong => 13.0,
            Self::Note => 12.0,
            Self::Tick => 11.0,
        }
    }

    pub(super) const fn class(self) -> &'static str {
        match self {
            Self::Plain => "t",
            Self::Strong => "l",
            Self::Note => "n",
            Self::Tick => "k",
        }
    }
}

pub(super) fn width(text: &str, style: Style) -> f64 {
    ems(text, if style == Style::Strong { Weight::Bold } else { Weight::Regular }) * style.size()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    Bold,
}

/// Returns the width as a multiple of the font size.
pub(crate) fn ems(text: &str, weight: Weight) -> f64 {
    text.chars().map(em).sum::<f64>() * if weight == Weight::Bold { BOLD } else { 1.0 }
}

fn em(sign: char) -> f64 {
    match usize::try_from(u32::from(sign)).ok().and_then(|code| WIDTHS.get(code.wrapping_sub(32))) {
        Some(hundredths) => f64::from(*hundredths) / 100.0,
        None => match measure_text_width(sign.encode_utf8(&mut [0; 4])) {
            0 => 0.0,
            1 => OTHER,
            _ => FULL,
        },
    }
}

/// Removes characters that are invisible or change the text direction. Users may put them in names.
pub(super) fn plain(text: &str) -> String {
    let is_hidden = |sign: char| {
        matches!(sign, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
    };
    let shown = text.chars().filter(|sign| !is_hidden(*sign));
    shown.map(|sign| if sign.is_control() || sign.is_whitespace() { ' ' } else { sign }).collect()
}

/// Removes the middle of long text, because names usually differ at the ends.
pub(super) fn fitted(text: &str, room: f64, style: Style) -> String {
    if width(text, style) <= room {
        return text.to_owned();
    }
    let room = room - width("…", style);
    let mut head = String::new();
    for sign in text.chars() {
        head.push(sign);
        if width(&head, style) > room / 2.0 {
            head.pop();
            break;
        }
    }
    let mut tail: Vec<char> = Vec::new();
    let mut taken = width(&head, style);
    for sign in text.chars().rev() {
        taken += width(sign.encode_utf8(&mut [0; 4]), style);
        if taken > room {
            break;
        }
        tail.push(sign);
    }
    head.push('…');
    head.extend(tail.iter().rev());
    head
}

/// Long words may also break after punctuation. Truncates text after `most` lines.
pub(super) fn wrapped(text: &str, room: f64, style: Style, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in words(text, room, style) {
        let last = lines.len() - 1;
        let with = format!("{}{word}", lines[last]);
        if lines[last].is_empty() || lines.len() == most || width(with.trim_end(), style) <= room {
            lines[last] = with;
        } else {
            let end = lines[last].trim_end().len();
            lines[last].truncate(end);
            lines.push(word.to_owned());
        }
    }
    lines.iter().map(|line| fitted(line.trim(), room, style)).collect()
}

/// Splits text where lines may break. Only splits words that do not fit on a line.
fn words(text: &str, room: f64, style: Style) -> Vec<&str> {
    let inner = |word| {
        if width(word, style) <= room {
            vec![word]
        } else {
            word.split_inclusive(['-', '/', '_', ',', '=']).collect()
        }
    };
    text.split_inclusive(' ').flat_map(inner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortens_wide_text_in_the_middle() {
        for name in ["pod-to-target, offload=off".repeat(9), "네트워크".repeat(40), "W".repeat(10_000)] {
            let shown = fitted(&name, 120.0, Style::Strong);
            assert!(width(&shown, Style::Strong) <= 120.0 && shown.contains('…'), "{shown}");
            assert!(name.starts_with(shown.split('…').next().unwrap_or_default()));
            for line in wrapped(&name, 90.0, Style::Note, 2) {
                assert!(width(&line, Style::Note) <= 90.0, "{line}");
            }
        }
        assert_eq!(fitted("short", 120.0, Style::Plain), "short");
    }

    #[test]
    fn breaks_lines_between_words_and_after_hyphens() {
        let lines = wrapped("pod-to-target, offload=off", 105.0, Style::Plain, 3);
        assert_eq!(lines, ["pod-to-target,", "offload=off"]);
    }

    #[test]
    fn removes_invisible_and_direction_changing_characters() {
        assert_eq!(plain("a\u{202e}b\u{200b}c\u{1b}[2J\nd\u{feff}"), "abc [2J d");
    }
}
