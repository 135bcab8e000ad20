//! `plumb report`: a run that was measured before, in any format.

use std::{
    fs,
    path::{Path, PathBuf},
};

use ::report::{Format, Options};
use anyhow::Context;
use clap::{Args, ValueEnum};
use findings::Findings;
use samples::RunRecord;

use crate::{exit::Exit, failure::Misuse, kept, say, shared::Shared};

/// Flags of `plumb report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// A run's name, the beginning of it, `latest`, or `latest:SCENARIO`
    #[arg(default_value = "latest")]
    run: String,
    /// How it is written
    #[arg(long, short, value_enum)]
    format: Option<FormatName>,
    /// Write to this file; its ending chooses the format unless --format does: .md, .json, .csv
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Formats by the name that is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatName {
    /// For reading here
    Terminal,
    /// GitHub-flavoured, with the per-interval data folded
    Markdown,
    /// The findings, complete, for programs
    Json,
    /// One row for each cell
    Csv,
    /// One row for each trial
    CsvTrials,
    /// The run record: everything that was recorded, nothing computed
    Raw,
}

/// Reports it.
pub(crate) fn run(args: &ReportArgs, shared: &Shared) -> anyhow::Result<Exit> {
    let destination = match (&args.output, args.format) {
        (Some(path), Some(format)) => Some(Destination { path: path.clone(), format }),
        (Some(path), None) => Some(Destination::parse(path)?),
        (None, _) => None,
    };
    let store = kept::open(shared.db.as_deref())?;
    let record = store.load(&store.resolve(&args.run)?)?;
    let findings = analysis::analyse(&record);
    match destination {
        Some(destination) => {
            destination.write(&findings, &record)?;
            say::aside(format_args!("report written to {}", destination.path.display()));
        }
        None => say::text(here(&findings, &record, args.format.unwrap_or(FormatName::Terminal))?)?,
    }
    Ok(Exit::Success)
}

/// The report as this terminal shows it best.
pub(crate) fn for_terminal(findings: &Findings, record: &RunRecord) -> anyhow::Result<String> {
    here(findings, record, FormatName::Terminal)
}

fn here(findings: &Findings, record: &RunRecord, format: FormatName) -> anyhow::Result<String> {
    let terminal = console::Term::stdout();
    let width = terminal.size_checked().map_or(100, |(_, columns)| usize::from(columns).clamp(60, 120));
    format.write(findings, record, &Options { colour: console::colors_enabled(), width })
}

impl FormatName {
    fn write(self, findings: &Findings, record: &RunRecord, options: &Options) -> anyhow::Result<String> {
        let format = match self {
            Self::Terminal => Format::Terminal,
            Self::Markdown => Format::Markdown,
            Self::Json => Format::Json,
            Self::Csv => Format::Csv,
            Self::CsvTrials => Format::CsvTrials,
            Self::Raw => return Ok(serde_json::to_string_pretty(record)? + "\n"),
        };
        Ok(::report::render(findings, Some(record), format, options))
    }
}

/// A file that a report is written to.
#[derive(Debug, Clone)]
pub(crate) struct Destination {
    path: PathBuf,
    format: FormatName,
}

impl Destination {
    /// Takes the format from the file's ending.
    pub(crate) fn parse(path: &Path) -> anyhow::Result<Self> {
        let format = match path.extension().and_then(|ending| ending.to_str()) {
            Some("md" | "markdown") => FormatName::Markdown,
            Some("json") => FormatName::Json,
            Some("csv") => FormatName::Csv,
            Some("txt") => FormatName::Terminal,
            _ => {
                let message = format!("the ending of {} names no format", path.display());
                return Err(Misuse::new(message)
                    .hint("use .md, .json, .csv or .txt, or say --format")
                    .into());
            }
        };
        Ok(Self { path: path.to_owned(), format })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the report; the folder is made if it is not there.
    pub(crate) fn write(&self, findings: &Findings, record: &RunRecord) -> anyhow::Result<()> {
        let options = Options { colour: false, width: 100 };
        let text = self.format.write(findings, record, &options)?;
        if let Some(folder) = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).with_context(|| format!("cannot make folder {}", folder.display()))?;
        }
        fs::write(&self.path, text)
            .with_context(|| format!("cannot write the report to {}", self.path.display()))
    }
}
