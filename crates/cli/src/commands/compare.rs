//! `plumb compare`: compares two runs.

use std::path::PathBuf;

use ::report::{Format, Options};
use anyhow::Result;
use clap::{Args, ValueEnum};
use findings::RunComparison;
use samples::RunRecord;

use crate::{
    destination, exit::Exit, failure::Misuse, global_flags::GlobalFlags, output, run_reference::References,
};

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// The reference: a run's name or prefix, `latest`, `latest:SCENARIO`, a baseline's name, or a
    /// file
    a: String,
    /// The run to compare, in any of the same forms
    b: String,
    #[command(flatten)]
    history: History,
    #[command(flatten)]
    shown: Rendering,
}

#[derive(Debug, Args)]
pub(super) struct History {
    /// Assume the default run-to-run noise, instead of estimating it from the newest runs of A's scenario
    #[arg(long)]
    no_history: bool,
}

#[derive(Debug, Args)]
pub(super) struct Rendering {
    /// Output format
    #[arg(long, short, value_enum)]
    format: Option<ComparisonFormat>,
    /// Same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write to this file; its extension selects the format unless --format does: .html, .md, .json, .csv, .xml
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ComparisonFormat {
    /// Text for this terminal
    Terminal,
    /// GitHub-flavoured Markdown, with all intervals
    #[value(alias = "md")]
    Markdown,
    /// A single file for a web browser, with charts
    Html,
    /// The complete document, for programs
    Json,
    /// One row per result
    Csv,
    /// One test case per result, for CI servers (`plumb check` only)
    Junit,
}

pub(crate) fn run(args: &CompareArgs, shared: &GlobalFlags) -> Result<Exit> {
    let show = args.shown.resolved()?;
    let mut references = References::new(shared);
    let (a, b) = (references.load(&args.a)?, references.load(&args.b)?);
    show.write(&args.history.compare(&references, &a, &b)?)?;
    Ok(Exit::Success)
}

impl History {
    pub(super) fn compare(
        &self,
        references: &References<'_>,
        a: &RunRecord,
        b: &RunRecord,
    ) -> Result<RunComparison> {
        let others = if self.no_history { Vec::new() } else { references.others(a, b)? };
        Ok(analysis::comparison(a, b, &others))
    }
}

impl Rendering {
    pub(super) fn resolved(&self) -> Result<Show> {
        let named = self.format.map(ComparisonFormat::layout);
        let named = named.or(self.json.then_some(Layout::Page(Format::Json)));
        let layout = match (named, &self.output) {
            (Some(layout), _) => layout,
            (None, Some(path)) if path.extension().is_some_and(|it| it == "xml") => Layout::Junit,
            (None, Some(path)) => Layout::Page(destination::format_of(path)?),
            (None, None) => Layout::Page(Format::Terminal),
        };
        Ok(Show { layout, path: self.output.clone() })
    }
}

#[derive(Clone, Copy)]
enum Layout {
    Page(Format),
    Junit,
}

pub(super) struct Show {
    layout: Layout,
    path: Option<PathBuf>,
}

impl Show {
    pub(super) fn write(&self, comparison: &RunComparison) -> Result<()> {
        let text = |options: &Options| match (self.layout, &comparison.gate) {
            (Layout::Page(format), _) => Ok(::report::render_comparison(comparison, format, options)),
            (Layout::Junit, Some(gate)) => Ok(::report::render_junit(comparison, gate)),
            (Layout::Junit, None) => {
                Err(Misuse::new("a comparison has no limits, so no result passes or fails")
                    .hint("use `plumb check` for JUnit, or another format"))
            }
        };
        let Some(path) = &self.path else { return Ok(output::coloured(&text(&destination::here())?)?) };
        destination::write(path, &text(&destination::in_a_file())?)?;
        output::aside(format_args!("report written to {}", path.display()));
        Ok(())
    }
}

impl ComparisonFormat {
    const fn layout(self) -> Layout {
        Layout::Page(match self {
            Self::Terminal => Format::Terminal,
            Self::Markdown => Format::Markdown,
            Self::Html => Format::Html,
            Self::Json => Format::Json,
            Self::Csv => Format::Csv,
            Self::Junit => return Layout::Junit,
        })
    }
}
