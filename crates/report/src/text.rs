//! Text as spans with a meaning, which each backend styles.

use crate::harmless::in_a_line;

/// What a span means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Strong,
    /// Something to type, or typed by a program.
    Code,
    Good,
    Bad,
    /// Worth a second look.
    Doubtful,
    /// Beside the point.
    Faint,
}

/// Characters of one tone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) text: String,
    pub(crate) tone: Tone,
}

impl Span {
    /// Its characters as they are printed.
    pub(crate) fn printed(&self) -> String {
        self.text.replace(GLUE, " ").replace(SOFT, "")
    }
}

/// Keeps a number and its unit on one line. Backends print it as a space.
pub(crate) const GLUE: char = '\u{a0}';

/// Where a word may be broken without a sign of it. Backends print nothing for it.
pub(crate) const SOFT: char = '\u{200b}';

/// A line of text of any length.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Text(pub(crate) Vec<Span>);

impl Text {
    /// Text of one tone, harmless: names come from files that people write.
    pub(crate) fn of(tone: Tone, text: impl AsRef<str>) -> Self {
        Self::default().and(tone, text)
    }

    /// Continues with text of a tone.
    pub(crate) fn and(mut self, tone: Tone, text: impl AsRef<str>) -> Self {
        let text = in_a_line(text.as_ref());
        if !text.is_empty() {
            self.0.push(Span { text, tone });
        }
        self
    }

    /// Continues with another text.
    pub(crate) fn then(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Its characters without their meaning.
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

/// The same text, to be broken after a hyphen or an equals sign where room is short.
pub(crate) fn softened(text: &str) -> String {
    text.replace('-', &format!("-{SOFT}")).replace('=', &format!("={SOFT}"))
}

/// The same text, its words kept on one line.
pub(crate) fn glued(text: &str) -> String {
    text.replace(' ', &GLUE.to_string())
}
