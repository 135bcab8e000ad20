//! `plumb rebalance`: moves memory between virtual machines that run, from those that have more than they need to those that
//! need more.

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

/// How often a wait looks whether the user asked for the end.
const GLANCE: Duration = Duration::from_millis(100);

/// Flags of `plumb rebalance`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct RebalanceArgs {
    /// Which machines, with their limits (TOML)
    config: PathBuf,
    /// Say what would be moved, and move nothing
    #[arg(long)]
    dry_run: bool,
    /// End after so many rounds [default: when it is interrupted]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    rounds: Option<u64>,
    /// Write what is seen and decided to this file in each round, in the text format of Prometheus
    #[arg(long, value_name = "FILE")]
    metrics: Option<PathBuf>,
    /// Keep in this file what is known of the machines, and go on from it
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Add what is seen and moved in each round to this record, for `plumb memory report` and --replay
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Say what would have been moved by this record, as if the moves had been carried out; no machine is reached
    #[arg(long, value_name = "RECORD", conflicts_with_all = ["dry_run", "metrics", "state", "record"])]
    replay: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
The file names each machine's monitor (QMP, `-qmp unix:/run/web.qmp,server,nowait`), whose only client this command is:

  interval = \"10s\"
  capacity = \"6GiB\"        # what they share; default: what they have together

  [vms.web]
  qmp = \"/run/web.qmp\"
  floor = \"1GiB\"           # default: a quarter of what it was started with
  ceiling = \"4GiB\"         # default: all that it was started with
  weight = 2               # its part where there is too little; default: 1
  agent = \"/run/web.agent\" # the port of an agent in its guest, which tells what is accessed
  slow-nodes = [1]         # nodes of the guest that are slow memory

Each machine needs a virtio-balloon, whose driver in the guest also tells how its memory is used, or a virtio-mem device and an \
agent. When this command ends, however \
it ends, the machines keep what they have.

Exit status: 0 it ended as asked; 1 no machine could be reached; 64 usage error; 130 interrupted before the first round.";

/// What `--state` keeps.
#[derive(Debug, Serialize, Deserialize)]
struct KeptState {
    schema: u32,
    state: State,
}

impl KeptState {
    const SCHEMA: u32 = 1;
}

/// Looks, decides and moves, round by round.
pub(crate) fn run(args: &RebalanceArgs) -> anyhow::Result<Exit> {
    let config = Config::read(&args.config)?;
    if let Some(record) = &args.replay {
        return replay::run(&config, record, args.rounds);
    }
    let mut recorder = args.record.as_deref().map(Recorder::open).transpose()?;
    let stop = Stop::new();
    interrupt::asks(&stop.flag())?;
    let named = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let locks = machine::runtime_folder(named, &env::temp_dir()).join("plumb");
    let mut vms = config.attach((!args.dry_run).then_some(&*locks), &stop)?;
    let settings = config.settings(&config.extents(&mut vms)?)?;
    let facts = document::facts(&mut vms);
    let state = args.state.as_deref().map(read_state).transpose()?.unwrap_or_default();
    let rebalancer = Rebalancer::resume(settings, state).map_err(|error| config.misuse(&error))?;
    let mut rebalance = Rebalance::new(rebalancer, vms, config.interval());
    let mut made = 0;
    while !stop.is_asked() {
        let next = Instant::now() + config.interval();
        let round = rebalance.round(args.dry_run);
        tell(&round, if args.dry_run { "would move " } else { "" }, made == 0, Timestamp::now())?;
        if let Some(recorder) = &mut recorder {
            let moves = if args.dry_run { &[][..] } else { &*round.decision.moves };
            recorder.keep(&Document::of(&round.seen, &facts, config.interval(), moves))?;
        }
        if let Some(file) = &args.metrics {
            replace_text(file, &metrics::text(&round.seen, Some(&round.decision)))?;
        }
        if let Some(file) = args.state.as_deref().filter(|_| !args.dry_run) {
            let kept = KeptState { schema: KeptState::SCHEMA, state: rebalance.rebalancer().state().clone() };
            replace_text(file, &(serde_json::to_string(&kept)? + "\n"))?;
        }
        made += 1;
        if args.rounds == Some(made) {
            return Ok(Exit::Success);
        }
        while !stop.is_asked() && Instant::now() < next {
            thread::sleep(GLANCE);
        }
    }
    Ok(if made == 0 { Exit::Interrupted } else { Exit::Success })
}

fn read_state(file: &Path) -> anyhow::Result<State> {
    if !file.exists() {
        return Ok(State::default());
    }
    let text = bounded_file::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let wrong =
        |what: String| anyhow!("{} is no state of this `plumb rebalance`: {what}; remove it", file.display());
    let kept: KeptState = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    match kept.schema {
        KeptState::SCHEMA => Ok(kept.state),
        other => Err(wrong(format!("its version is {other}, not {}", KeptState::SCHEMA))),
    }
}

/// Who has what, at first and whenever something is moved; each move with its reason.
fn tell(round: &Round, verb: &str, first: bool, at: Timestamp) -> anyhow::Result<()> {
    let moves = &round.decision.moves;
    if first || !moves.is_empty() {
        output::line(table::of(round))?;
    }
    let now = at.strftime("%H:%M:%S");
    for made in moves {
        match round.failed.iter().find(|(failed, _)| failed.vm == made.vm) {
            Some((_, error)) => output::line(format_args!("{now} {made}; not done: {error}"))?,
            None => output::line(format_args!("{now} {verb}{made}"))?,
        }
    }
    let missing = round.decision.missing;
    if missing.0 > 0 && (first || !moves.is_empty()) {
        output::line(format_args!("{now} not all targets can be met: {missing} of DRAM are missing"))?;
    }
    for refused in &round.decision.refused {
        output::line(format_args!("{now} {refused}"))?;
    }
    if first && moves.is_empty() {
        output::line(format_args!("{now} nothing to move"))?;
    }
    Ok(())
}
