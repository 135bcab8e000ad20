//! Text as spans with a meaning, which each backend styles.

use crate::harmless::in_a_line;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Strong,
    Code,
    Good,
    Bad,
    Doubtful,
    Faint,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) text: String,
    pub(crate) tone: Tone,
}

impl Span {
    pub(crate) fn printed(&self) -> String {
        self.text.replace(GLUE, " ").replace(SOFT, "")
    }
}

/// Keeps a number and its unit on one line. Backends print it as a space.
pub(crate) const GLUE: char = '\u{a0}';

/// Allows a break within a word without a hyphen. Backends print nothing for it.
pub(crate) const SOFT: char = '\u{200b}';

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Text(pub(crate) Vec<Span>);

impl Text {
    /// Creates text in one tone. Escapes control characters, because names come from user-written files.
    pub(crate) fn of(tone: Tone, text: impl AsRef<str>) -> Self {
        Self::default().and(tone, text)
    }

    pub(crate) fn and(mut self, tone: Tone, text: impl AsRef<str>) -> Self {
        let text = in_a_line(text.as_ref());
        if !text.is_empty() {
            self.0.push(Span { text, tone });
        }
        self
    }

    pub(crate) fn then(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    pub(crate) fn characters(&self) -> String {
        self.0.iter().map(Span::printed).collect()
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::of(Tone::Plain, text)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::of(Tone::Plain, text)
    }
}

pub(crate) fn softened(text: &str) -> String {
    text.replace('-', &format!("-{SOFT}")).replace('=', &format!("={SOFT}"))
}

pub(crate) fn glued(text: &str) -> String {
    text.replace(' ', &GLUE.to_string())
}
