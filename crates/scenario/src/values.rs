//! The keys of settings and their values: on or off, words, integers or other text.

use std::{
    fmt,
    ops::{Range, RangeInclusive},
    str::FromStr,
};

use serde_json::{Value, json};
use units::Bytes;

use crate::{diagnosis::Problem, nearest};

pub(crate) struct Word<S: 'static> {
    pub(crate) word: &'static str,
    pub(crate) about: &'static str,
    pub(crate) values: Values<S>,
}

pub(crate) enum Values<S: 'static> {
    Switch(fn(bool) -> S),
    Words(&'static [(&'static str, S)]),
    Numbers { range: RangeInclusive<u32>, describe: fn(u32) -> String, set: fn(u32) -> S },
    Texts(&'static [&'static str], fn(&Label<'_>) -> Result<S, Problem>),
}

pub(crate) struct Label<'a> {
    pub(crate) word: &'a str,
    pub(crate) text: &'a str,
    pub(crate) place: Range<usize>,
}

const SWITCH: [(&str, bool); 2] = [("on", true), ("off", false)];

impl<S> Word<S> {
    pub(crate) const fn switch(word: &'static str, about: &'static str, set: fn(bool) -> S) -> Self {
        Self { word, about, values: Values::Switch(set) }
    }
}

impl<S: Clone> Word<S> {
    pub(crate) fn read(&self, text: &str, place: Range<usize>) -> Result<S, Problem> {
        let label = Label { word: self.word, text, place };
        match &self.values {
            Values::Switch(set) => label.one_of(&SWITCH).map(set),
            Values::Words(words) => label.one_of(words),
            Values::Numbers { range, describe, set } => label.number(range, *describe).map(set),
            Values::Texts(_, read) => read(&label),
        }
    }

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

    pub(crate) fn quantity<T: FromStr<Err: fmt::Display>>(&self, otherwise: &str) -> Result<T, Problem> {
        self.text
            .parse()
            .map_err(|error: T::Err| Problem::new(self.place.clone(), error.to_string(), otherwise))
    }

    pub(crate) fn out_of_range(&self, value: &str, help: impl Into<String>) -> Problem {
        Problem::new(self.place.clone(), format!("{value} out of range"), "out of range").help(help)
    }

    pub(crate) fn invalid(&self, help: impl Into<String>) -> Problem {
        let message = format!("`{}` is not a valid value of `{}`", self.text, self.word);
        Problem::new(self.place.clone(), message, "invalid value").help(help)
    }

    fn one_of<T: Clone>(&self, words: &[(&str, T)]) -> Result<T, Problem> {
        let found = words.iter().find(|(word, _)| *word == self.text).map(|(_, value)| value.clone());
        found.ok_or_else(|| {
            let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.invalid(nearest::advice(self.text, "values", names))
        })
    }

    fn number(&self, range: &RangeInclusive<u32>, describe: fn(u32) -> String) -> Result<u32, Problem> {
        let number = self.text.parse().map_err(|_| self.invalid("write an integer without a unit"))?;
        if range.contains(&number) {
            return Ok(number);
        }
        Err(self.out_of_range(&describe(number), format!("use {} to {}", range.start(), range.end())))
    }
}
