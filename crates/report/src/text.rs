//! Text as spans with a meaning. Each backend chooses its own styles.

use findings::{Part, PartKind, Phrase};

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

/// Keeps a number and its unit on one line. Backends print an ordinary space.
pub(crate) const GLUE: char = '\u{a0}';

/// Allows a break within a word, without a hyphen. Backends print nothing.
pub(crate) const SOFT: char = '\u{200b}';

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Text(pub(crate) Vec<Span>);

impl Text {
    /// Escapes control characters, because names come from users.
    pub(crate) fn of(tone: Tone, text: impl AsRef<str>) -> Self {
        Self::default().and(tone, text)
    }

    /// Keeps quantities on one line, but allows breaks in names.
    pub(crate) fn phrase(tone: Tone, phrase: &Phrase) -> Self {
        let part = |Part { text, kind }: &Part| match kind {
            PartKind::Text => text.clone(),
            PartKind::Quantity(_) => glued(text),
            PartKind::Result { .. } | PartKind::Device => softened(text),
        };
        Self::of(tone, phrase.parts().iter().map(part).collect::<String>())
    }

    pub(crate) fn and(mut self, tone: Tone, text: impl AsRef<str>) -> Self {
        let text = in_a_line(text.as_ref());
        match self.0.last_mut() {
            Some(last) if last.tone == tone => last.text.push_str(&text),
            _ if text.is_empty() => {}
            _ => self.0.push(Span { text, tone }),
        }
        self
    }

    pub(crate) fn then(self, other: Self) -> Self {
        other.0.into_iter().fold(self, |text, Span { text: next, tone }| text.and(tone, next))
    }

    pub(crate) fn characters(&self) -> String {
        self.0.iter().map(Span::printed).collect()
    }
}

macro_rules! tones {
    ($($tone:ident: $of:ident, $and:ident;)*) => {
        impl Text {
            $(
                pub(crate) fn $of(text: impl AsRef<str>) -> Self {
                    Self::of(Tone::$tone, text)
                }

                pub(crate) fn $and(self, text: impl AsRef<str>) -> Self {
                    self.and(Tone::$tone, text)
                }
            )*
        }
    };
}

tones! {
    Plain: plain, and_plain;
    Strong: strong, and_strong;
    Code: code, and_code;
    Good: good, and_good;
    Bad: bad, and_bad;
    Doubtful: doubtful, and_doubtful;
    Faint: faint, and_faint;
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
