//! `plumb check`: whether a run lost against a baseline, for programs that have to decide.

use anyhow::Context;
use clap::Args;
use findings::GateOutcome;
use units::Share;

use super::compare::{History, Rendering};
use crate::{exit::Exit, failure::CheckFailure, global_flags::GlobalFlags, run_reference::References};

/// Flags of `plumb check`.
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct CheckArgs {
    /// The run: its name or the beginning of it, `latest`, `latest:SCENARIO`, or a file
    run: String,
    /// What it is compared with: a baseline's name, or a run named likewise
    #[arg(long, value_name = "BASELINE")]
    against: String,
    /// A loss beyond this share of the baseline fails
    #[arg(long, value_name = "SHARE", default_value = "5%", value_parser = loss, allow_hyphen_values = true)]
    max_loss: Share,
    #[command(flatten)]
    history: History,
    #[command(flatten)]
    shown: Rendering,
}

const EXIT_STATUS: &str = "Exit status: 0 no cell lost more, and that is established; 1 a cell did, and that is established; \
2 neither can be told; 64 usage error; 65 it could not be checked, such as a run that cannot be read.";

/// Checks it.
pub(crate) fn run(args: &CheckArgs, shared: &GlobalFlags) -> anyhow::Result<Exit> {
    // A failure must not look like a loss, nor like one that cannot be told.
    checked(args, shared).context(CheckFailure)
}

fn checked(args: &CheckArgs, shared: &GlobalFlags) -> anyhow::Result<Exit> {
    let show = args.shown.resolved()?;
    let mut held = References::new(shared);
    let (baseline, run) = (held.baseline(&args.against)?, held.load(&args.run)?);
    let contrast = args.history.contrast(&held, &baseline, &run)?;
    let gate = analysis::gate(&contrast, args.max_loss.0);
    show.write(&contrast, Some(&gate))?;
    Ok(match gate.outcome {
        GateOutcome::Passed => Exit::Success,
        GateOutcome::Lost => Exit::Lost,
        GateOutcome::CannotTell => Exit::CannotTell,
    })
}

/// A share as it is typed: `5%`, or `0.05`.
pub(super) fn loss(text: &str) -> Result<Share, String> {
    let bare = || text.parse().ok().filter(|share: &f64| share.is_finite()).map(Share);
    text.parse()
        .ok()
        .or_else(bare)
        .filter(|share| (0.0..1.0).contains(&share.0))
        .ok_or_else(|| format!("`{text}` is no share: write a percentage of 0 or more and below 100, as 5%"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_a_share_in_percent_or_bare() {
        for (text, share) in [("5%", 0.05), ("0.5%", 0.005), ("0.05", 0.05), ("0", 0.0)] {
            assert!(loss(text).is_ok_and(|read| (read.0 - share).abs() < 1e-12), "{text}");
        }
        for text in ["5", "100%", "-5%", "-0.1", "nan", "much", ""] {
            assert!(loss(text).is_err_and(|said| said.contains("5%")), "{text}");
        }
    }
}
