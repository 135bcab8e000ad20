//! `plumb report`: a run that was measured before, in any format.

use std::{
    io::IsTerminal,
    path::{Path, PathBuf},
};

use ::report::{Format, Options, Requirement, Summary, View, section_names};
use clap::{Args, ValueEnum, builder::PossibleValuesParser};
use findings::{Findings, Objective};
use samples::RunRecord;

use crate::{
    destination, evidence,
    exit::Exit,
    failure::Misuse,
    global_flags::GlobalFlags,
    level_cap::LevelCap,
    output, pager, remedy_results, run_reference, store_path,
    value_parsers::{Word, one_of},
};

/// Flags of `plumb report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// A run's name, the beginning of it, `latest`, `latest:SCENARIO`, or a file: a page or a record of a run, another tool's log
    #[arg(default_value = "latest")]
    run: String,
    /// How it is written
    #[arg(long, short, value_enum)]
    format: Option<FormatName>,
    /// Write to this file; its ending chooses the format unless --format does: .html, .md,
    /// .tex, .json, .csv
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// What a sweep's recommendation is for [default: what the run was made for, or efficient]
    #[arg(long, value_parser = one_of(OBJECTIVES))]
    objective: Option<Objective>,
    /// A bound that a setting must keep to, as p99<50us or throughput>10Gbit/s: which do, and which of them costs the least CPU
    /// time (may be repeated)
    #[arg(long, value_name = "BOUND")]
    require: Vec<Requirement>,
    /// The highest level of a factor that may be recommended, as streams=16: settings beyond it are left out (may be repeated)
    #[arg(long, value_name = "FACTOR=N")]
    at_most: Vec<LevelCap>,
    /// Every section, beside the summary, the chart and the findings
    #[arg(long, conflicts_with = "section")]
    full: bool,
    /// This section alone, with all of its details
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(section_names()))]
    section: Option<String>,
    /// Print what is longer than the terminal without a pager
    #[arg(long)]
    no_pager: bool,
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
pub(crate) enum FormatName {
    /// For reading here
    Terminal,
    /// GitHub-flavoured, with the per-interval data folded
    #[value(alias = "md")]
    Markdown,
    /// One file for a browser, complete, with pictures
    Html,
    /// The tables, to be taken into a paper by LaTeX with booktabs
    Latex,
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
    let (record, findings) = if let Some(mut record) = run_reference::in_file(&args.run)? {
        LevelCap::apply(&args.at_most, &mut record)?;
        let findings = analysis::analyse(&record);
        (record, findings)
    } else {
        let store = store_path::open(shared.db.as_deref())?;
        let mut record = store.load(&store.resolve(&args.run)?)?;
        LevelCap::apply(&args.at_most, &mut record)?;
        remedy_results::findings(&store, record)?
    };
    args.fit(destination.as_ref().map(|to| to.format).or(args.format).unwrap_or(FormatName::Terminal))?;
    let asked = |options| Options {
        objective: args.objective,
        view: args.view(),
        requirements: args.require.clone(),
        ..options
    };
    match destination {
        Some(destination) => {
            destination.write_as(&findings, &record, &asked(destination::in_a_file()))?;
            output::aside(format_args!("report written to {}", destination.path.display()));
        }
        None => {
            let format = args.format.unwrap_or(FormatName::Terminal);
            let paged = format == FormatName::Terminal && !args.no_pager;
            // What its reader sees last; a pager begins at the top.
            let summary =
                if !paged && std::io::stdout().is_terminal() { Summary::Last } else { Summary::First };
            let options = Options { summary, ..asked(destination::here()) };
            let text = format.write(&findings, &record, &options)?;
            match format {
                FormatName::Terminal if paged => pager::text(&text, shared.settings.pager.as_deref())?,
                FormatName::Terminal => output::coloured(&text)?,
                _ => output::text(text)?,
            }
        }
    }
    Ok(Exit::Success)
}

impl ReportArgs {
    /// Refuses what a format would leave out in silence.
    fn fit(&self, format: FormatName) -> Result<(), Misuse> {
        let read = matches!(format, FormatName::Terminal | FormatName::Markdown | FormatName::Html);
        if !self.require.is_empty() && !read {
            let message = "--require: only reports that are read have its answer";
            return Err(Misuse::new(message).hint("choose terminal, markdown or html"));
        }
        if !self.at_most.is_empty() && format == FormatName::Raw {
            let message = "--at-most: a run's record is whole";
            return Err(Misuse::new(message).hint("choose another format than raw"));
        }
        Ok(())
    }

    fn view(&self) -> Option<View> {
        let named = |name: &String| section_names().find(|section| section == name).map(View::Section);
        self.section.as_ref().and_then(named).or(self.full.then_some(View::Full))
    }
}

/// The report as this terminal shows it best: what its reader sees last is the summary.
pub(crate) fn for_terminal(findings: &Findings, record: &RunRecord) -> anyhow::Result<String> {
    let summary = if std::io::stdout().is_terminal() { Summary::Last } else { Summary::First };
    FormatName::Terminal.write(findings, record, &Options { summary, ..destination::here() })
}

/// The summary alone.
pub(crate) fn summary(findings: &Findings, record: &RunRecord) -> anyhow::Result<String> {
    let view = Some(View::Section("summary"));
    FormatName::Terminal.write(findings, record, &Options { view, ..destination::here() })
}

impl FormatName {
    pub(crate) fn write(
        self,
        findings: &Findings,
        record: &RunRecord,
        options: &Options,
    ) -> anyhow::Result<String> {
        let format = match self {
            Self::Terminal => Format::Terminal,
            Self::Markdown => Format::Markdown,
            Self::Latex => Format::Latex,
            Self::Json => Format::Json,
            Self::Csv => Format::Csv,
            Self::CsvTrials => Format::CsvTrials,
            Self::Html => {
                let page = ::report::render(findings, Some(record), Format::Html, options);
                let (page, is_inside) = evidence::embed(&page, record)?;
                if !is_inside {
                    output::aside(
                        "note: the run's record is too long for the page, which cannot be read back; `plumb report RUN -f raw -o run.json` writes it",
                    );
                }
                return Ok(page);
            }
            Self::Raw => return Ok(record.document()?),
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
            Format::Html => FormatName::Html,
            Format::Latex => FormatName::Latex,
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
        self.write_as(findings, record, &destination::in_a_file())
    }

    fn write_as(&self, findings: &Findings, record: &RunRecord, options: &Options) -> anyhow::Result<()> {
        destination::write(&self.path, &self.format.write(findings, record, options)?)
    }
}
