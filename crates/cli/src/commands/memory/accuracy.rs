//! `plumb memory accuracy`: compares access sources with the truth in a guest with this machine's kernel.

use ::lab::{Accuracy, AccuracyRequest, Stop, accuracy};
use anyhow::Context;
use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use units::Share;

use super::guests::GuestArgs;
use crate::{
    commands::{PROGRAM, TOOL},
    exit::Exit,
    failure::NoGuest,
    interrupt, output,
};

const HEAD: [&str; 7] = ["SOURCE", "PATTERN", "FAST HITS", "REPORTED", "HOTTEST 1/4", "REPORTED", "CPU"];

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct AccuracyArgs {
    #[command(flatten)]
    guests: GuestArgs,
    /// Warm-up samples per source, not counted
    #[arg(long, value_name = "N", default_value_t = 4)]
    warmup: u32,
    /// Samples to count
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    looks: u32,
}

const AFTER_HELP: &str = "Boots a guest with two NUMA nodes for each source. A program in it accesses 160 \
    MiB in a known pattern: two levels (90 % of the accesses to 32 MiB), Zipf's law, or all pages in turn. \
    The program itself counts which pages it accesses and which node serves them, invisibly to the \
    sources. FAST HITS is the share of accesses served by the first node, HOTTEST 1/4 the share of \
    accesses to the hottest quarter of memory; each is followed by the value that the source reports. CPU \
    is the cost of the source, in percent of one CPU.

Exit status: 0 success; 1 failure; 3 this machine lacks a requirement; 64 usage error; 130 interrupted.";

#[derive(Debug, Serialize)]
struct Document {
    schema: u32,
    results: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    source: protocol::AccessSourceKind,
    pattern: &'static str,
    lacking: Option<String>,
    true_hits: Option<Share>,
    told_hits: Option<Share>,
    /// Tuples of: fraction of memory, share of accesses to the hottest such fraction, and the reported
    /// share.
    curve: Vec<(f64, f64, f64)>,
    true_accessed: u64,
    told_accessed: u64,
    cpu: Option<Share>,
}

pub(crate) fn run(args: &AccuracyArgs) -> anyhow::Result<Exit> {
    let stop = Stop::new();
    interrupt::set_on_signal(&stop.flag())?;
    let request = AccuracyRequest {
        kernel: args.guests.kernel()?,
        program: PROGRAM.into(),
        tool: TOOL.to_owned(),
        rate: args.guests.rate,
        interval: args.guests.interval(),
        looks: (args.warmup, args.looks),
        stop,
    };
    let word = |result: &Accuracy| format!("{} {}", source(result), result.pattern);
    let results = accuracy(&request, &mut |result| output::aside(format_args!("tried: {}", word(result))));
    let results = results.context(NoGuest)?;
    if args.guests.json {
        let rows = results.into_iter().map(row).collect();
        output::line(serde_json::to_string_pretty(&Document { schema: 1, results: rows })?)?;
    } else {
        output::line(table(&results))?;
    }
    Ok(Exit::Success)
}

fn row(result: Accuracy) -> Row {
    Row {
        source: result.source,
        pattern: result.pattern,
        lacking: result.lacking,
        true_hits: result.true_hits,
        told_hits: result.told_hits,
        curve: result.curve,
        true_accessed: result.true_accessed.0,
        told_accessed: result.told_accessed.0,
        cpu: result.cost,
    }
}

fn table(results: &[Accuracy]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(HEAD);
    let mut notes: Vec<String> = Vec::new();
    for result in results {
        let share =
            |share: Option<f64>| share.map_or_else(|| "-".to_owned(), |share| Share(share).to_string());
        let quarter = result.curve.iter().find(|(part, ..)| *part == 0.25);
        let known = result.lacking.is_none();
        table.add_row([
            source(result).to_owned(),
            result.pattern.to_owned(),
            share(result.true_hits.map(|hits| hits.0).filter(|_| known)),
            share(result.told_hits.map(|hits| hits.0)),
            share(quarter.map(|(_, truth, _)| *truth).filter(|_| known)),
            share(quarter.map(|(.., reported)| *reported).filter(|_| known)),
            share(result.cost.map(|cost| cost.0)),
        ]);
        let note = result.lacking.as_ref().map(|why| format!("{}: {why}", source(result)));
        notes.extend(note.filter(|note| !notes.contains(note)));
    }
    for column in 2..HEAD.len() {
        table.column_mut(column).expect("it is in the head").set_cell_alignment(CellAlignment::Right);
    }
    let lines = table.lines().map(|line| line.trim_end().to_owned());
    lines.chain(notes).collect::<Vec<_>>().join("\n")
}

fn source(result: &Accuracy) -> &'static str {
    use protocol::AccessSourceKind as Kind;
    match result.source {
        Kind::Damon => "damon",
        Kind::Mglru => "mglru",
        Kind::Referenced => "referenced",
        Kind::Auto | Kind::None => "none",
    }
}
