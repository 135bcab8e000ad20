//! Problems in a document, with their positions and hints.

use std::{fmt, ops::Range, sync::Arc};

use miette::{Diagnostic, LabeledSpan, NamedSource, Severity, SourceCode};
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) span: Range<usize>,
    pub(crate) message: String,
    pub(crate) label: String,
    pub(crate) help: Option<String>,
}

impl Problem {
    pub(crate) fn new(span: Range<usize>, message: impl Into<String>, label: impl Into<String>) -> Self {
        Self { span, message: message.into(), label: label.into(), help: None }
    }

    pub(crate) fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    pub line: usize,
    pub column: usize,
    pub message: String,
    pub help: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Diagnosis {
    source: NamedSource<Arc<str>>,
    problems: Vec<Problem>,
}

impl Diagnosis {
    pub(crate) fn new(source_name: &str, text: &str, mut problems: Vec<Problem>) -> Self {
        for problem in &mut problems {
            problem.span = clamped(text, &problem.span);
        }
        problems.sort_by_key(|problem| (problem.span.start, problem.span.end));
        problems.dedup();
        Self { source: NamedSource::new(source_name, Arc::from(text)).with_language("TOML"), problems }
    }

    #[must_use]
    pub fn source_name(&self) -> &str {
        self.source.name()
    }

    pub fn problems(&self) -> impl Iterator<Item = Place> {
        self.problems.iter().map(|problem| {
            let (line, column) = line_and_column(self.source.inner(), problem.span.start);
            Place { line, column, message: problem.message.clone(), help: problem.help.clone() }
        })
    }
}

fn clamped(text: &str, span: &Range<usize>) -> Range<usize> {
    let start = text.floor_char_boundary(span.start.min(text.len()));
    let end = text.ceil_char_boundary(span.end.clamp(start, text.len()));
    start..end
}

fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problems.as_slice() {
            [only] => write!(f, "{}: {}", self.source.name(), only.message),
            many => write!(f, "{}: {} problems", self.source.name(), many.len()),
        }
    }
}

impl std::error::Error for Diagnosis {}

impl Diagnostic for Diagnosis {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        match self.problems.as_slice() {
            [only] => only.labels(),
            _ => None,
        }
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        match self.problems.as_slice() {
            [only] => only.help(),
            _ => None,
        }
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        match self.problems.as_slice() {
            [_] => None,
            many => Some(Box::new(many.iter().map(|problem| problem as &dyn Diagnostic))),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

impl Diagnostic for Problem {
    fn severity(&self) -> Option<Severity> {
        Some(Severity::Error)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let span = LabeledSpan::new_with_span(Some(self.label.clone()), self.span.clone());
        Some(Box::new(std::iter::once(span)))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display + 'a>)
    }
}
