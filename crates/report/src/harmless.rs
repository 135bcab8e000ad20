//! Escapes characters in untrusted text that terminals or browsers would interpret: control characters (C0, DEL, C1)
//! and bidirectional overrides.

use std::{borrow::Cow, fmt::Write};

/// Replaces control characters and bidirectional overrides with escapes that JSON and TOML can read back, e.g.
/// `\u001b`. Preserves line feeds, tabs and CSV line endings (RFC 4180).
#[must_use]
pub fn harmless(text: &str) -> Cow<'_, str> {
    escaped(text, |sign, next| {
        is_obeyed(sign) && !matches!(sign, '\n' | '\t') && (sign, next) != ('\r', Some('\n'))
    })
}

/// Like [`harmless`], but turns line feeds and tabs into spaces.
pub(crate) fn in_a_line(text: &str) -> String {
    escaped(&text.replace(['\n', '\t'], " "), |sign, _| is_obeyed(sign)).into_owned()
}

fn is_obeyed(sign: char) -> bool {
    // Unicode's `Bidi_Control` characters. The line and paragraph separators follow below.
    let turns = matches!(sign, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    sign.is_control() || turns || matches!(sign, '\u{2028}' | '\u{2029}')
}

fn escaped(text: &str, obeyed: impl Fn(char, Option<char>) -> bool) -> Cow<'_, str> {
    let signs = || text.chars().zip(text.chars().skip(1).map(Some).chain([None]));
    if !signs().any(|(sign, next)| obeyed(sign, next)) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() * 2);
    for (sign, next) in signs() {
        if obeyed(sign, next) {
            write!(shown, "\\u{:04x}", u32::from(sign)).expect("a text takes any text");
        } else {
            shown.push(sign);
        }
    }
    shown.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_escape_sequences_as_text() {
        assert!(matches!(harmless("two\n\tlines ü אב 👩‍🔧"), Cow::Borrowed(_)));
        assert_eq!(harmless("\u{1b}[2J\r\u{9b}x\u{7f}"), "\\u001b[2J\\u000d\\u009bx\\u007f");
        assert_eq!(harmless("a\u{202e}b\u{2066}c\u{200f}\u{2028}"), "a\\u202eb\\u2066c\\u200f\\u2028");
        assert!(matches!(harmless("a,b\r\nc,d\r\n"), Cow::Borrowed(_)));
        assert_eq!(harmless("a\u{9b},\rb\r\n"), "a\\u009b,\\u000db\r\n");
        assert_eq!(in_a_line("one\ntwo\tthree\u{9d}"), "one two three\\u009d");
    }

    #[test]
    fn escapes_all_control_characters_reversibly() {
        let all: String = (0..=0x2fff).filter_map(char::from_u32).collect();
        let shown = harmless(&all);
        assert!(!shown.contains(|sign: char| is_obeyed(sign) && !matches!(sign, '\n' | '\t')));
        assert!(!in_a_line(&all).contains(is_obeyed));
        let raw = "{\"name\": \"\u{9b}2J\u{202e}\"}";
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
        assert_eq!(value(&harmless(raw)), value(raw));
    }
}
