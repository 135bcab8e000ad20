//! `plumb schema`: prints the JSON Schemas of plumb's documents.

use clap::{Args, ValueEnum};
use findings::{Findings, RunComparison, SingleMeasurement, TraceComparison};
use samples::{RunRecord, Trace};
use serde_json::{Value, to_value};

use crate::{exit::Exit, output};

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Document to describe
    #[arg(value_enum, default_value = "scenario")]
    document: Document,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Document {
    /// Scenario files: `plumb run FILE`
    Scenario,
    /// Reference of a scenario's lab tables, in Markdown
    #[value(hide = true)]
    LabTables,
    /// Reference of the layers of a path, in Markdown
    #[value(hide = true)]
    Layers,
    /// Run records: `plumb report --format raw`
    Run,
    /// Findings: `plumb report --format json`
    Findings,
    /// Results of a single trial: `plumb ping --json`, and `plumb` in `plumb client --json`
    Single,
    /// Comparisons of runs: `plumb compare --json` and `plumb check --json`
    Comparison,
    /// Traces of running programs: `plumb trace --json`
    Trace,
    /// Comparisons of traces: `plumb trace --compare A B --json`
    TraceComparison,
}

pub(crate) fn run(args: &SchemaArgs) -> anyhow::Result<Exit> {
    print(&match args.document {
        Document::Scenario => ::scenario::schema(),
        Document::LabTables => return printed(&::scenario::lab_tables()),
        Document::Layers => return printed(&::scenario::layers()),
        Document::Run => to_value(schemars::schema_for!(RunRecord))?,
        Document::Findings => to_value(schemars::schema_for!(Findings))?,
        Document::Single => to_value(schemars::schema_for!(SingleMeasurement))?,
        Document::Comparison => to_value(schemars::schema_for!(RunComparison))?,
        Document::Trace => to_value(schemars::schema_for!(Trace))?,
        Document::TraceComparison => to_value(schemars::schema_for!(TraceComparison))?,
    })?;
    Ok(Exit::Success)
}

fn printed(text: &str) -> anyhow::Result<Exit> {
    output::text(text)?;
    Ok(Exit::Success)
}

pub(crate) fn print(schema: &Value) -> anyhow::Result<()> {
    Ok(output::line(serde_json::to_string_pretty(schema)?)?)
}
