//! `plumb rebalance`: moves memory to the running virtual machines that need it.

pub(crate) mod metrics;
mod table;

use std::{
    env, mem,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, anyhow};
use clap::Args;
use jiff::Timestamp;
use memory::{ConfigError, Rebalance, Recorder, Replay, ReplayError, Round, Rounds, SavedState, VmsConfig};
use policy::State;

use super::memory::recording;
use crate::{
    bounded_file, destination::replace_text, exit::Exit, failure::Misuse, interrupt, output, program::TOOL,
};

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
    /// Write each round's observations and decisions to this file in Prometheus text format
    #[arg(long, value_name = "FILE")]
    metrics: Option<PathBuf>,
    /// Save the rebalancer's state in this file, and continue from it
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Append each round's observations and moves to this recording, for `plumb memory report` and --replay
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Simulate decisions and moves for this recording, without contacting any machine
    #[arg(long, value_name = "RECORD", conflicts_with_all = ["dry_run", "metrics", "state", "record"])]
    replay: Option<PathBuf>,
}

const AFTER_HELP: &str = "The file names each machine's QMP socket (`-qmp \
    unix:/run/web.qmp,server,nowait`), which no other program may use:

  interval = \"10s\"
  capacity = \"6GiB\"        # total to share; default: the machines' current total

  [vms.web]
  qmp = \"/run/web.qmp\"
  floor = \"1GiB\"           # default: a quarter of its initial memory
  ceiling = \"4GiB\"         # default: its initial memory
  weight = 2               # relative share when memory is short; default: 1
  agent = \"/run/web.agent\" # port of an agent in the guest, which reports accesses
  slow-nodes = [1]         # guest NUMA nodes with slow memory

Each machine needs a virtio-balloon device (its guest driver also reports memory use), or a virtio-mem \
    device and an agent. When this command exits, for any reason, the machines keep their current memory.

Exit status: 0 success; 1 no machine could be reached; 64 usage error; 130 interrupted before the first \
    round.";

pub(crate) fn run(args: &RebalanceArgs) -> Result<Exit> {
    let config = read_config(&args.config)?;
    if let Some(record) = &args.replay {
        return replay(args, &config, record);
    }
    let mut recorder = args.record.as_deref().map(Recorder::open).transpose()?;
    let rounds = Rounds { dry: args.dry_run, most: args.rounds, ..Rounds::default() };
    interrupt::set_on_signal(&rounds.stop)?;
    let vms = config.attach((!args.dry_run).then(lock_folder).as_deref(), TOOL, &rounds.stop)?;
    let state = args.state.as_deref().map(read_state).transpose()?.unwrap_or_default();
    let mut rebalance =
        Rebalance::resume(&config, vms, state).map_err(|error| misuse(&args.config, &error))?;
    let (mut first, verb) = (true, if args.dry_run { "would move " } else { "" });
    let finished = rebalance.run(&rounds, |rebalance, round| {
        print_round(round, verb, mem::take(&mut first), Timestamp::now())?;
        if let Some(recorder) = &mut recorder {
            recorder.append(&rebalance.sample(round, args.dry_run))?;
        }
        if let Some(file) = &args.metrics {
            replace_text(file, &metrics::text(&round.seen, Some(&round.decision)))?;
        }
        if let Some(file) = args.state.as_deref().filter(|_| !args.dry_run) {
            let saved = SavedState::new(rebalance.rebalancer().state().clone());
            replace_text(file, &(serde_json::to_string(&saved)? + "\n"))?;
        }
        anyhow::Ok(())
    })?;
    Ok(if finished == 0 { Exit::Interrupted } else { Exit::Success })
}

pub(crate) fn read_config(file: &Path) -> Result<VmsConfig> {
    let text = bounded_file::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(VmsConfig::parse(&text).map_err(|error| misuse(file, &error))?)
}

fn misuse(file: &Path, error: &ConfigError) -> Misuse {
    let misuse = Misuse::new(format!("{}: {error}", file.display()));
    match error.hint() {
        Some(hint) => misuse.hint(hint),
        None => misuse,
    }
}

fn replay(args: &RebalanceArgs, config: &VmsConfig, path: &Path) -> Result<Exit> {
    let samples = recording::read(path)?;
    let mut replay = Replay::new(config, &samples).map_err(|error| match error {
        ReplayError::Config(error) => misuse(&args.config, &error).into(),
        ReplayError::UnknownVm { .. } => Misuse::new(format!("{} has {error}", path.display()))
            .hint("use the machine names of the recording's configuration")
            .into(),
        ReplayError::NeverResponded { .. } => anyhow!("{} has {error}", path.display()),
    })?;
    let most = args.rounds.and_then(|rounds| usize::try_from(rounds).ok()).unwrap_or(usize::MAX);
    let mut moves = 0;
    for (number, sample) in samples.iter().take(most).enumerate() {
        let round = replay.round(sample);
        print_round(&round, "would move ", number == 0, sample.moment())?;
        moves += round.decision.moves.len();
    }
    output::line(format_args!("{} samples, {moves} moves; on average:", samples.len().min(most)))?;
    for (name, average) in replay.averages() {
        output::line(format_args!("{}: {average}", output::harmless(name)))?;
    }
    Ok(Exit::Success)
}

fn lock_folder() -> PathBuf {
    let named = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    machine::runtime_folder(named, &env::temp_dir()).join("plumb")
}

fn read_state(file: &Path) -> Result<State> {
    if !file.exists() {
        return Ok(State::default());
    }
    let text = bounded_file::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    SavedState::parse(&text).map_err(|mismatch| {
        anyhow!(
            "{} is not a state file of this version of `plumb rebalance`: {mismatch}; remove it",
            file.display()
        )
    })
}

fn print_round(round: &Round, verb: &str, first: bool, at: Timestamp) -> Result<()> {
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
