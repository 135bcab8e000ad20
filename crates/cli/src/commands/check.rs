//! `plumb check`: tests a run for regressions against a baseline, e.g. in CI.

use analysis::{MAX_LOSS, MAX_LOSS_OF_COUNTS};
use anyhow::Context;
use clap::Args;
use findings::{GateOutcome, GuardLimits};
use units::Share;

use super::compare::{History, Rendering};
use crate::{exit::Exit, failure::CheckFailure, global_flags::GlobalFlags, run_reference::References};

#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct CheckArgs {
    /// The run: its name or prefix, `latest`, `latest:SCENARIO`, or a file
    run: String,
    /// The reference: a baseline's name, or any form accepted for RUN
    #[arg(long, value_name = "BASELINE")]
    against: String,
    /// Fail on a regression larger than this [default: 5%, or 1% if instructions were counted]
    #[arg(long, value_name = "SHARE", value_parser = loss, allow_hyphen_values = true)]
    max_loss: Option<Share>,
    /// Fail if a 99th percentile increases by more than this
    #[arg(long, value_name = "SHARE", default_value = "50%", value_parser = increase, allow_hyphen_values = true)]
    max_p99: Share,
    /// Fail if packet loss, retransmissions or failed connections increase by more than this many percentage points
    #[arg(long, value_name = "SHARE", default_value = "0.5%", value_parser = loss, allow_hyphen_values = true)]
    max_packet_loss: Share,
    #[command(flatten)]
    history: History,
    #[command(flatten)]
    shown: Rendering,
}

const EXIT_STATUS: &str = "Exit status: 0 no result regressed by more than the limits; 1 at least one did; \
    2 inconclusive; 64 usage error; 65 the check could not run, e.g. because a run cannot be read.";

pub(crate) fn run(args: &CheckArgs, shared: &GlobalFlags) -> anyhow::Result<Exit> {
    checked(args, shared).context(CheckFailure)
}

fn checked(args: &CheckArgs, shared: &GlobalFlags) -> anyhow::Result<Exit> {
    let show = args.shown.resolved()?;
    let mut references = References::new(shared);
    let (baseline, run) = (references.baseline(&args.against)?, references.load(&args.run)?);
    let mut comparison = args.history.compare(&references, &baseline, &run)?;
    let limits =
        GuardLimits { p99: args.max_p99.0, packet_loss: args.max_packet_loss.0, ..GuardLimits::default() };
    let counts = run.trials.iter().any(|trial| trial.instructions.is_some());
    let usual = if counts { MAX_LOSS_OF_COUNTS } else { MAX_LOSS };
    let gate = analysis::gate(&comparison, args.max_loss.map_or(usual, |share| share.0), limits);
    let outcome = gate.outcome;
    comparison.gate = Some(gate);
    show.write(&comparison)?;
    Ok(match outcome {
        GateOutcome::Passed => Exit::Success,
        GateOutcome::Regressed => Exit::Lost,
        GateOutcome::Undecided => Exit::Inconclusive,
    })
}

fn increase(text: &str) -> Result<Share, String> {
    share(text)
        .filter(|share| share.0 >= 0.0)
        .ok_or_else(|| format!("invalid share `{text}`: use a percentage, e.g. 50% or 200%"))
}

fn share(text: &str) -> Option<Share> {
    let bare = || text.parse().ok().map(Share);
    text.parse().ok().or_else(bare).filter(|share| share.0.is_finite())
}

pub(super) fn loss(text: &str) -> Result<Share, String> {
    share(text)
        .filter(|share| (0.0..1.0).contains(&share.0))
        .ok_or_else(|| format!("invalid share `{text}`: use a percentage from 0 to below 100, e.g. 5%"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_loss_as_percentage_or_fraction() {
        for (text, share) in [("5%", 0.05), ("0.5%", 0.005), ("0.05", 0.05), ("0", 0.0)] {
            assert!(loss(text).is_ok_and(|read| (read.0 - share).abs() < 1e-12), "{text}");
        }
        for text in ["5", "100%", "-5%", "-0.1", "nan", "much", ""] {
            assert!(loss(text).is_err_and(|message| message.contains("5%")), "{text}");
        }
        assert!(increase("200%").is_ok_and(|read| (read.0 - 2.0).abs() < 1e-12));
        assert!(increase("-5%").is_err_and(|message| message.contains("50%")));
    }
}
