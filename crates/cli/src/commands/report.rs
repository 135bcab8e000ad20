//! `plumb report`: a run that was measured before, in any format.

use std::path::{Path, PathBuf};

use ::report::{Format, Options};
use clap::{Args, ValueEnum};
use findings::{Findings, Objective};
use samples::RunRecord;

use crate::{
    destination,
    exit::Exit,
    global_flags::GlobalFlags,
    output, remedy_results, store_path,
    value_parsers::{Word, one_of},
};

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
    /// What a sweep's recommendation is for [default: what the run was made for, or efficient]
    #[arg(long, value_parser = one_of(OBJECTIVES))]
    objective: Option<Objective>,
}

/// What a setting can be sought for.
pub(crate) const OBJECTIVES: &[Word<Objective>] = &[
    ("max", Objective::Max, "The best value; of those that cannot be told apart the cheapest"),
    (
        "efficient",
        Objective::Efficient,
        "The most for the CPU time spent, among settings within 10 % of the best",
    ),
    ("low-cpu", Objective::LowCpu, "The least CPU time, among settings within a half of the best"),
];

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
pub(crate) fn run(args: &ReportArgs, shared: &GlobalFlags) -> anyhow::Result<Exit> {
    let destination = match (&args.output, args.format) {
        (Some(path), Some(format)) => Some(Destination { path: path.clone(), format }),
        (Some(path), None) => Some(Destination::parse(path)?),
        (None, _) => None,
    };
    let store = store_path::open(shared.db.as_deref())?;
    let (record, findings) = remedy_results::findings(&store, store.load(&store.resolve(&args.run)?)?)?;
    let objective = args.objective;
    match destination {
        Some(destination) => {
            destination.write_for(&findings, &record, objective)?;
            output::aside(format_args!("report written to {}", destination.path.display()));
        }
        None => {
            let options = Options { objective, ..destination::here() };
            let format = args.format.unwrap_or(FormatName::Terminal);
            output::text(format.write(&findings, &record, &options)?)?;
        }
    }
    Ok(Exit::Success)
}

/// The report as this terminal shows it best.
pub(crate) fn for_terminal(findings: &Findings, record: &RunRecord) -> anyhow::Result<String> {
    FormatName::Terminal.write(findings, record, &destination::here())
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
        let format = match destination::format_of(path)? {
            Format::Markdown => FormatName::Markdown,
            Format::Json => FormatName::Json,
            Format::Csv => FormatName::Csv,
            Format::CsvTrials => FormatName::CsvTrials,
            Format::Terminal => FormatName::Terminal,
        };
        Ok(Self { path: path.to_owned(), format })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the report; the folder is made if it is not there.
    pub(crate) fn write(&self, findings: &Findings, record: &RunRecord) -> anyhow::Result<()> {
        self.write_for(findings, record, None)
    }

    fn write_for(
        &self,
        findings: &Findings,
        record: &RunRecord,
        objective: Option<Objective>,
    ) -> anyhow::Result<()> {
        let options = Options { objective, ..destination::in_a_file() };
        destination::write(&self.path, &self.format.write(findings, record, &options)?)
    }
}
