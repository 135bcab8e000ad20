//! `plumb schema`: the JSON Schemas of the documents that cross walls.

use clap::{Args, ValueEnum};
use findings::{CheckReport, Findings, RunComparison, SingleMeasurement, TraceComparison};
use samples::{RunRecord, Trace};
use serde_json::{Value, to_value};

use crate::{exit::Exit, output};

/// Flags of `plumb schema`.
#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Which document
    #[arg(value_enum, default_value = "scenario")]
    document: Document,
}

/// The documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Document {
    /// What users write: `plumb run FILE`
    Scenario,
    /// The tables of a scenario's lab, in Markdown, for the guide
    #[value(hide = true)]
    LabTables,
    /// The layers that packets meet, in Markdown, for the guide
    #[value(hide = true)]
    Layers,
    /// What was recorded: `plumb report --format raw`
    Run,
    /// What the numbers say: `plumb report --format json`
    Findings,
    /// What one trial says alone: `plumb ping --json`, and `plumb` in `plumb client --json`
    Solo,
    /// One run against another: `plumb compare --json`
    Contrast,
    /// The same with a gate's word on it: `plumb check --json`
    Check,
    /// What was seen of something that ran anyway: `plumb trace --json`
    Trace,
    /// One trace against another: `plumb trace --compare A B --json`
    TraceContrast,
}

/// Prints it.
pub(crate) fn run(args: &SchemaArgs) -> anyhow::Result<Exit> {
    print(&match args.document {
        Document::Scenario => ::scenario::schema(),
        Document::LabTables => return printed(&::scenario::lab_tables()),
        Document::Layers => return printed(&::scenario::layers()),
        Document::Run => to_value(schemars::schema_for!(RunRecord))?,
        Document::Findings => to_value(schemars::schema_for!(Findings))?,
        Document::Solo => to_value(schemars::schema_for!(SingleMeasurement))?,
        Document::Contrast => to_value(schemars::schema_for!(RunComparison))?,
        Document::Check => to_value(schemars::schema_for!(CheckReport))?,
        Document::Trace => to_value(schemars::schema_for!(Trace))?,
        Document::TraceContrast => to_value(schemars::schema_for!(TraceComparison))?,
    })?;
    Ok(Exit::Success)
}

fn printed(text: &str) -> anyhow::Result<Exit> {
    output::text(text)?;
    Ok(Exit::Success)
}

/// Prints one schema, as files of it are kept.
pub(crate) fn print(schema: &Value) -> anyhow::Result<()> {
    Ok(output::line(serde_json::to_string_pretty(schema)?)?)
}
