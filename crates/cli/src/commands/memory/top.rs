//! `plumb memory top`: samples virtual machines at regular intervals, without moving memory.

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

/// How often to check for Ctrl-C.
const GLANCE: Duration = Duration::from_millis(100);
/// Additional time for the first report of memory accesses. DAMON needs 4 s, or more on a busy machine.
const FIRST_REPORTS: Duration = Duration::from_secs(10);
const ANEW: &str = "\u{1b}[H\u{1b}[J";

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct TopArgs {
    /// The machines (TOML), as for `plumb rebalance`
    config: PathBuf,
    /// Print one sample and exit: after one interval, or up to 10 s later while waiting for DAMON
    #[arg(long)]
    once: bool,
    /// Print one JSON document per line instead of a table
    #[arg(short = 'J', long)]
    json: bool,
    /// Write each sample to this file in Prometheus text format
    #[arg(long, value_name = "FILE")]
    metrics: Option<PathBuf>,
    /// Append each sample to this recording, for `plumb memory report` and `plumb rebalance --replay`
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

const AFTER_HELP: &str = "Does not move memory. Without an agent, a machine shows data from its host and \
    its virtio-balloon driver. With `agent` in the file, an agent in the guest also reports NUMA nodes, \
    swap, refaults, pressure (PSI) and accesses, from DAMON or else from the multi-generational LRU. \
    `source = \"referenced\"` reads the accessed bits of the QEMU process instead, which is accurate for \
    emulated machines only.

Exit status: 0 success; 1 no machine could be reached; 64 usage error.";

pub(crate) fn run(args: &TopArgs) -> anyhow::Result<Exit> {
    let config = Config::read(&args.config)?;
    let stop = Stop::new();
    interrupt::set_on_signal(&stop.flag())?;
    let interval = config.interval();
    // Attaching took the first sample, which later access counts are compared with.
    let mut vms = config.attach(None, &stop)?;
    let facts = document::facts(&mut vms);
    let mut recorder = args.record.as_deref().map(Recorder::open).transpose()?;
    let live = !args.once && !args.json && stdout().is_terminal();
    let first_reports = Instant::now() + interval + FIRST_REPORTS;
    while !stop.is_asked() {
        wait(&stop, interval);
        let memory = memory::look_at_all(&mut vms, interval);
        let awaited = memory.values().flatten().any(GuestMemory::awaits_accesses);
        if args.once && awaited && Instant::now() < first_reports {
            continue;
        }
        if let Some(file) = &args.metrics {
            replace_text(file, &metrics::text(&memory, None))?;
        }
        let document = Document::of(&memory, &facts, interval, &[]);
        if let Some(recorder) = &mut recorder {
            recorder.keep(&document)?;
        }
        let shown = if args.json { serde_json::to_string(&document)? } else { table::render(&memory) };
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
