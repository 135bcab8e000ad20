//! `plumb memory accuracy`: how far what tells of accesses is from the truth in a guest of this machine's kernel, and what it costs.

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

const HEAD: [&str; 7] = ["SOURCE", "PATTERN", "FAST HITS", "TOLD", "HOTTEST 1/4", "TOLD", "CPU"];

/// Flags of `plumb memory accuracy`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct AccuracyArgs {
    #[command(flatten)]
    guests: GuestArgs,
    /// Looks while a source learns, which are not counted
    #[arg(long, value_name = "N", default_value_t = 4)]
    warmup: u32,
    /// Looks that are
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    looks: u32,
}

const AFTER_HELP: &str = "\
A guest with two NUMA nodes is booted for each source. A program in it accesses 160 MiB by a known pattern: two levels (90 % of the \
accesses on 32 MiB), Zipf's law, or all in turn. It counts itself which pages it accesses and which node serves them; nothing that \
looks at memory can see into it. FAST HITS is the share of accesses that the first node served, HOTTEST 1/4 the share that the hottest \
quarter of its memory gets; each is followed by what the source tells of it. CPU is what telling takes of one CPU.

Exit status: 0 it was tried; 1 it was not; 3 this machine lacks what is needed; 64 usage error; 130 interrupted.";

/// A result as it is printed for programs.
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
    /// Part of the program's memory, the share of accesses that the hottest such part gets, and as told.
    curve: Vec<(f64, f64, f64)>,
    true_accessed: u64,
    told_accessed: u64,
    cpu: Option<Share>,
}

/// Tries them all.
pub(crate) fn run(args: &AccuracyArgs) -> anyhow::Result<Exit> {
    let stop = Stop::new();
    interrupt::asks(&stop.flag())?;
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
            share(quarter.map(|(.., told)| *told).filter(|_| known)),
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
