//! Words of the language that set one thing, and the values that each takes: on or off, words, whole numbers or another
//! text. Must not know what is set.

use std::{
    fmt,
    ops::{Range, RangeInclusive},
    str::FromStr,
};

use serde_json::{Value, json};
use units::Bytes;

use crate::{diagnosis::Problem, nearest};

/// A word, and what its values set.
pub(crate) struct Word<S: 'static> {
    /// As it is written.
    pub(crate) word: &'static str,
    /// What it sets, for editors.
    pub(crate) about: &'static str,
    /// What may be written for it.
    pub(crate) values: Values<S>,
}

/// The values of a word.
pub(crate) enum Values<S: 'static> {
    /// `on` and `off`.
    Switch(fn(bool) -> S),
    /// These words.
    Words(&'static [(&'static str, S)]),
    /// Whole numbers.
    Numbers {
        /// The least and the most.
        range: RangeInclusive<u32>,
        /// A number that is out of the range, as the beginning of a sentence: `0 queues are`.
        said: fn(u32) -> String,
        set: fn(u32) -> S,
    },
    /// Anything else: texts like these, and what reads them.
    Texts(&'static [&'static str], fn(&Label<'_>) -> Result<S, Problem>),
}

/// A value as written.
pub(crate) struct Label<'a> {
    /// The word that it is a value of.
    pub(crate) word: &'a str,
    pub(crate) text: &'a str,
    /// Where it stands.
    pub(crate) place: Range<usize>,
}

const SWITCH: [(&str, bool); 2] = [("on", true), ("off", false)];

impl<S: Clone> Word<S> {
    /// What the value `text` sets.
    pub(crate) fn read(&self, text: &str, place: Range<usize>) -> Result<S, Problem> {
        let label = Label { word: self.word, text, place };
        match &self.values {
            Values::Switch(set) => label.one_of(&SWITCH).map(set),
            Values::Words(words) => label.one_of(words),
            Values::Numbers { range, said, set } => label.number(range, *said).map(set),
            Values::Texts(_, read) => read(&label),
        }
    }

    /// What editors are told of a value.
    pub(crate) fn schema(&self) -> Value {
        let mut schema = match &self.values {
            Values::Switch(_) => json!({ "type": "string", "enum": SWITCH.map(|(word, _)| word) }),
            Values::Words(words) => {
                json!({ "type": "string", "enum": words.iter().map(|(word, _)| word).collect::<Vec<_>>() })
            }
            Values::Numbers { range, .. } => {
                json!({ "type": "integer", "minimum": range.start(), "maximum": range.end() })
            }
            Values::Texts(examples, _) => json!({ "type": ["string", "integer"], "examples": examples }),
        };
        schema["description"] = json!(self.about);
        schema
    }
}

impl Label<'_> {
    pub(crate) fn size(&self) -> Result<Bytes, Problem> {
        self.quantity("not a size")
    }

    /// A quantity with its unit.
    pub(crate) fn quantity<T: FromStr<Err: fmt::Display>>(&self, otherwise: &str) -> Result<T, Problem> {
        self.text
            .parse()
            .map_err(|error: T::Err| Problem::new(self.place.clone(), error.to_string(), otherwise))
    }

    /// A value that is read, but cannot be.
    pub(crate) fn out_of_range(&self, said: &str, help: impl Into<String>) -> Problem {
        Problem::new(self.place.clone(), format!("{said} out of range"), "out of range").help(help)
    }

    /// No value of its word.
    pub(crate) fn refused(&self, help: impl Into<String>) -> Problem {
        let message = format!("`{}` is not a value of `{}`", self.text, self.word);
        Problem::new(self.place.clone(), message, "not a value").help(help)
    }

    fn one_of<T: Clone>(&self, words: &[(&str, T)]) -> Result<T, Problem> {
        let found = words.iter().find(|(word, _)| *word == self.text).map(|(_, value)| value.clone());
        found.ok_or_else(|| {
            let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.refused(nearest::advice(self.text, "values", names))
        })
    }

    fn number(&self, range: &RangeInclusive<u32>, said: fn(u32) -> String) -> Result<u32, Problem> {
        let number = self.text.parse().map_err(|_| self.refused("write a whole number, without a unit"))?;
        if range.contains(&number) {
            return Ok(number);
        }
        Err(self.out_of_range(&said(number), format!("take {} to {}", range.start(), range.end())))
    }
}
