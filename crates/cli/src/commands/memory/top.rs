//! `plumb memory top`: looks at virtual machines at an interval, and moves nothing.

use std::{
    io::{IsTerminal, stdout},
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use clap::Args;
use lab::Stop;
use memory::GuestMemory;

use super::{
    document::{self, Document},
    record::Recorder,
    table,
};
use crate::{
    commands::rebalance::{config::Config, metrics},
    destination::replace_text,
    exit::Exit,
    interrupt, output,
};

/// How often a wait looks whether the user asked for the end.
const GLANCE: Duration = Duration::from_millis(100);
/// Extra time for the first report of accesses. DAMON needs 4 s, or more on a busy machine.
const FIRST_REPORTS: Duration = Duration::from_secs(10);
/// To the top left, and all below it away (ECMA-48).
const ANEW: &str = "\u{1b}[H\u{1b}[J";

/// Flags of `plumb memory top`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct TopArgs {
    /// Which machines (TOML), as for `plumb rebalance`
    config: PathBuf,
    /// Print once and exit: after an interval, or up to 10 s later if DAMON has not reported yet
    #[arg(long)]
    once: bool,
    /// Print a JSON document a line instead of a table
    #[arg(short = 'J', long)]
    json: bool,
    /// Write what is seen to this file each time, in the text format of Prometheus
    #[arg(long, value_name = "FILE")]
    metrics: Option<PathBuf>,
    /// Add each look to this record, for `plumb memory report` and `plumb rebalance --replay`
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Nothing is moved. A machine without an agent shows what its host and the driver of its virtio-balloon tell. With `agent` in the \
file an agent in its guest tells of each NUMA node, of swap, refaults and pressure (PSI), and what was accessed: by DAMON, or else by \
the generations of the multi-generational LRU. `source = \"referenced\"` reads the accessed bits of QEMU's process instead, which \
is right for emulated machines only.

Exit status: 0 it ended as asked; 1 no machine could be reached; 64 usage error.";

/// Looks until it is to end.
pub(crate) fn run(args: &TopArgs) -> anyhow::Result<Exit> {
    let config = Config::read(&args.config)?;
    let stop = Stop::new();
    interrupt::asks(&stop.flag())?;
    let interval = config.interval();
    // Opening them was the first look, from which accesses are counted.
    let mut vms = config.attach(None, &stop)?;
    let facts = document::facts(&mut vms);
    let mut recorder = args.record.as_deref().map(Recorder::open).transpose()?;
    let live = !args.once && !args.json && stdout().is_terminal();
    let first_reports = Instant::now() + interval + FIRST_REPORTS;
    while !stop.is_asked() {
        wait(&stop, interval);
        let seen = memory::look_at_all(&mut vms, interval);
        let awaited = seen.values().flatten().any(GuestMemory::awaits_accesses);
        if args.once && awaited && Instant::now() < first_reports {
            continue;
        }
        if let Some(file) = &args.metrics {
            replace_text(file, &metrics::text(&seen, None))?;
        }
        let document = Document::of(&seen, &facts, interval, &[]);
        if let Some(recorder) = &mut recorder {
            recorder.keep(&document)?;
        }
        let shown = if args.json { serde_json::to_string(&document)? } else { table::of(&seen) };
        output::text(format_args!("{}{shown}\n", if live { ANEW } else { "" }))?;
        if args.once {
            break;
        }
    }
    Ok(Exit::Success)
}

fn wait(stop: &Stop, interval: Duration) {
    let next = Instant::now() + interval;
    while !stop.is_asked() && Instant::now() < next {
        thread::sleep(GLANCE.min(next.saturating_duration_since(Instant::now())));
    }
}
