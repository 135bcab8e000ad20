//! Errors in TOML files, shown with their location.

use std::{fmt, ops::Range, path::Path};

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
use serde::de::DeserializeOwned;

#[derive(Debug)]
pub(crate) struct Misread {
    text: NamedSource<String>,
    pub(crate) at: Range<usize>,
    pub(crate) message: String,
    help: &'static str,
}

impl Misread {
    pub(crate) fn new(
        file: &Path,
        text: &str,
        at: Range<usize>,
        message: impl Into<String>,
        help: &'static str,
    ) -> Self {
        let text = NamedSource::new(file.display().to_string(), text.to_owned()).with_language("TOML");
        Self { text, at, message: message.into(), help }
    }
}

pub(crate) fn parse<T: DeserializeOwned>(file: &Path, text: &str, help: &'static str) -> Result<T, Misread> {
    toml::from_str(text).map_err(|error| {
        let at = error.span().unwrap_or(0..text.len().min(1));
        Misread::new(file, &without_passwords(text), at, without_passwords(error.message()), help)
    })
}

/// Replaces everything after the scheme of a store address with asterisks, because it may contain a password.
fn without_passwords(text: &str) -> String {
    let shown = |line: &str| {
        let schemes = ["postgres://", "postgresql://"].iter();
        let at = schemes.filter_map(|scheme| Some(line.find(scheme)? + scheme.len())).min();
        let (head, rest) = line.split_at(at.unwrap_or(line.len()));
        let stars =
            rest.bytes().map(|byte| if matches!(byte, b'\n' | b'\r') { char::from(byte) } else { '*' });
        head.chars().chain(stars).collect::<String>()
    };
    text.split_inclusive('\n').map(shown).collect()
}

impl fmt::Display for Misread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Misread {}

impl Diagnostic for Misread {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.text)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new([LabeledSpan::at(self.at.clone(), "here")].into_iter()))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.help))
    }
}
