//! `plumb compare`: one run against another.

use std::path::PathBuf;

use ::report::{Format, Options};
use clap::{Args, ValueEnum};
use findings::{Gate, RunComparison};
use samples::RunRecord;

use crate::{destination, exit::Exit, global_flags::GlobalFlags, output, run_reference::References};

/// Flags of `plumb compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// The reference: a run's name or the beginning of it, `latest`, `latest:SCENARIO`, a baseline's name, or a file
    a: String,
    /// What is compared with it, named likewise
    b: String,
    #[command(flatten)]
    history: History,
    #[command(flatten)]
    shown: Rendering,
}

/// Where the noise between runs is learned.
#[derive(Debug, Args)]
pub(super) struct History {
    /// Assume what runs differ by, instead of learning it from the newest further runs of A's scenario that are kept
    #[arg(long)]
    no_history: bool,
}

/// How a contrast is written, and where.
#[derive(Debug, Args)]
pub(super) struct Rendering {
    /// How it is written
    #[arg(long, short, value_enum)]
    format: Option<ComparisonFormat>,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write to this file; its ending chooses the format unless --format does: .html, .md,
    /// .json, .csv
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Formats by the name that is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ComparisonFormat {
    /// For reading here
    Terminal,
    /// GitHub-flavoured, with every interval
    #[value(alias = "md")]
    Markdown,
    /// One file for a browser, with pictures
    Html,
    /// The document, complete, for programs
    Json,
    /// One row for each cell
    Csv,
}

/// Compares them.
pub(crate) fn run(args: &CompareArgs, shared: &GlobalFlags) -> anyhow::Result<Exit> {
    let show = args.shown.resolved()?;
    let mut held = References::new(shared);
    let (a, b) = (held.load(&args.a)?, held.load(&args.b)?);
    show.write(&args.history.contrast(&held, &a, &b)?, None)?;
    Ok(Exit::Success)
}

impl History {
    /// B against A, beside what further runs show.
    pub(super) fn contrast(
        &self,
        held: &References<'_>,
        a: &RunRecord,
        b: &RunRecord,
    ) -> anyhow::Result<RunComparison> {
        let others = if self.no_history { Vec::new() } else { held.others(a, b)? };
        Ok(analysis::comparison(a, b, &others))
    }
}

impl Rendering {
    /// Format and place; a mistake in them is told before any work.
    pub(super) fn resolved(&self) -> anyhow::Result<Show> {
        let named = self.format.map(ComparisonFormat::format).or(self.json.then_some(Format::Json));
        let format = match (named, &self.output) {
            (Some(format), _) => format,
            (None, Some(path)) => destination::format_of(path)?,
            (None, None) => Format::Terminal,
        };
        Ok(Show { format, path: self.output.clone() })
    }
}

/// A format and a place.
pub(super) struct Show {
    format: Format,
    path: Option<PathBuf>,
}

impl Show {
    /// Writes a contrast there.
    pub(super) fn write(&self, contrast: &RunComparison, gate: Option<&Gate>) -> anyhow::Result<()> {
        let text = |options: &Options| ::report::render_contrast(contrast, gate, self.format, options);
        let Some(path) = &self.path else { return Ok(output::coloured(&text(&destination::here()))?) };
        destination::write(path, &text(&destination::in_a_file()))?;
        output::aside(format_args!("report written to {}", path.display()));
        Ok(())
    }
}

impl ComparisonFormat {
    const fn format(self) -> Format {
        match self {
            Self::Terminal => Format::Terminal,
            Self::Markdown => Format::Markdown,
            Self::Html => Format::Html,
            Self::Json => Format::Json,
            Self::Csv => Format::Csv,
        }
    }
}
