//! `plumb rebalance`: moves memory between running virtual machines, from those that have more than they
//! need to those that need more.

pub(crate) mod config;
pub(crate) mod metrics;
mod replay;
mod table;

use std::{
    env,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, anyhow};
use clap::Args;
use jiff::Timestamp;
use lab::Stop;
use memory::{Rebalance, Round};
use policy::{Rebalancer, State};
use serde::{Deserialize, Serialize};

use self::config::Config;
use super::memory::{
    document::{self, Document},
    record::Recorder,
};
use crate::{bounded_file, destination::replace_text, exit::Exit, interrupt, output};

/// How often to check for Ctrl-C.
const GLANCE: Duration = Duration::from_millis(100);

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct RebalanceArgs {
    /// The machines and their limits (TOML)
    config: PathBuf,
    /// Print planned moves without moving memory
    #[arg(long)]
    dry_run: bool,
    /// Number of rounds [default: until interrupted]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    rounds: Option<u64>,
    /// Write observations and decisions of each round to this file in Prometheus text format
    #[arg(long, value_name = "FILE")]
    metrics: Option<PathBuf>,
    /// Save the rebalancer's state in this file, and continue from it
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Append observations and moves of each round to this recording, for `plumb memory report` and
    /// --replay
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Simulate the decisions for this recording, as if their moves had been carried out; contacts no
    /// machine
    #[arg(long, value_name = "RECORD", conflicts_with_all = ["dry_run", "metrics", "state", "record"])]
    replay: Option<PathBuf>,
}

const AFTER_HELP: &str = "The file names each machine's QMP socket (`-qmp \
    unix:/run/web.qmp,server,nowait`), of which this command is the only client:

  interval = \"10s\"
  capacity = \"6GiB\"        # total to share; default: their current total

  [vms.web]
  qmp = \"/run/web.qmp\"
  floor = \"1GiB\"           # default: a quarter of its initial memory
  ceiling = \"4GiB\"         # default: its initial memory
  weight = 2               # its part when memory is short; default: 1
  agent = \"/run/web.agent\" # port of an agent in the guest, which reports accesses
  slow-nodes = [1]         # guest NUMA nodes with slow memory

Each machine needs a virtio-balloon device, whose guest driver also reports memory use, or a virtio-mem \
    device and an agent. When this command exits, for any reason, the machines keep their current memory.

Exit status: 0 success; 1 no machine could be reached; 64 usage error; 130 interrupted before the first \
    round.";

#[derive(Debug, Serialize, Deserialize)]
struct StateFile {
    schema: u32,
    state: State,
}

impl StateFile {
    const SCHEMA: u32 = 1;
}

pub(crate) fn run(args: &RebalanceArgs) -> anyhow::Result<Exit> {
    let config = Config::read(&args.config)?;
    if let Some(record) = &args.replay {
        return replay::run(&config, record, args.rounds);
    }
    let mut recorder = args.record.as_deref().map(Recorder::open).transpose()?;
    let stop = Stop::new();
    interrupt::set_on_signal(&stop.flag())?;
    let mut vms = config.attach((!args.dry_run).then(lock_folder).as_deref(), &stop)?;
    let settings = config.settings(&config.extents(&mut vms)?)?;
    let facts = document::facts(&mut vms);
    let state = args.state.as_deref().map(read_state).transpose()?.unwrap_or_default();
    let rebalancer = Rebalancer::resume(settings, state).map_err(|error| config.misuse(&error))?;
    let mut rebalance = Rebalance::new(rebalancer, vms, config.interval());
    let mut finished = 0;
    while !stop.is_asked() {
        let next = Instant::now() + config.interval();
        let round = rebalance.round(args.dry_run);
        print_round(&round, if args.dry_run { "would move " } else { "" }, finished == 0, Timestamp::now())?;
        if let Some(recorder) = &mut recorder {
            let moves = if args.dry_run { &[][..] } else { &*round.decision.moves };
            recorder.keep(&Document::of(&round.seen, &facts, config.interval(), moves))?;
        }
        if let Some(file) = &args.metrics {
            replace_text(file, &metrics::text(&round.seen, Some(&round.decision)))?;
        }
        if let Some(file) = args.state.as_deref().filter(|_| !args.dry_run) {
            save_state(file, rebalance.rebalancer().state().clone())?;
        }
        finished += 1;
        if args.rounds == Some(finished) {
            return Ok(Exit::Success);
        }
        while !stop.is_asked() && Instant::now() < next {
            thread::sleep(GLANCE);
        }
    }
    Ok(if finished == 0 { Exit::Interrupted } else { Exit::Success })
}

fn lock_folder() -> PathBuf {
    let named = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    machine::runtime_folder(named, &env::temp_dir()).join("plumb")
}

fn save_state(file: &Path, state: State) -> anyhow::Result<()> {
    let saved = StateFile { schema: StateFile::SCHEMA, state };
    replace_text(file, &(serde_json::to_string(&saved)? + "\n"))
}

fn read_state(file: &Path) -> anyhow::Result<State> {
    if !file.exists() {
        return Ok(State::default());
    }
    let text = bounded_file::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let wrong = |what: String| {
        anyhow!(
            "{} is not a state file of this version of `plumb rebalance`: {what}; \
            remove it",
            file.display()
        )
    };
    let saved: StateFile = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    match saved.schema {
        StateFile::SCHEMA => Ok(saved.state),
        other => Err(wrong(format!("its version is {other}, expected {}", StateFile::SCHEMA))),
    }
}

fn print_round(round: &Round, verb: &str, first: bool, at: Timestamp) -> anyhow::Result<()> {
    let moves = &round.decision.moves;
    if first || !moves.is_empty() {
        output::line(table::render(round))?;
    }
    let now = at.strftime("%H:%M:%S");
    for step in moves {
        match round.failed.iter().find(|(failed, _)| failed.vm == step.vm) {
            Some((_, error)) => output::line(format_args!("{now} failed: {step}: {error}"))?,
            None => output::line(format_args!("{now} {verb}{step}"))?,
        }
    }
    let missing = round.decision.missing;
    if missing.0 > 0 && (first || !moves.is_empty()) {
        output::line(format_args!("{now} cannot meet all targets: {missing} more DRAM is needed"))?;
    }
    for refused in &round.decision.refused {
        output::line(format_args!("{now} {refused}"))?;
    }
    if first && moves.is_empty() {
        output::line(format_args!("{now} nothing to move"))?;
    }
    Ok(())
}
