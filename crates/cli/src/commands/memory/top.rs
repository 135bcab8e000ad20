//! `plumb memory top`: samples virtual machines at regular intervals, without moving memory.

use std::{
    io::{IsTerminal, stdout},
    path::PathBuf,
};

use clap::Args;
use lab::Stop;
use memory::{Recorder, Sampler};

use super::table;
use crate::{
    commands::rebalance::{metrics, read_config},
    destination::replace_text,
    exit::Exit,
    interrupt, output,
    program::TOOL,
};

const ANEW: &str = "\u{1b}[H\u{1b}[J";

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct TopArgs {
    /// File with the machines (TOML), as for `plumb rebalance`
    config: PathBuf,
    /// Print one sample after one interval, then exit. DAMON may delay the sample by up to 10 s
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

const AFTER_HELP: &str = "Does not move memory. For a machine without an agent, shows data from the host \
    and the virtio-balloon driver. With `agent` in the file, an agent in the guest also reports NUMA nodes, \
    swap, refaults, pressure (PSI) and accesses, from DAMON or else from the multi-generational LRU. \
    `source = \"referenced\"` reads the accessed bits of the QEMU process instead. This is accurate for \
    emulated machines only.

Exit status: 0 success; 1 no machine could be reached; 64 usage error.";

pub(crate) fn run(args: &TopArgs) -> anyhow::Result<Exit> {
    let config = read_config(&args.config)?;
    let stop = Stop::new().flag();
    interrupt::set_on_signal(&stop)?;
    let vms = config.attach(None, TOOL, &stop)?;
    let mut recorder = args.record.as_deref().map(Recorder::open).transpose()?;
    let live = !args.once && !args.json && stdout().is_terminal();
    Sampler { vms, interval: config.interval(), once: args.once }.run(&stop, |seen, sample| {
        if let Some(file) = &args.metrics {
            replace_text(file, &metrics::text(seen, None))?;
        }
        if let Some(recorder) = &mut recorder {
            recorder.append(sample)?;
        }
        let shown = if args.json { serde_json::to_string(sample)? } else { table::render(seen) };
        output::text(format_args!("{}{shown}\n", if live { ANEW } else { "" }))?;
        anyhow::Ok(())
    })?;
    Ok(Exit::Success)
}
