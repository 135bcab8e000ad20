//! `plumb plot`: writes charts of one run, several runs or a comparison to files.

mod png;

use std::{
    fs,
    path::{Path, PathBuf},
};

use ::report::{MOST_RUNS, Picture, Theme, comparison_pictures, overlaid_pictures, picture_kinds, pictures};
use anyhow::{Context, Result};
use clap::{
    Args,
    builder::{PossibleValue, PossibleValuesParser},
};
use findings::Findings;
use samples::RunRecord;

use crate::{
    destination,
    exit::Exit,
    failure::Misuse,
    global_flags::GlobalFlags,
    output, run_reference,
    run_reference::References,
    value_parsers::{Word, one_of},
};

#[derive(Debug, Args)]
pub(crate) struct PlotArgs {
    /// A run's name or prefix, `latest`, `latest:SCENARIO`, or a file: a report page, a run record, or
    /// another tool's log. Several runs share one chart per result (percentiles, cdf or time-series)
    #[arg(default_value = "latest", value_name = "RUN", num_args = 1..=MOST_RUNS)]
    runs: Vec<String>,
    /// Kind of chart [default: the first available]
    #[arg(long, value_parser = kinds())]
    kind: Option<String>,
    /// Number of the chart to draw, among the charts of this kind. Without --output, lists the charts with their
    /// numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    number: usize,
    /// Compare with this reference run, in any form accepted for RUN
    #[arg(long, value_name = "RUN")]
    against: Option<String>,
    /// Write the chart to this file (.svg, .png, or its data as .csv), or all charts to this directory (as SVG)
    /// [default: list the charts]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Colour theme [default: the viewer's, light for .png]
    #[arg(long, value_parser = one_of(THEMES))]
    theme: Option<Theme>,
    /// Scale of a .png: pixels per unit; charts are 720 units wide
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=8))]
    scale: u8,
}

const THEMES: &[Word<Theme>] = &[
    ("auto", Theme::Auto, "Light or dark, depending on the viewer's system"),
    ("light", Theme::Light, "White background"),
    ("dark", Theme::Dark, "Dark background"),
];

fn kinds() -> PossibleValuesParser {
    PossibleValuesParser::new(picture_kinds().map(|(name, about)| PossibleValue::new(name).help(about)))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Svg,
    Png,
    Csv,
}

pub(crate) fn run(args: &PlotArgs, shared: &GlobalFlags) -> Result<Exit> {
    let target = args.output.as_deref().map(Target::parse).transpose()?;
    let mut drawn = args.pictures(shared)?;
    drawn.retain(|picture| args.kind.as_deref().is_none_or(|kind| kind == picture.kind()));
    if drawn.is_empty() {
        return Err(args.nothing().into());
    }
    match target {
        None => list(&drawn)?,
        Some(Target::Folder(folder)) => all(&drawn, &folder, args.theme)?,
        Some(Target::File(path, kind)) => {
            let first = drawn[0].kind();
            let of_kind: Vec<&Picture> = drawn.iter().filter(|picture| picture.kind() == first).collect();
            let picture =
                args.number.checked_sub(1).and_then(|place| of_kind.get(place)).ok_or_else(|| {
                    Misuse::new(format!(
                        "--number {}: there are only {} charts of kind {first}",
                        args.number,
                        of_kind.len()
                    ))
                    .hint("`plumb plot` without --output lists them")
                })?;
            destination::write_bytes(&path, &kind.contents(picture, args.theme, args.scale)?)?;
            output::aside(format_args!("{first}: {} written to {}", brief(picture.title()), path.display()));
        }
    }
    Ok(Exit::Success)
}

impl PlotArgs {
    fn pictures(&self, shared: &GlobalFlags) -> Result<Vec<Picture>> {
        if let Some(reference) = &self.against {
            let mut references = References::new(shared);
            let [run] = &self.runs[..] else {
                let error = Misuse::new("with --against, only one run can be drawn");
                return Err(error.hint("without --against, several runs are drawn in one chart").into());
            };
            let (a, b) = (references.load(reference)?, references.load(run)?);
            let others = references.others(&a, &b)?;
            return Ok(comparison_pictures(&analysis::comparison(&a, &b, &others)));
        }
        let runs = self.runs.iter().map(|run| run_reference::analysed(run, shared));
        let runs: Vec<(RunRecord, Findings)> = runs.collect::<Result<_>>()?;
        Ok(match &runs[..] {
            [(record, findings)] => pictures(findings, Some(record), &destination::in_a_file()),
            several => overlaid_pictures(several, &destination::in_a_file()),
        })
    }

    fn nothing(&self) -> Misuse {
        let runs = self.runs.join(" and ");
        let message = match &self.kind {
            _ if self.runs.len() > 1 => format!("{runs} have no common result with such a chart"),
            Some(kind) => format!("{runs} has no chart of kind {kind}"),
            None => format!("{runs} has no charts"),
        };
        match self.kind.as_deref() {
            Some("comparison") => Misuse::new(message).hint("specify the reference run with --against RUN"),
            _ => Misuse::new(message).hint("`plumb plot RUN` lists a run's charts"),
        }
    }
}

enum Target {
    File(PathBuf, Kind),
    Folder(PathBuf),
}

impl Target {
    fn parse(path: &Path) -> Result<Self, Misuse> {
        if path.is_dir() || path.to_string_lossy().ends_with('/') {
            return Ok(Self::Folder(path.to_owned()));
        }
        let kind = match path.extension().and_then(|ending| ending.to_str()) {
            Some("svg") => Kind::Svg,
            Some("png") => Kind::Png,
            Some("csv") => Kind::Csv,
            _ => {
                let message = format!("the file extension of {} is not supported", path.display());
                return Err(Misuse::new(message).hint("use .svg, .png or .csv, or a directory, e.g. charts/"));
            }
        };
        Ok(Self::File(path.to_owned(), kind))
    }
}

impl Kind {
    fn contents(self, picture: &Picture, theme: Option<Theme>, scale: u8) -> Result<Vec<u8>> {
        Ok(match self {
            Self::Svg => picture.svg(theme.unwrap_or_default()).into_bytes(),
            Self::Csv => picture.csv().into_bytes(),
            Self::Png => {
                let theme = theme.filter(|theme| *theme != Theme::Auto).unwrap_or(Theme::Light);
                png::of_svg(&picture.svg(theme), f32::from(scale))?
            }
        })
    }
}

fn list(drawn: &[Picture]) -> Result<()> {
    let widest = drawn.iter().map(|picture| picture.kind().len()).max().unwrap_or(0);
    for (number, picture) in numbered(drawn) {
        output::prose(&format!("{:widest$} {number:>2}  {}", picture.kind(), brief(picture.title())))?;
    }
    output::aside("`-o FILE.svg --kind KIND --number N` writes one chart, `-o FOLDER/` all of them");
    Ok(())
}

/// Numbers the charts of each kind. Charts of the same kind must be adjacent.
fn numbered(drawn: &[Picture]) -> impl Iterator<Item = (usize, &Picture)> {
    drawn.chunk_by(|one, other| one.kind() == other.kind()).flat_map(|alike| (1..).zip(alike))
}

/// Truncates and escapes a title, because it may contain arbitrary names.
fn brief(title: &str) -> String {
    const MOST: usize = 100;
    console::truncate_str(&output::harmless(title).replace('\n', " "), MOST, "…").into_owned()
}

fn all(drawn: &[Picture], folder: &Path, theme: Option<Theme>) -> Result<()> {
    fs::create_dir_all(folder)
        .with_context(|| format!("cannot create the directory {}", folder.display()))?;
    for (number, picture) in numbered(drawn) {
        let path = folder.join(format!("{}-{number}.svg", picture.kind()));
        destination::write_bytes(&path, picture.svg(theme.unwrap_or_default()).as_bytes())?;
    }
    let charts = if drawn.len() == 1 { "1 chart".to_owned() } else { format!("{} charts", drawn.len()) };
    output::aside(format_args!("{charts} written to {}", folder.display()));
    Ok(())
}
