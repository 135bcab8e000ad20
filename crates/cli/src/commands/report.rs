//! `plumb report`: reports a stored run in any format.

use std::{
    io::IsTerminal,
    path::{Path, PathBuf},
};

use ::report::{Format, Options, Summary, View, section_names};
use anyhow::Result;
use clap::{Args, ValueEnum, builder::PossibleValuesParser};
use findings::{Findings, Objective, Requirement};
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

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// A run's name or prefix, `latest`, `latest:SCENARIO`, or a file: a report page, a run record,
    /// or another tool's log
    #[arg(default_value = "latest")]
    run: String,
    /// Output format
    #[arg(long, short, value_enum)]
    format: Option<FormatName>,
    /// Write to this file; its extension selects the format unless --format does: .html, .md, .tex, .json,
    /// .csv
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Objective of a sweep's recommendation [default: the run's, or efficient]
    #[arg(long, value_parser = one_of(OBJECTIVES))]
    objective: Option<Objective>,
    /// Constraint on settings, e.g. p99<50us or throughput>10Gbit/s (may be repeated). Lists the settings that meet
    /// all constraints, and recommends the one with the least CPU time
    #[arg(long, value_name = "BOUND")]
    require: Vec<Requirement>,
    /// Exclude settings in which a factor exceeds this level, e.g. streams=16 (may be repeated)
    #[arg(long, value_name = "FACTOR=N")]
    at_most: Vec<LevelCap>,
    /// Print all sections, not just the summary, chart and findings
    #[arg(long, conflicts_with = "section")]
    full: bool,
    /// Print only this section, with all details
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(section_names()))]
    section: Option<String>,
    /// Do not use a pager for long reports
    #[arg(long)]
    no_pager: bool,
}

pub(crate) const OBJECTIVES: &[Word<Objective>] = &[
    ("max", Objective::Max, "The best value; if statistically tied, the cheapest"),
    (
        "efficient",
        Objective::Efficient,
        "The best value per CPU time, among settings within 10 % of the best",
    ),
    ("low-cpu", Objective::LowCpu, "The least CPU time, among settings that reach at least half of the best"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatName {
    /// Text for this terminal
    Terminal,
    /// GitHub-flavoured Markdown, with collapsed per-interval data
    #[value(alias = "md")]
    Markdown,
    /// The complete report as a single file for a web browser, with charts
    Html,
    /// Tables to include in a LaTeX document with booktabs
    #[value(alias = "tex")]
    Latex,
    /// The complete findings, for programs
    Json,
    /// One row per result
    Csv,
    /// One row per trial
    CsvTrials,
    /// The run record: all recorded data, without analysis
    Raw,
}

pub(crate) fn run(args: &ReportArgs, shared: &GlobalFlags) -> Result<Exit> {
    let destination = match (&args.output, args.format) {
        (Some(path), Some(format)) => Some(Destination { path: path.clone(), format }),
        (Some(path), None) => Some(Destination::parse(path)?),
        (None, _) => None,
    };
    let (record, mut findings) = args.load(shared)?;
    findings.trade_offs = analysis::trade_offs(&findings, &args.require);
    args.fit(destination.as_ref().map(|to| to.format).or(args.format).unwrap_or(FormatName::Terminal))?;
    let with_flags = |options| Options { objective: args.objective, view: args.view(), ..options };
    match destination {
        Some(destination) => {
            destination.write_as(&findings, &record, &with_flags(destination::in_a_file()))?;
            output::aside(format_args!("report written to {}", destination.path.display()));
        }
        None => {
            let format = args.format.unwrap_or(FormatName::Terminal);
            let paged = format == FormatName::Terminal && !args.no_pager;
            // On a terminal, the summary comes last. In a pager, it comes first, because a pager starts at the top.
            let summary =
                if !paged && std::io::stdout().is_terminal() { Summary::Last } else { Summary::First };
            let options = Options { summary, ..with_flags(destination::here()) };
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
    fn load(&self, shared: &GlobalFlags) -> Result<(RunRecord, Findings)> {
        if let Some(mut record) = run_reference::in_file(&self.run)? {
            LevelCap::apply(&self.at_most, &mut record)?;
            let findings = analysis::analyse(&record);
            Ok((record, findings))
        } else {
            let store = store_path::open(shared.db.as_deref())?;
            let mut record = store.load(&store.resolve(&self.run)?)?;
            LevelCap::apply(&self.at_most, &mut record)?;
            remedy_results::findings(&store, record)
        }
    }

    fn fit(&self, format: FormatName) -> Result<(), Misuse> {
        use FormatName::{Html, Json, Markdown, Terminal};
        if !self.require.is_empty() && !matches!(format, Terminal | Markdown | Html | Json) {
            let message = "--require affects only complete reports";
            return Err(Misuse::new(message).hint("use terminal, markdown, html or json"));
        }
        if !self.at_most.is_empty() && format == FormatName::Raw {
            let message = "--at-most does not apply to the raw format, which always contains the whole run";
            return Err(Misuse::new(message).hint("use another format"));
        }
        Ok(())
    }

    fn view(&self) -> Option<View> {
        let named = |name: &String| section_names().find(|section| section == name).map(View::Section);
        self.section.as_ref().and_then(named).or(self.full.then_some(View::Full))
    }
}

pub(crate) fn for_terminal(findings: &Findings, record: &RunRecord) -> Result<String> {
    let summary = if std::io::stdout().is_terminal() { Summary::Last } else { Summary::First };
    FormatName::Terminal.write(findings, record, &Options { summary, ..destination::here() })
}

pub(crate) fn summary(findings: &Findings, record: &RunRecord) -> Result<String> {
    let view = Some(View::Section("summary"));
    FormatName::Terminal.write(findings, record, &Options { view, ..destination::here() })
}

impl FormatName {
    pub(crate) fn write(self, findings: &Findings, record: &RunRecord, options: &Options) -> Result<String> {
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
                        "note: the run record is too large to embed in the page, so the page cannot be \
                            imported; write the record with `plumb report RUN -f raw -o run.json`",
                    );
                }
                return Ok(page);
            }
            Self::Raw => return Ok(record.document()?),
        };
        Ok(::report::render(findings, Some(record), format, options))
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Destination {
    path: PathBuf,
    format: FormatName,
}

impl Destination {
    pub(crate) fn parse(path: &Path) -> Result<Self> {
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

    pub(crate) fn write(&self, findings: &Findings, record: &RunRecord) -> Result<()> {
        self.write_as(findings, record, &destination::in_a_file())
    }

    fn write_as(&self, findings: &Findings, record: &RunRecord, options: &Options) -> Result<()> {
        destination::write(&self.path, &self.format.write(findings, record, options)?)
    }
}
