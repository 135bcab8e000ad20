//! The crate's entry point: renders findings as text with a final newline.

use std::{fmt, str::FromStr};

use findings::{
    Findings, Gate, MemorySummary, Objective, RunComparison, SingleMeasurement, TraceComparison,
    TraceSummary, VmSummary,
};
use samples::RunRecord;
use serde::Serialize;

use crate::{
    backends, comparison, memory,
    page::{Page, Summary},
    sections, single, trace,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Terminal,
    /// The complete report as GitHub Flavored Markdown, with long parts folded.
    Markdown,
    /// The complete report as a single file for a browser, with long parts folded.
    Html,
    Latex,
    Json,
    Csv,
    CsvTrials,
}

impl Format {
    pub const ALL: [Self; 7] =
        [Self::Terminal, Self::Markdown, Self::Html, Self::Latex, Self::Json, Self::Csv, Self::CsvTrials];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Markdown => "markdown",
            Self::Html => "html",
            Self::Latex => "latex",
            Self::Json => "json",
            Self::Csv => "csv",
            Self::CsvTrials => "csv-trials",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == text)
            .ok_or_else(|| UnknownFormat(text.to_owned()))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownFormat(String);

impl fmt::Display for UnknownFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Format::ALL.map(Format::name).join(", ");
        write!(f, "unknown format `{}`; use one of {names}", self.0)
    }
}

impl std::error::Error for UnknownFormat {}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// The summary, the chart or table of the main results, and the findings.
    Short,
    Full,
    Section(&'static str),
}

pub fn section_names() -> impl Iterator<Item = &'static str> {
    sections::names()
}

/// Formats without a layout ignore these options.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    pub colour: bool,
    /// The width in columns. Values below 60 are treated as 60.
    pub width: usize,
    /// `None` uses the run's objective.
    pub objective: Option<Objective>,
    /// `None` selects the short view on a terminal and the full view elsewhere.
    pub view: Option<View>,
    pub summary: Summary,
    /// The `--db` flag to add to printed commands, e.g. `--db runs.db`. Only the terminal prints it.
    pub database: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        let (objective, view) = (None, None);
        Self { colour: false, width: 100, objective, view, summary: Summary::First, database: None }
    }
}

/// `record` provides the raw samples.
#[must_use]
pub fn render(findings: &Findings, record: Option<&RunRecord>, format: Format, options: &Options) -> String {
    let page = |usual| sections::page(findings, record, options, usual);
    match format {
        Format::Terminal => backends::terminal(&page(View::Short), options),
        Format::Markdown => backends::markdown(&page(View::Full)),
        Format::Html => backends::html(&page(View::Full)),
        Format::Latex => backends::latex(&page(View::Full)),
        Format::Json => backends::json(findings),
        Format::Csv => backends::csv_results(findings),
        Format::CsvTrials => backends::csv_trials(findings, record),
    }
}

/// In both CSV formats, there is one row per result.
#[must_use]
pub fn render_comparison(comparison: &RunComparison, format: Format, options: &Options) -> String {
    let place = if format == Format::Terminal { Summary::Last } else { Summary::First };
    let page = || comparison::page(comparison, place);
    match format {
        Format::Terminal => backends::terminal(&page(), options),
        Format::Markdown => backends::markdown(&page()),
        Format::Html => backends::html(&page()),
        Format::Latex => backends::latex(&page()),
        Format::Json => backends::json(comparison),
        Format::Csv | Format::CsvTrials => backends::csv_comparison(comparison),
    }
}

#[must_use]
pub fn render_junit(comparison: &RunComparison, gate: &Gate) -> String {
    backends::junit(comparison, gate)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SingleFormat {
    Terminal,
    /// GitHub Flavored Markdown, with the effective configuration.
    Markdown,
    Html,
    Json,
}

fn in_format(page: &Page, document: &impl Serialize, format: SingleFormat, options: &Options) -> String {
    match format {
        SingleFormat::Terminal => backends::terminal(page, options),
        SingleFormat::Markdown => backends::markdown(page),
        SingleFormat::Html => backends::html(page),
        SingleFormat::Json => backends::json(document),
    }
}

/// Any [`View::Section`] selects all hints and warnings.
#[must_use]
pub fn render_single(single: &SingleMeasurement, format: SingleFormat, options: &Options) -> String {
    let usual = if format == SingleFormat::Terminal { View::Short } else { View::Full };
    in_format(&single::page(single, options.view.unwrap_or(usual)), single, format, options)
}

/// Formats a measurement's main value on one line, without a trailing newline. Marks the line if there are warnings.
#[must_use]
pub fn measurement_line(single: &SingleMeasurement) -> String {
    single::line(single)
}

/// Limits tables to `top` rows, except in JSON.
#[must_use]
pub fn render_trace(summary: &TraceSummary, top: usize, format: SingleFormat, options: &Options) -> String {
    in_format(&trace::page(summary, top), summary, format, options)
}

/// Limits tables to `top` rows.
#[must_use]
pub fn render_vm(summary: &VmSummary, top: usize, format: SingleFormat, options: &Options) -> String {
    in_format(&trace::vm_page(summary, top), summary, format, options)
}

#[must_use]
pub fn render_memory(summary: &MemorySummary, format: SingleFormat, options: &Options) -> String {
    in_format(&memory::page(summary), summary, format, options)
}

#[must_use]
pub fn render_trace_comparison(
    comparison: &TraceComparison,
    top: usize,
    format: SingleFormat,
    options: &Options,
) -> String {
    in_format(&trace::comparison_page(comparison, top), comparison, format, options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_displayed_format_names() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
    }

    #[test]
    fn error_lists_known_formats() {
        let error = "md".parse::<Format>().expect_err("is no name").to_string();
        assert_eq!(
            error,
            "unknown format `md`; use one of terminal, markdown, html, latex, json, csv, csv-trials"
        );
    }
}
